"""Comparing two results in the browser: choose the second, run, and read the evaluations between them."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from experiments.ledger.turn import work
from experiments.models import Case, OutputBody, Run
from tests.browser_fixtures import axe_findings, overflow, sign_in
from tests.experiments.compared import comparative, compared, preference
from tests.experiments.judged import add_case, add_output, experiment_of, judged, rehearsal_of, version_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTHS = (320, 700, 1440)


@pytest.fixture
def two(project):
    """Two results over thirty cases, of which one has a case more."""
    mine, theirs = experiment_of(project, 30, "assistant 2"), experiment_of(project, 30, "assistant 1")
    add_output(theirs, add_case(theirs.dataset_version.dataset, "only-theirs", 31))
    said = "You get a credit for the outage on your next bill"
    OutputBody.objects.filter(output__experiment=mine).update(outputs={"value": f"I am sorry! {said} within a day."})
    OutputBody.objects.filter(output__experiment=theirs).update(outputs={"value": f"{said}."})
    return mine, theirs


@pytest.fixture
def run(project, two):
    told = [1.0, 0.0, 0.5, *[0.75] * 24, "failed: unreachable", "unscored: unparsed", 0.25]
    return compared(*two, preference(project, rehearsal_of(project)), told, flipped=(2, 5))


@pytest.fixture
def visit(page, live_server, alice):
    sign_in(page, live_server, alice)

    def go(address: str):
        page.goto(live_server.url + address)
        return page

    return go


def settle(page, key: str) -> None:
    page.locator("#peek h2", has_text=re.compile(f"^{key}$")).wait_for()


def test_from_one_result_to_the_evaluations_between_two(visit, page, project, two):
    preference(project, rehearsal_of(project))
    comparative(project)
    visit(two[0].get_absolute_url())
    page.get_by_role("link", name="Compare with…").click()
    page.get_by_role("heading", name="Compare assistant 2 with…").wait_for()
    expect(page.get_by_role("row", name=re.compile("assistant 1")).get_by_text("30", exact=True)).to_be_visible()
    page.get_by_role("link", name="assistant 1", exact=True).click()
    page.wait_for_url(f"**{two[0].url_against(two[1].pk)}")
    page.get_by_text("Not compared yet").wait_for()
    page.locator("#add-evaluator > summary").click()
    page.get_by_label("Run over 30 pairs").select_option(label="Preference v1")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("Preference v1 is running.").wait_for()
    work("net")
    page.locator(".pw").get_by_text("30 of 30").first.wait_for()
    page.locator("[data-row] .won").first.wait_for()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    settle(page, page.locator("[data-row] .mono").first.inner_text())
    sides = page.locator("#peek .pair section")
    expect(sides.locator("h3")).to_have_text(["assistant 1", "assistant 2"])
    expect(page.locator("#peek mark.own")).to_have_text(["bill.", "I am sorry!", "bill within a day."])
    page.locator("#peek .exchange summary").click()
    page.get_by_text("Rendered message").first.wait_for()


def test_pairs_are_walked_filtered_and_sorted_by_who_won(visit, page, two, run):
    visit(two[0].url_against(two[1].pk))
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    settle(page, "case-001")
    page.keyboard.press("j")
    settle(page, "case-029")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Flips 2").click()
    page.wait_for_url("**show=flips")
    page.locator(".chip[aria-current=true]", has_text="Flips").wait_for()
    expect(page.locator("[data-row] .mono")).to_have_text(["case-002", "case-005"])
    page.locator("[data-row] a").first.click()
    settle(page, "case-002")
    expect(page.get_by_text("it answered otherwise")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("link", name="All 30").click()
    page.locator(".chip[aria-current=true]", has_text="All").wait_for()
    page.get_by_role("columnheader", name="Preference").get_by_role("link").click()
    page.locator('th[aria-sort="descending"]').wait_for()
    expect(page.locator("[data-row] .mono").first).to_have_text("case-000")


def test_e_leads_from_one_pair_without_a_score_to_the_next(visit, page, two, run):
    visit(two[0].url_against(two[1].pk))
    for key in ("case-027", "case-028", "case-027"):
        page.keyboard.press("e")
        settle(page, key)


def test_the_sides_are_swapped_by_a_link_to_the_mirror(visit, page, two, run):
    visit(two[0].url_against(two[1].pk))
    page.get_by_role("link", name="Swap sides").click()
    page.wait_for_url(f"**{two[1].url_against(two[0].pk)}")
    page.get_by_text("Not compared yet").wait_for()


def test_everything_can_be_read_without_javascript(browser, live_server, alice, two, run):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server, alice)
    page.goto(live_server.url + two[0].url_against(two[1].pk))
    page.locator(".pw-d summary").click()
    expect(page.get_by_text("standard error")).to_be_visible()
    page.get_by_role("link", name="Losses 2").click()
    page.locator("[data-row] a").first.click()
    expect(page.locator("#peek h2")).to_have_text("case-001")
    expect(page.locator("#peek mark.own")).to_have_count(3)
    page.get_by_role("link", name="Next case").click()
    expect(page.locator("#peek h2")).to_have_text("case-029")
    context.close()


def test_on_a_narrow_screen_the_answers_stand_under_one_another(visit, page, two, run):
    page.set_viewport_size({"width": 690, "height": 800})
    visit(f"{two[0].url_against(two[1].pk)}?peek={two[0].output_set.first().pk}")
    one, other = (side.bounding_box() for side in page.locator("#peek .pair section").all())
    assert one["x"] == pytest.approx(other["x"], abs=1)
    assert one["y"] + one["height"] <= other["y"] + 1


def test_a_regression_is_found_and_read_by_the_keyboard_alone(visit, page, project, two):
    facts = version_of(project, "Facts")
    judged(two[1], facts, [0.5] * 31)
    judged(two[0], facts, [0.1 if number in (4, 9) else 0.9 if number == 2 else 0.5 for number in range(30)])
    visit(reverse("experiment-list", args=[project.slug]))
    for name in ("assistant 2", "assistant 1"):
        page.get_by_role("checkbox", name=re.compile(f"Compare {name}")).focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name="Compare ticked").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="assistant 1 against assistant 2").wait_for()
    page.get_by_role("link", name="Swap sides").focus()
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="assistant 2 against assistant 1").wait_for()
    page.get_by_role("link", name="2 regressed by Facts").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**show=regressed**")
    page.locator(".chip[aria-current=true]", has_text="Regressed").wait_for()
    expect(page.locator("[data-row] .mono")).to_have_text(["case-004", "case-009"])
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    settle(page, "case-004")
    page.keyboard.press("d")
    page.locator("#peek ins", has_text="I am sorry!").wait_for()
    expect(page).to_have_url(re.compile("text=inline"))
    page.keyboard.press("j")
    settle(page, "case-009")
    expect(page.locator("#peek .panel-h", has_text="Facts").get_by_text("−40.0 pts")).to_be_visible()
    address = page.url
    page.keyboard.press("Escape")
    page.goto(address)
    settle(page, "case-009")


@pytest.mark.parametrize("width", [1440, 320])
def test_long_names_leave_room_for_the_figures_and_hide_nothing(visit, page, project, width):
    long = [experiment_of(project, 12, f"provider/assistant_{'with_a_long_name_' * 4}{number}") for number in (1, 2, 3)]
    version = version_of(project, "Facts")
    for each in long:
        judged(each, version, [0.5, 1.0] * 6)
    page.set_viewport_size({"width": width, "height": 900})
    for query in ("", f"?also={long[2].pk}"):
        visit(long[0].url_against(long[1].pk) + query)
        table = page.locator("table.cmp")
        cut = "cells => cells.filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.innerText)"
        assert table.locator("th").evaluate_all(cut) == []
        assert table.locator("tbody th").first.evaluate("cell => cell.offsetWidth") <= max(240, 0.4 * width)
        if width == 1440:
            assert table.evaluate("table => table.offsetWidth <= table.parentElement.clientWidth")


def test_charts_are_drawn_and_a_bar_leads_to_its_pairs(visit, page, project, two):
    for name in ("Facts", "Tone"):
        version = version_of(project, name)
        judged(two[1], version, [0.5] * 31)
        judged(two[0], version, [0.1 if number < 3 else 0.5 for number in range(30)])
    visit(two[0].url_against(two[1].pk))
    page.locator(".compare-c > summary").click()
    page.locator("[data-chart][data-drawn]").nth(1).wait_for()
    chart = page.locator("[data-chart]").nth(1)
    chart.locator(".chart-table > summary").click()
    chart.get_by_role("link").first.click()
    page.wait_for_url("**from=**")
    expect(page.locator("[data-row] .mono")).to_have_text(["case-000", "case-001", "case-002"])


@pytest.fixture
def three(project, two):
    third = experiment_of(project, 30, "assistant 3")
    facts = version_of(project, "Facts")
    judged(two[1], facts, [0.5] * 31)
    for number, each in enumerate((two[0], third)):
        judged(each, facts, [(number * 7 + at) % 10 / 10 for at in range(30)])
    return third


def test_on_a_phone_the_gains_stand_beside_their_cases(visit, page, project, two, three):
    for each in two:
        judged(each, version_of(project, "Tone"), [0.5] * each.output_set.count())
    pair = two[0].url_against(two[1].pk)
    page.set_viewport_size({"width": 320, "height": 900})
    visit(pair)
    first = page.locator("[data-row]").first
    expect(first.locator("td:visible")).to_have_count(2)  # by any evaluator: all of them, to be scrolled to
    visit(f"{pair}?by={Run.objects.get(experiment=two[0], version__evaluator__name='Facts').pk}")
    expect(page.locator("thead .is-other:visible")).to_have_count(0)
    expect(first.locator("td:visible")).to_have_text([re.compile(r"−50.0\spts$")])
    visit(f"{pair}?also={three.pk}")
    expect(first.locator("td:visible")).to_have_count(3)


def test_more_than_two_results_pass_axe_and_fit_every_width(visit, page, project, two, three):
    pair, shorter = two[0].url_against(two[1].pk), comparative(project)
    compared(two[0], two[1], shorter, [0.0, 1.0, 1.0] * 10)
    several = f"{pair}?also={three.pk}"
    views = (several, f"{several}&by=all", f"{several}&by={shorter.pk}", f"{pair}?as=texts&text=inline")
    for address in (*views, reverse("compare", args=[project.slug])):
        visit(address)
        page.wait_for_load_state("networkidle")
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 900})
                assert overflow(page) <= 0, f"{address}, {width} px, {theme}"
            assert axe_findings(page) == [], (address, theme)


PAGES = {
    "choice": lambda mine, theirs: reverse("comparison-choice", args=[mine.project.slug, mine.pk]),
    "pair": lambda mine, theirs: mine.url_against(theirs.pk),
    "case": lambda mine, theirs: f"{mine.url_against(theirs.pk)}?peek={mine.output_set.order_by('pk')[2].pk}",
    "mirror": lambda mine, theirs: theirs.url_against(mine.pk),
}


@pytest.mark.parametrize("name", PAGES)
def test_pages_pass_axe_in_both_themes_and_fit_every_width(visit, page, project, two, run, name):
    facts = version_of(project, "Facts")
    judged(two[0], facts, [0.1, 0.9] * 15)
    judged(two[1], facts, [0.5] * 31)
    judged(two[1], version_of(project, "An evaluator that judged only one side"), [0.5] * 31)
    Case.objects.filter(key="case-000").update(key="a-key-without-any-blank-" * 4)
    two[0].system.name = "an assistant with a name that its maker did not keep short " * 2
    two[0].system.save()
    visit(PAGES[name](*two))
    page.wait_for_load_state("networkidle")
    for summary in page.locator(".pw-d summary, .alone summary").all():
        summary.click()
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert overflow(page) <= 0, f"{width} px, {theme}"
        assert axe_findings(page) == [], theme
    page.set_viewport_size({"width": 320, "height": 900})
    assert axe_findings(page) == []
