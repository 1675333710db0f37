"""Adding and testing a connection as a person does it, in a real browser."""

import pytest
from playwright.sync_api import expect

from evalstudio.calls.models import Connection
from tests.browser_fixtures import axe_findings, overflow, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def settings_page(page, live_server, alice, project):
    sign_in(page, live_server, alice)
    page.goto(f"{live_server.url}/p/{project.slug}/settings/connections/")
    return page


def fill(page, **fields):
    for name, value in fields.items():
        page.locator(f"#id_{name}").fill(value)


def test_a_connection_is_tested_corrected_and_saved(settings_page, chat_server):
    page = settings_page
    chat_server.models = ["tiny-1", "large"]
    chat_server.refuses = {"temperature"}
    page.get_by_role("link", name="Add connection").click()
    fill(page, name="My server", base_url=chat_server.url, model="tiny", key="sk-1")
    page.get_by_role("button", name="Test connection").click()
    page.get_by_text("It does not know tiny.").wait_for()
    page.get_by_role("button", name="tiny-1").click()
    expect(page.locator("#id_model")).to_have_value("tiny-1")
    page.get_by_role("button", name="Test connection").click()
    page.get_by_text("Sent without temperature.").wait_for()
    assert axe_findings(page) == []
    page.get_by_role("button", name="Save connection").click()
    page.get_by_text("My server is saved.").wait_for()
    expect(page.get_by_text("without temperature")).to_be_visible()
    connection = Connection.objects.get()
    assert (connection.model, connection.key) == ("tiny-1", "sk-1")


def test_a_form_with_errors_stays_and_says_so(settings_page):
    page = settings_page
    page.get_by_role("link", name="Add connection").click()
    fill(page, name="Nowhere", base_url="ftp://example.org", model="tiny")
    page.get_by_role("button", name="Test connection").click()
    page.get_by_text("Not tested:").wait_for()
    page.get_by_role("button", name="Save connection").click()
    page.locator("#id_base_url_error").wait_for()
    expect(page.locator("#id_name")).to_have_value("Nowhere")


def findings(page):
    """What axe finds, and what sticks out, at every width and in both themes."""
    found = []
    for width in (320, 768, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        found += [f"{width}: {overflow(page)} px too wide"] if overflow(page) else []
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # no colour caught halfway
            found += [f"{width} {theme}: {finding}" for finding in axe_findings(page)]
    return found


def test_axe_finds_nothing_and_nothing_sticks_out(settings_page, project, chat_server):
    page = settings_page
    assert findings(page) == []
    page.get_by_role("button", name="Add the rehearsal").click()
    page.get_by_text("is ready").wait_for()
    connection = Connection.objects.create(
        project=project, name="A server with a long name in the next room", base_url=chat_server.url, model="tiny",
        ceiling=3, usd_per_million_in=0.15, usd_per_million_out=0.6,
    )  # fmt: skip
    page.reload()
    assert findings(page) == []
    page.goto(f"{page.url}{connection.pk}/edit/")
    page.get_by_role("button", name="Test connection").click()
    page.get_by_text("It works.").wait_for()
    assert findings(page) == []
