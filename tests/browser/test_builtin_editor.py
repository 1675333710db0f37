"""A built-in evaluator in the browser: chosen, set up, mapped, tested, mended and saved."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from evaluators.models import Evaluator
from tests.browser_fixtures import axe_findings, overflow, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def editor(page, live_server, alice, project):
    """Open the editor of a new built-in evaluator as alice."""
    sign_in(page, live_server, alice)

    def go(start=""):
        query = f"?start={start}" if start else ""
        page.goto(live_server.url + reverse("evaluator-new", args=[project.slug, "builtin"]) + query)
        return page

    return go


def test_it_is_chosen_mapped_tested_mended_and_saved(editor, project):
    page = editor()
    page.get_by_role("link", name="Contains all").click()
    page.get_by_label("Keywords").fill("refund\n7 days")
    page.get_by_role("tab", name="2 Mapping").click()
    page.locator("#id_input_text").fill("output.answer")
    page.get_by_text("Pasted JSON").click()
    page.locator("#id_pasted_sample + .code-editor .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text('{"outputs": {"answer": "The refund takes a week."}}')
    page.get_by_role("button", name="Run test").click()
    page.get_by_role("button", name="outputs", exact=True).click()
    expect(page.locator("#id_input_text")).to_have_value("outputs.answer")
    page.get_by_role("button", name="Run test").click()
    page.get_by_text("Missing: “7 days”.").wait_for()
    page.get_by_role("button", name="Save as v1").click()
    page.get_by_text("Saved v1 of Contains all.").wait_for()
    config = Evaluator.objects.get(project=project).published_version.config
    assert config["parameters"]["keywords"] == ["refund", "7 days"]
    assert config["mapping"] == {"text": "outputs.answer"}


@pytest.mark.parametrize("start", ["", "json_schema", "pii_leakage", "function_calling", "contains_valid_link"])
@pytest.mark.parametrize("width", [320, 1440])
def test_it_fits_and_is_accessible(editor, start, width):
    page = editor()
    page.set_viewport_size({"width": width, "height": 900})
    page = editor(start)
    assert overflow(page) <= 0
    assert axe_findings(page) == []
    if start:
        page.get_by_role("tab", name="2 Mapping").click()
        assert overflow(page) <= 0
        assert axe_findings(page) == []
