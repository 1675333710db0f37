"""The leaderboards in the browser: by keyboard, shared by address, readable at every width, charts that open cases."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from experiments.models import Case, Output
from tests.browser_fixtures import axe_findings, overflow, sign_in
from tests.experiments.compared import comparative, compared
from tests.experiments.judged import experiment_of, judged, shuffled, version_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTHS = (320, 700, 1440)


@pytest.fixture
def board(project):
    """Three systems, two evaluators, a split and a topic."""
    tone, length = version_of(project, "Tone"), version_of(project, "Length", threshold=None, direction="lower")
    systems = [experiment_of(project, 30, name) for name in ("assistant 1", "assistant 2", "assistant 3, longer name")]
    for number, experiment in enumerate(systems):
        judged(experiment, tone, [max(0.0, score - 0.2 * number) for score in shuffled(30, "tone")])
        judged(experiment, length, shuffled(30, f"length {number}"))
        Output.objects.filter(experiment=experiment).update(cost_usd=0.001 * (number + 1), latency_ms=700)
    for number, case in enumerate(Case.objects.order_by("pk")):
        Case.objects.filter(pk=case.pk).update(
            split="test" if number < 12 else "", metadata={"topic": "billing" if number % 2 else "outage"}
        )
    shorter = comparative(project)
    compared(systems[1], systems[0], shorter, [1.0, 0.5, 0.0] * 10)
    compared(systems[2], systems[0], shorter, [1.0, 1.0, 0.0] * 10)
    return systems


@pytest.fixture
def visit(page, live_server, alice, project):
    sign_in(page, live_server, alice)

    def go(name="leaderboard", query=""):
        page.goto(f"{live_server.url}{reverse(name, args=[project.slug])}{query}")
        return page

    return go


def test_everything_is_reached_by_keyboard_and_stays_in_the_address(visit, page, board):
    visit()
    page.get_by_role("link", name="Length", exact=True).focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"by=\d+"))
    expect(page.locator("th.is-ranked")).to_contain_text("Length")
    page.get_by_role("link", name=re.compile("split test")).focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"by=\d+.*split=test"))
    expect(page.locator(".lb").first).to_contain_text("12 of 12")
    page.locator("summary", has_text="Slice").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name=re.compile("outage")).press("Enter")
    page.wait_for_url(re.compile(r"field=topic&value=outage"))
    page.reload()
    expect(page.locator(".chip[aria-current=true]")).to_have_text("topic outage")
    page.get_by_role("link", name="All cases").press("Enter")
    page.get_by_role("link", name="In pairs").press("Enter")
    page.get_by_role("heading", name="Win rates against assistant 1").wait_for()


def test_cells_open_what_they_count(visit, page, board):
    visit()
    page.get_by_role("link", name=re.compile(r"^\d+ fail$")).first.click()
    page.wait_for_url(re.compile(r"show=below"))
    page.get_by_role("heading", name="assistant 1").wait_for()


def test_cells_of_a_slice_open_its_cases_and_a_key_takes_the_slice_off(visit, page, board):
    visit(query="?field=topic&value=billing")
    page.get_by_role("link", name=re.compile(r"^\d+ fail$")).first.press("Enter")
    page.wait_for_url(re.compile(r"field=topic&value=billing&show=below"))
    all_cases = page.get_by_role("link", name=re.compile("^topic billing ?: show all cases"))
    all_cases.wait_for()
    of_slice = page.locator("[data-row]").count()
    assert axe_findings(page) == []
    all_cases.press("Enter")
    page.wait_for_url(re.compile(r"show=below$"))
    expect(all_cases).to_have_count(0)
    assert page.locator("[data-row]").count() > of_slice > 0


def test_charts_are_drawn_and_have_tables_whose_links_open_cases(visit, page, board):
    visit()
    page.locator("#charts figure").first.wait_for()
    page.locator("#charts figure").last.scroll_into_view_if_needed()
    expect(page.locator("#charts .js-plotly-plot")).to_have_count(2)
    hard = page.locator("figure", has_text="Where systems differ")
    hard.get_by_text("Show as table").press("Enter")
    hard.get_by_role("link").first.press("Enter")
    page.wait_for_url(re.compile(r"peek=\d+"))
    page.locator("#peek h2").first.wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["leaderboard", "leaderboard-pairs", "leaderboard-charts"])
def test_pages_are_accessible_and_fit_every_width(visit, page, board, scheme, name):
    page.emulate_media(color_scheme=scheme)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        visit(name)
        if name != "leaderboard-pairs":
            page.locator("#charts figure").first.wait_for()
        assert overflow(page) == 0
        if width != 700:
            assert axe_findings(page) == []


def test_without_scripts_the_charts_have_a_page(browser, live_server, alice, project, board):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server, alice)
    page.goto(live_server.url + reverse("leaderboard", args=[project.slug]))
    page.get_by_role("link", name=re.compile("^Charts:")).click()
    page.get_by_role("heading", name="Charts of the leaderboard").wait_for()
    page.get_by_text("Show as table").first.click()
    expect(page.get_by_role("link", name="assistant 2").first).to_be_visible()
    context.close()
