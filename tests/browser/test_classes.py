"""The page of classes in the browser: the slider by keyboard and without scripts, charts that follow, every width."""

import os

import pytest
from playwright.sync_api import expect

from tests.browser_fixtures import axe_findings, overflow, sign_in
from tests.experiments.scored_labels import drawn, scored

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LABELS = ("billing", "contract", "a long label that somebody gave to it")


@pytest.fixture
def run(project):
    return scored(project, drawn(90, LABELS))


@pytest.fixture
def other(project, run):
    return scored(project, drawn(90, LABELS, seed=2, skill=0.1), system="assistant 2 with a longer name")


@pytest.fixture
def visit(page, live_server, alice):
    """Open the classes of a run as alice."""
    sign_in(page, live_server, alice)

    def go(run, query: str = ""):
        page.goto(f"{live_server.url}{run.get_absolute_url()}classes/{query}")
        return page

    return go


def test_the_slider_moves_matrix_figures_curves_and_address_by_keyboard(visit, run):
    page = visit(run)
    slider = page.get_by_role("slider", name="Threshold")
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**at=0.51*")
    page.get_by_role("columnheader", name="(below the threshold)").wait_for()
    expect(page.locator("output")).to_have_text("0.51")
    assert slider.evaluate("slider => slider === document.activeElement")
    page.keyboard.press("End")
    page.wait_for_url("**at=1*")
    page.get_by_text("The dot is threshold 1.").wait_for()
    page.keyboard.press("PageDown")
    page.wait_for_url("**at=0.9*")
    page.reload()
    expect(slider).to_have_value("0.9")
    page.get_by_role("link", name="As read").click()
    page.get_by_text("Labels stand as the evaluator read them.").wait_for()
    expect(slider).to_have_value("0.5")


def test_charts_are_drawn_and_their_dot_follows_the_slider(visit, run):
    page = visit(run)
    charts = page.locator("[data-chart]")
    charts.first.scroll_into_view_if_needed()
    page.locator("[data-chart][data-drawn]").nth(2).wait_for()
    place = "chart => chart.querySelector('.chart-plot').data.at(-1).x[0]"
    before = charts.first.evaluate(place)
    page.get_by_role("slider", name="Threshold").focus()
    for _ in range(5):
        page.keyboard.press("PageDown")
    page.wait_for_url("**at=0*")
    page.wait_for_function(
        "before => document.querySelector('[data-chart] .chart-plot').data.at(-1).x[0] !== before", arg=before
    )
    assert charts.first.evaluate(place) == 1  # from 0 on everything is called, so nothing is missed
    expect(charts.nth(2).locator(".js-plotly-plot")).to_have_count(1)


def test_it_works_without_scripts(browser, live_server, alice, run):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server, alice)
    page.goto(f"{live_server.url}{run.get_absolute_url()}classes/")
    page.get_by_role("slider", name="Threshold").focus()
    page.keyboard.press("Home")
    page.get_by_role("button", name="Set").click()
    page.wait_for_url("**at=0*")
    page.get_by_label("Label", exact=True).select_option("contract")
    page.get_by_role("button", name="Show").click()
    page.get_by_role("heading", name="contract against the rest").wait_for()
    page.get_by_text("Show as table").first.wait_for()
    context.close()


def test_a_cell_opens_its_cases_and_a_case_its_answer(visit, run):
    page = visit(run, "?at=0.4")
    page.locator(".cm .diag a").first.click()
    page.locator("#cases").wait_for()
    page.locator("#cases tbody a").first.click()
    page.wait_for_url("**peek=*")


def test_two_results_are_put_beside_each_other(visit, run, other):
    page = visit(run)
    page.get_by_label("Baseline").select_option(index=1)
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("heading", name="What assistant 1").wait_for()
    expect(page.locator(".verdict.is-better")).not_to_have_count(0)


@pytest.mark.parametrize("width", [320, 768, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible_and_fits(visit, run, other, width, scheme):
    page = visit(run, f"?at=0.45&bucket=fp&of=contract&beside={other.pk}")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.locator("[data-chart]").first.scroll_into_view_if_needed()
    page.locator("[data-chart][data-drawn]").first.wait_for()
    assert overflow(page) <= 0
    assert axe_findings(page) == []
    if folder := os.environ.get("SHOTS"):
        page.screenshot(path=f"{folder}/classes-{width}-{scheme}.png", full_page=True)
