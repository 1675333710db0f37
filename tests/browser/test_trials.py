"""The noise floor and what would change, in the browser: started, followed, read, with the keyboard and by everyone."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from evaluators.core import Status
from experiments.analysis.change import Trial
from experiments.analysis.noise import measure
from experiments.ledger.turn import work
from experiments.models import Evaluation, Run
from tests.browser_fixtures import axe_findings, overflow, sign_in
from tests.experiments.conftest import connection  # noqa: F401
from tests.experiments.judged import experiment_of
from tests.experiments.trying import finish, heuristic_version, judge_version, says_at_random

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def experiment(project):
    return experiment_of(project, 40, system="assistant of the second generation")


@pytest.fixture
def visit(page, live_server, alice):
    """Open a page of an evaluator as alice."""
    sign_in(page, live_server, alice)

    def go(name, evaluator, query=""):
        page.goto(live_server.url + reverse(name, args=[evaluator.project.slug, evaluator.pk]) + query)
        return page

    return go


@pytest.fixture
def judge(project, connection, chat_server):  # noqa: F811
    """A judge that wavers, in two versions."""
    chat_server.reply = says_at_random(3)
    judge_version(project, connection)
    return judge_version(project, connection, "Judge strictly {{ outputs.value }}")


def looked_at(page):
    """Trouble at three widths and in both themes."""
    found = []
    page.emulate_media(reduced_motion="reduce")
    for width, themes in ((320, ["light"]), (768, []), (1440, ["light", "dark"])):
        page.set_viewport_size({"width": width, "height": 900})
        if overflow(page) > 0:
            found.append(f"wider than {width}")
        for theme in themes:
            page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
            found += [f"{width} {theme} {finding}" for finding in axe_findings(page)]
    return found


def test_the_noise_floor_is_measured_on_the_spot_and_appears_by_itself(visit, page, experiment, judge):
    visit("evaluator-noise", judge.evaluator)
    page.get_by_label("Outputs", exact=True).fill("10")
    page.get_by_label("Times each").fill("3")
    page.get_by_label("Times each").press("Tab")
    page.get_by_text("Up to 30 judgements, 30 calls").wait_for()
    page.get_by_role("button", name="Measure the noise floor").press("Enter")
    page.get_by_text("is judged 3 times").wait_for()
    finish(Run.objects.get())
    page.get_by_text(re.compile("^± ")).first.wait_for()
    expect(page.get_by_text("30 judgements of 10 outputs")).to_be_visible()
    expect(page.get_by_role("button", name="Measure again")).to_be_visible()


def test_a_wrong_number_is_said_beside_its_field_and_stays(visit, page, experiment, judge):
    visit("evaluator-noise", judge.evaluator)
    page.get_by_label("Times each").fill("50")
    page.get_by_role("button", name="Measure the noise floor").click()
    page.get_by_text("Give a number from 2 to 20.").wait_for()
    expect(page.get_by_label("Times each")).to_have_value("50")


def test_two_versions_are_tried_and_their_reasons_read_with_the_keyboard(visit, page, experiment, judge):
    visit("evaluator-change", judge.evaluator)
    page.get_by_role("button", name="Try both versions").press("Enter")
    page.get_by_text("Under way").wait_for()
    work("net")
    page.get_by_role("heading", name="Verdicts that differ").last.wait_for()
    first = page.locator("details.change > summary").first
    first.focus()
    page.keyboard.press("Enter")
    page.locator(".beside").first.wait_for()
    expect(page.locator(".beside").first.get_by_text(re.compile("^It seems "))).to_have_count(2)
    page.keyboard.press("Enter")
    expect(page.locator(".beside").first).to_be_hidden()


def test_both_work_without_scripts(browser, live_server, alice, experiment, judge):
    page = browser.new_context(java_script_enabled=False).new_page()
    sign_in(page, live_server, alice)
    place = [judge.evaluator.project.slug, judge.evaluator.pk]
    page.goto(live_server.url + reverse("evaluator-change", args=place))
    page.get_by_role("button", name="Try both versions").click()
    work("net")
    page.reload()
    expect(page.get_by_text("verdicts differ").first).to_be_visible()
    page.locator("details.change > summary").first.click()
    page.get_by_role("link", name="Open both reasons").first.click()
    expect(page.get_by_text(re.compile("^It seems "))).to_have_count(2)
    page.goto(live_server.url + reverse("evaluator-noise", args=place))
    page.get_by_role("button", name="Measure the noise floor").click()
    expect(page.get_by_text("is judged 5 times")).to_be_visible()


def test_the_pages_are_fit_for_everyone(visit, page, project, experiment, judge):
    for name in ("evaluator-noise", "evaluator-change"):
        visit(name, judge.evaluator)
        assert (name, looked_at(page)) == (name, [])
    measure(judge, experiment, None, outputs=10, repeats=4)
    visit("evaluator-noise", judge.evaluator)
    assert looked_at(page) == []
    work("net")
    visit("evaluator-noise", judge.evaluator)
    page.locator("details.noise-h > summary").click()
    assert looked_at(page) == []
    runs = Trial(*judge.evaluator.versions.order_by("number"), experiment, 20).start(None)
    visit("evaluator-change", judge.evaluator, "?n=20")
    assert looked_at(page) == []
    for run in runs:
        finish(run)
    lost = Evaluation.objects.filter(run=runs[0])[:2]
    Evaluation.objects.filter(pk__in=[row.pk for row in lost]).update(
        state=Status.UNSCORED, score=None, label_id=None, passed=None, why="unparsed"
    )
    visit("evaluator-change", judge.evaluator, "?n=20")
    page.locator("details.change > summary").first.click()
    page.locator(".beside").first.wait_for()
    assert looked_at(page) == []


def test_long_labels_and_many_columns_stay_on_the_page(visit, page, project, experiment):
    labels = ["Right", "Wrong, and in a way that takes many words to name", *(f"Something else {n}" for n in range(6))]
    options = [{"label": label, "percentage": 100 - 10 * at} for at, label in enumerate(labels)]
    scoring = {"type": "enum", "options": options}
    for shift in (0, 3):
        code = f"return {labels}[(+outputs.value.slice(-2) + {shift} * (outputs.value.slice(-1) > 4)) % 8]"
        version = heuristic_version(project, code, "Many", scoring=scoring)
    for run in Trial(*version.evaluator.versions.order_by("number"), experiment, 50).start(None):
        finish(run)
    visit("evaluator-change", version.evaluator)
    expect(page.locator("table.cross")).to_be_visible()
    assert looked_at(page) == []
