"""Reading results in the browser: the grid, one case beside it, keys, live progress, small screens, no JavaScript."""

import re

import pytest
from django.db.models import F
from django.urls import reverse
from playwright.sync_api import expect

from evaluators.core import Status
from evaluators.models import Evaluator
from experiments.ledger.start import start
from experiments.ledger.turn import work
from experiments.models import Evaluation, EvaluationBody, OutputBody, Run, RunState
from tests.browser_fixtures import axe_findings, overflow, sign_in
from tests.experiments.judged import experiment_of, judged, rehearsal_of, shuffled, version_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTHS = (320, 768, 1440)


@pytest.fixture
def experiment(project):
    return experiment_of(project, 40)


@pytest.fixture
def run(project, experiment):
    """Forty rows: the worst comes first, two have no score; every output has a step and a tool call."""
    told = [0.9, 0.1, *shuffled(36, "x"), "failed: time limit", "unscored: unparsed"]
    told = [max(score, 0.2) if isinstance(score, float) and at > 1 else score for at, score in enumerate(told)]
    run = judged(experiment, version_of(project, "Facts"), told, connection=rehearsal_of(project))
    EvaluationBody.objects.bulk_create(
        EvaluationBody(evaluation=row, reason="It names the date. " * 8, logs=["12 words"])
        for row in Evaluation.objects.filter(run=run)
    )
    calls = [{"name": "get_ride", "arguments": {"ride": "R-7"}}]
    OutputBody.objects.update(
        outputs={"value": "A long answer. " * 30, "toolCalls": calls},
        steps=[{"name": "search", "input": {"query": "refund"}, "latency_ms": 310}],
    )
    judged(experiment, version_of(project, "Tone of voice"), shuffled(40, "tone"))
    return run


@pytest.fixture
def visit(page, live_server, alice):
    """Open an address as alice."""
    sign_in(page, live_server, alice)

    def go(address: str):
        page.goto(live_server.url + address)
        return page

    return go


def shown(page) -> str:
    """The key of the case that the panel shows."""
    return page.locator("#peek h2").inner_text()


def settle(page, key: str) -> None:
    page.locator("#peek h2", has_text=re.compile(f"^{key}$")).wait_for()


def test_a_case_opens_beside_the_list_and_the_keys_walk_it(visit, page, experiment, run):
    visit(experiment.get_absolute_url())
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    settle(page, "case-001")
    expect(page).to_have_url(re.compile(r"\?peek=\d+$"))
    expect(page.locator("tr.is-open .mono")).to_have_text("case-001")
    second = page.locator("[data-row] .mono").nth(1).inner_text()
    page.keyboard.press("j")
    settle(page, second)
    expect(page.locator("tr.is-open .mono")).to_have_text(second)
    page.keyboard.press("k")
    settle(page, "case-001")
    page.keyboard.press("Escape")
    page.locator("#peek").wait_for(state="hidden")
    expect(page).not_to_have_url(re.compile("peek"))
    assert page.evaluate("document.activeElement.innerText").startswith("case-001")


def test_the_row_of_the_open_case_is_marked_though_the_list_comes_anew_on_the_way_there(
    interception, visit, page, experiment, run
):
    visit(experiment.get_absolute_url())
    first, second = page.locator("[data-row] .mono").all_inner_texts()[:2]
    page.get_by_text(first, exact=True).click()
    settle(page, first)
    held = []
    page.route("**/*", lambda route: held.append(route))  # what the panel loads in its turn as well
    with page.expect_request(re.compile(r"/peek/")):
        page.keyboard.press("j")
    page.evaluate(
        "document.dispatchEvent(new CustomEvent('htmx:after:swap', {detail: {ctx: {target: document.body}}}))"
    )
    expect(page.locator("tr.is-open .mono")).to_have_text(first)
    next(route for route in held if "/peek/" in route.request.url).continue_()
    settle(page, second)
    expect(page.locator("tr.is-open .mono")).to_have_text(second)


def test_the_arrows_of_the_panel_follow_the_order_of_the_list_and_the_row_goes_along(visit, page, experiment, run):
    visit(f"{experiment.get_absolute_url()}?by={run.pk}&sort=high")
    keys = page.locator("[data-row] .mono").all_inner_texts()
    page.get_by_text(keys[0], exact=True).click()
    settle(page, keys[0])
    for key in keys[1:4]:
        page.get_by_role("link", name="Next case").click()
        settle(page, key)
        expect(page.locator("tr.is-open .mono")).to_have_text(key)
    expect(page.locator(".peek-h")).to_contain_text("4 of 40")
    page.get_by_role("link", name="Previous case").click()
    settle(page, keys[2])


