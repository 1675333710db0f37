"""Options, limits and scores from elsewhere in the browser: by keyboard, at every width, in both themes."""

import pytest
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import expect

from evaluators.core import Status
from experiments.ledger.asked import Asked
from experiments.ledger.start import start
from experiments.models import Case, Evaluation, EvaluationBody, Run, RunState, StopReason
from tests.browser.test_trials import looked_at
from tests.experiments.judged import experiment_of, version_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def experiment(project):
    experiment = experiment_of(project, 12, system="assistant of the second generation")
    Case.objects.filter(key__in=["case-001", "case-002"]).update(split="held out")
    return experiment


def test_the_plain_start_is_one_click_and_options_unfold_by_keyboard(visit, page, project, experiment):
    version_of(project, "Facts")
    visit(experiment.get_absolute_url())
    page.locator("#add-evaluator > summary").press("Enter")
    menu = page.locator("#add-evaluator .menu")
    expect(menu.get_by_role("button", name="Run")).to_be_visible()
    expect(menu.get_by_label("Times each")).to_be_hidden()
    menu.get_by_text("Options").press("Enter")
    expect(menu.get_by_label("How many")).to_be_hidden()
    menu.get_by_label("Outputs", exact=True).select_option("random")
    menu.get_by_label("How many").fill("5")
    menu.get_by_label("Seed").fill("3")
    menu.get_by_label("Times each").fill("2")
    assert looked_at(page) == []
    menu.get_by_label("Times each").press("Enter")
    page.get_by_text("Facts v1 is running.").wait_for()
    run = Run.objects.get()
    assert (run.selection, run.repeats) == ({"take": "random", "n": 5, "seed": 3}, 2)


def test_a_wrong_option_is_said_beside_its_field(visit, page, project, experiment):
    version = version_of(project, "Facts")
    visit(reverse("run-start", args=[project.slug, experiment.pk]) + f"?version={version.pk}")
    page.get_by_label("Outputs", exact=True).select_option("first")
    page.get_by_label("Spend at most").fill("2.5")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_text("Say how many outputs to judge.").wait_for()
    expect(page.get_by_label("Spend at most")).to_have_value("2.5")
    assert looked_at(page) == []


def test_a_run_at_its_limit_is_raised_on_its_page(visit, page, project, experiment, alice):
    run = start(version_of(project, "Facts"), experiment, alice, asked=Asked(limit_usd=2))
    Run.objects.update(state=RunState.STOPPED, stop_reason=StopReason.SPEND, spent_usd=2.25)
    visit(reverse("run-list", args=[project.slug]))
    expect(page.get_by_text("It may spend $2.00, and has spent $2.25.")).to_be_visible()
    assert looked_at(page) == []
    visit(run.get_absolute_url())
    page.get_by_role("link", name="Raise the limit").click()
    page.get_by_label("Spend at most").fill("9")
    assert looked_at(page) == []
    page.get_by_role("button", name="Set and go on").click()
    page.get_by_text("It goes on.", exact=True).wait_for()
    run.refresh_from_db()
    assert (run.state, run.limit_usd) == (RunState.ACTIVE, 9.0)


def test_every_judgement_of_an_output_is_read_beside_the_grid(visit, page, project, experiment, alice):
    run = start(version_of(project, "Facts"), experiment, alice, asked=Asked(repeats=3))
    for row in Evaluation.objects.filter(run=run):
        Evaluation.objects.filter(pk=row.pk).update(
            state=Status.SCORED, score=row.repeat / 2, passed=row.repeat > 0, settled_at=timezone.now()
        )
        EvaluationBody.objects.create(evaluation=row, reason=f"It reads so the time number {row.repeat + 1}. " * 4)
    Run.objects.update(state=RunState.FINISHED)
    visit(experiment.get_absolute_url())
    page.get_by_role("link", name="case-003").click()
    page.get_by_text("The mean of 3 judgements.").wait_for()
    expect(page.get_by_text("It reads so the time number 3.")).to_be_visible()
    assert looked_at(page) == []


def test_scores_are_uploaded_and_wrong_rows_are_named(visit, page, project, experiment):
    visit(experiment.get_absolute_url())
    page.locator("#add-evaluator > summary").click()
    page.get_by_role("link", name="Upload scores made elsewhere").click()
    assert looked_at(page) == []
    page.get_by_label("Evaluator", exact=True).fill("Their metric")
    rows = b"case,score,reason\ncase-000,0.5,So\nnobody,1,\ncase-001,7,\n"
    page.locator("input[type=file]").set_input_files({"name": "s.csv", "mimeType": "text/csv", "buffer": rows})
    page.get_by_role("button", name="Send the scores").click()
    page.get_by_text("2 rows are wrong").wait_for()
    expect(page.get_by_text("A score is a number from 0 to 1, not 7.")).to_be_visible()
    assert looked_at(page) == []
    assert Evaluation.objects.filter(state=Status.SCORED).count() == 1