def test_e_leads_from_one_case_without_a_score_to_the_next(visit, page, experiment, run):
    visit(experiment.get_absolute_url())
    for key in ("case-038", "case-039", "case-038"):
        page.keyboard.press("e")
        settle(page, key)
    expect(page.locator("#peek .state", has_text="time limit")).to_have_count(1)


def test_tool_calls_take_the_place_of_the_output_on_demand(visit, page, experiment, run):
    visit(f"{experiment.get_absolute_url()}?peek={experiment.output_set.first().pk}")
    actual = page.locator(".pair > section").first
    expect(actual.get_by_text("A long answer.")).to_be_visible()
    expect(actual.get_by_text("R-7")).to_be_hidden()
    actual.get_by_text("Tool calls").click()
    expect(actual.get_by_text("R-7")).to_be_visible()
    expect(actual.get_by_text("A long answer.")).to_be_hidden()


def test_message_and_reply_are_fetched_when_they_are_opened(visit, page, project, alice):
    experiment = experiment_of(project, 1)
    evaluator = Evaluator.objects.create(project=project, name="Right answer", kind="judge")
    config = {
        "prompt": "Is this right? {{ outputs.value }}",
        "guide": "",
        "connection_id": rehearsal_of(project).pk,
        "model": "rehearsal",
        "scoring": {"type": "percentage"},
        "threshold": None,
        "direction": "higher",
        "temperature": 0.0,
        "max_tokens": 64,
        "seed": None,
    }
    start(evaluator.revise(config, schema=1, author=alice), experiment, alice)
    work("net")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "exchange" in request.url else None)
    visit(f"{experiment.get_absolute_url()}?peek={experiment.output_set.get().pk}")
    assert asked == []
    opener = page.locator(".exchange summary")
    opener.click()
    page.get_by_text("Rendered message").wait_for()
    expect(page.locator(".part.o-output code")).to_have_text("outputs.value")
    expect(page.get_by_role("region", name="Raw reply 1")).to_be_visible()
    opener.click()
    opener.click()
    page.wait_for_timeout(200)
    assert len(asked) == 1


def test_a_filter_changes_the_rows_in_place_and_back_brings_them_back(visit, page, experiment, run):
    visit(experiment.get_absolute_url())
    page.evaluate("window.same = true")
    page.get_by_role("link", name="Failed 1").click()
    page.wait_for_url("**show=failed")
    page.locator(".chip[aria-current=true]", has_text="Failed").wait_for()
    expect(page.locator("[data-row] .mono")).to_have_text(["case-038"])
    assert page.evaluate("window.same") is True
    page.go_back()
    page.locator(".chip[aria-current=true]", has_text="All").wait_for()
    expect(page.locator("[data-row]")).to_have_count(25)


def test_the_head_of_a_column_sorts_and_turns_the_order(visit, page, experiment, run):
    visit(experiment.get_absolute_url())
    head = page.get_by_role("columnheader", name="Tone of voice")
    for expected in ("ascending", "descending", "ascending"):
        head.get_by_role("link").click()
        page.locator(f'th[aria-sort="{expected}"]', has_text="Tone").wait_for()


def test_the_next_page_shows_other_cases_and_the_panel_still_finds_its_row(visit, page, experiment, run):
    visit(experiment.get_absolute_url())
    first = page.locator("[data-row] .mono").all_inner_texts()
    page.get_by_role("link", name="Next", exact=True).click()
    page.wait_for_url("**after=*")
    page.get_by_role("link", name="Previous", exact=True).wait_for()
    second = page.locator("[data-row] .mono").all_inner_texts()
    assert len(second) == 15
    assert not set(first) & set(second)
    page.get_by_text(second[0], exact=True).click()
    settle(page, second[0])
    page.get_by_role("link", name="Next case").click()
    settle(page, second[1])
    expect(page.locator("tr.is-open .mono")).to_have_text(second[1])
    expect(page).to_have_url(re.compile("after="))


def test_slash_finds_a_case_by_its_key(visit, page, experiment, run):
    visit(experiment.get_absolute_url())
    page.keyboard.press("/")
    page.keyboard.insert_text("017")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=017*")
    expect(page.locator("[data-row] .mono")).to_have_text(["case-017"])


def test_progress_shows_itself_and_polling_stops_when_the_run_has_settled(visit, page, project):
    experiment = experiment_of(project, 4)
    run = judged(
        experiment, version_of(project, "Facts"), [0.5, "pending", "pending", "pending"], state=RunState.ACTIVE
    )
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/columns/" in request.url else None)
    visit(experiment.get_absolute_url())
    page.get_by_text("3 pending", exact=True).wait_for()
    expect(page.locator("[data-row] .state-pending")).to_have_count(3)
    page.locator("[data-row] a").first.click()
    settle(page, "case-000")
    now = Evaluation.objects.filter(run=run).exclude(settled_at=None).get().settled_at
    Evaluation.objects.filter(run=run, state=Status.PENDING).update(
        state=Status.SCORED, score=1.0, passed=True, settled_at=now
    )
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED, finished_at=now, revision=F("revision") + 1)
    page.get_by_text("4 of 4").wait_for()
    page.locator("[data-row] .state-pending").first.wait_for(state="detached")  # the grid came up to date as well
    expect(page.locator("tr.is-open .mono")).to_have_text("case-000")

    def rests() -> bool:
        count = len(asked)
        page.wait_for_timeout(2500)
        return len(asked) == count

    assert any(rests() for _ in range(3))  # a poll that was on its way may still have come


def test_a_run_is_started_stopped_and_resumed_where_its_results_are(visit, page, project, experiment):
    version_of(project, "Facts")
    visit(experiment.get_absolute_url())
    page.locator("#add-evaluator > summary").click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("Facts v1 is running.").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Resume").click()
    page.get_by_role("button", name="Stop").wait_for()
    page.get_by_role("link", name=re.compile("Why are 40 pending")).click()
    page.wait_for_url("**/runs/*/#why")
    expect(page.get_by_text("40 rows")).to_be_visible()


def test_on_a_phone_the_case_covers_the_page_and_nothing_behind_it_takes_the_focus(visit, page, experiment, run):
    page.set_viewport_size({"width": 320, "height": 640})
    visit(experiment.get_absolute_url())
    page.locator("[data-row] a").first.click()
    settle(page, "case-001")
    assert round(page.locator("#peek").bounding_box()["width"]) == 320
    assert page.evaluate("document.querySelector('.page').inert") is True
    page.get_by_role("link", name="Close, Escape").click()
    assert page.evaluate("document.querySelector('.page').inert") is False


def test_on_a_phone_the_grid_shows_the_chosen_column_and_the_strip_chooses(visit, page, experiment, run):
    page.set_viewport_size({"width": 320, "height": 640})
    visit(experiment.get_absolute_url())
    heads = page.locator("thead th:visible")
    assert [text.split() for text in heads.all_inner_texts()] == [["Case"], ["Facts"]]
    page.locator(".strip").get_by_role("link", name="Tone of voice", exact=True).click()
    page.wait_for_url("**by=*")
    page.locator("thead th:visible", has_text="Tone of voice").wait_for()
    expect(heads).to_have_count(2)


def test_everything_can_be_read_without_javascript(browser, live_server, alice, experiment, run):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server, alice)
    page.goto(live_server.url + experiment.get_absolute_url())
    page.get_by_role("link", name="Failed 1").click()
    page.locator("[data-row] a").first.click()
    assert shown(page) == "case-038"
    page.locator(".pair").get_by_text("Tool calls").first.click()
    expect(page.get_by_text("R-7").first).to_be_visible()
    page.get_by_role("link", name="Metrics").click()
    expect(page.get_by_role("region", name="Metrics of this case")).to_be_visible()
    page.get_by_role("link", name="Close, Escape").click()
    expect(page.locator("#peek")).to_be_hidden()
    page.get_by_label("Find cases by key").fill("004")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=004*")
    context.close()


PAGES = {
    "grid": lambda experiment, run: experiment.get_absolute_url(),
    "case": lambda experiment, run: f"{experiment.get_absolute_url()}?peek={experiment.output_set.first().pk}",
    "metrics": lambda experiment, run: (
        f"{experiment.get_absolute_url()}?peek={experiment.output_set.last().pk}&tab=metrics"
    ),
    "experiments": lambda experiment, run: reverse("experiment-list", args=[experiment.project.slug]),
    "runs": lambda experiment, run: reverse("run-list", args=[experiment.project.slug]),
    "run": lambda experiment, run: run.get_absolute_url(),
    "home": lambda experiment, run: reverse("project-home", args=[experiment.project.slug]),
    "exchange": lambda experiment, run: reverse(
        "evaluation-exchange", args=[experiment.project.slug, Evaluation.objects.filter(run=run).first().pk]
    ),
}


@pytest.mark.parametrize("name", PAGES)
def test_pages_pass_axe_in_both_themes_and_fit_every_width(visit, page, project, experiment, run, name):
    judged(
        experiment_of(project, 40, "another system with a long name"),
        run.version,
        ["pending"] * 40,
        state=RunState.ACTIVE,
    )
    visit(PAGES[name](experiment, run))
    page.wait_for_load_state("networkidle")
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert overflow(page) <= 0, f"{width} px, {theme}"
        assert axe_findings(page) == [], theme
    page.set_viewport_size({"width": 320, "height": 900})
    assert axe_findings(page) == []


def test_an_empty_project_passes_axe_and_fits_every_width(visit, page, project):
    visit(reverse("project-home", args=[project.slug]))
    page.get_by_text("Bring test cases first").wait_for()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert overflow(page) <= 0
        assert axe_findings(page) == []
