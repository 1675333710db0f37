"""Runs that people score: rows await them, no worker is called, no page polls, and every verb fits."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone
from django_q.models import OrmQ

from evaluators.core import Status
from evaluators.models import Evaluator
from experiments.ledger import verbs
from experiments.ledger.blocked import why_not_yet, why_row_waits
from experiments.ledger.finish import finish_run
from experiments.ledger.progress import progress
from experiments.ledger.start import start
from experiments.ledger.sweep import sweep
from experiments.models import Evaluation, Run, RunState, Slice
from tests.experiments.judged import experiment_of

pytestmark = pytest.mark.django_db

GRADES = {
    "instructions": "Read as the **customer**.",
    "scoring": {
        "type": "enum",
        "options": [
            {"label": "Solved", "percentage": 100.0, "description": ""},
            {"label": "Not solved", "percentage": 0.0, "description": ""},
        ],
    },
    "scale": None,
    "threshold": 0.5,
    "direction": "higher",
    "runs_on": "result",
}


def human_version(project, **more):
    evaluator = Evaluator.objects.get_or_create(project=project, name="Resolved", kind="human")[0]
    return evaluator.revise(GRADES | more, schema=1, author=None)


@pytest.fixture
def experiment(project):
    return experiment_of(project, 5)


@pytest.fixture
def run(project, experiment, alice):
    return start(human_version(project), experiment, alice)


def grade(run, n, score=1.0):
    """Settle some rows as grading will."""
    ids = list(Evaluation.objects.filter(run=run, state=Status.AWAITING).values_list("pk", flat=True)[:n])
    Evaluation.objects.filter(pk__in=ids).update(
        state=Status.SCORED, score=score, passed=score >= 0.5, settled_at=timezone.now()
    )
    Run.objects.filter(pk=run.pk).update(revision=run.revision + 1)
    run.refresh_from_db()


def text_of(response) -> str:
    return re.sub(r"\s+", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))


def body_of(client, name, *args):
    response = client.get(reverse(name, args=args), headers={"HX-Request": "true"})
    assert response.status_code == 200
    return text_of(response)


# --- The ledger -------------------------------------------------------------------------------------------------------
def test_every_row_awaits_people_and_no_worker_is_called(run, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        sweep()
    run.refresh_from_db()
    assert (run.state, run.lane) == (RunState.ACTIVE, "people")
    assert set(Evaluation.objects.values_list("state", flat=True)) == {Status.AWAITING}
    assert not Slice.objects.exists()
    assert not OrmQ.objects.exists()


def test_it_is_said_of_the_run_and_of_each_row_what_they_wait_for(run):
    assert [(group.rows, group.why) for group in why_not_yet(run)] == [(5, "A person has to grade them.")]
    assert why_row_waits(Evaluation.objects.first()).why == "A person has to grade it."


def test_progress_is_over_for_machines_as_long_as_rows_await_people(run):
    now = progress(run)
    assert (now.awaiting, now.pending, now.awaits, now.is_over) == (5, 0, True, True)


def test_it_has_finished_when_the_last_row_is_graded(run):
    grade(run, 4)
    assert not finish_run(run.pk)
    grade(run, 1)
    assert finish_run(run.pk)
    run.refresh_from_db()
    assert not progress(run).awaits


def test_it_can_be_stopped_and_resumed_and_the_grades_stay(run, django_capture_on_commit_callbacks):
    grade(run, 2)
    verbs.stop(run)
    assert run.state == RunState.STOPPED
    stopped = "The run was stopped. It goes on when it is resumed."
    assert [(group.rows, group.why) for group in why_not_yet(run)] == [(3, stopped)]
    with django_capture_on_commit_callbacks(execute=True):
        verbs.resume(run)
    assert (run.state, progress(run).scored, progress(run).awaiting) == (RunState.ACTIVE, 2, 3)
    assert not OrmQ.objects.exists()


def test_a_retried_row_awaits_people_again(run, django_capture_on_commit_callbacks):
    grade(run, 4)
    Evaluation.objects.filter(state=Status.AWAITING).update(
        state=Status.UNSCORED, why="refused", settled_at=timezone.now()
    )
    finish_run(run.pk)
    with django_capture_on_commit_callbacks(execute=True):
        assert verbs.retry(run) == 1
    assert (run.state, progress(run).awaiting, progress(run).pending) == (RunState.ACTIVE, 1, 0)
    assert not OrmQ.objects.exists()
    assert not Slice.objects.exists()


def test_it_has_rows_for_outputs_that_came_later(run, experiment, project):
    before = run.pk
    grade(run, 5)
    finish_run(run.pk)
    from tests.experiments.judged import add_case, add_output

    add_output(experiment, add_case(experiment.dataset_version.dataset, "case-late", 99))
    again = start(run.version, experiment)
    assert (again.pk, again.state, progress(again).awaiting) == (before, RunState.ACTIVE, 1)


def test_pairs_await_people_too(project, experiment):
    other = experiment_of(project, 5, "assistant 2")
    run = start(human_version(project, runs_on="comparison"), other, baseline=experiment)
    assert Evaluation.objects.filter(run=run, state=Status.AWAITING, baseline_output__isnull=False).count() == 5


# --- The pages --------------------------------------------------------------------------------------------------------
def test_its_page_says_that_it_awaits_people_and_does_not_poll(as_alice, project, run):
    page = body_of(as_alice, "run-page", project.slug, run.pk)
    assert "Awaits people" in page
    assert "5 to grade" in page
    assert "A person has to grade them." in page
    assert "is judging" not in page
    assert 'hx-trigger="every' not in page
    assert "beat" not in page


@pytest.mark.parametrize("name", ["home-results", "run-list"])
def test_no_list_polls_because_of_it(as_alice, project, run, name):
    page = body_of(as_alice, name, project.slug)
    assert "5 to grade" in page
    assert 'hx-trigger="every' not in page


def test_the_results_do_not_poll_because_of_it(as_alice, project, run, experiment):
    page = text_of(as_alice.get(experiment.get_absolute_url()))
    assert "awaits people" in page
    assert re.search(r'id="columns"[^>]*hx-trigger="every', page) is None
    columns = body_of(as_alice, "experiment-columns", project.slug, experiment.pk)
    assert 'hx-trigger="every' not in columns


def test_the_panel_of_its_evaluator_does_not_poll(as_alice, project, run):
    assert 'hx-trigger="every' not in body_of(as_alice, "evaluator-runs", project.slug, run.version.evaluator_id)


def test_it_does_not_count_as_running(as_alice, project, run):
    assert "running" not in body_of(as_alice, "running-badge", project.slug)
    assert Run.objects.filter(pk=run.pk).exists()


def test_a_run_that_machines_score_still_polls(as_alice, project, experiment):
    from tests.experiments.judged import version_of

    start(version_of(project, "Facts"), experiment)
    assert 'hx-trigger="every' in body_of(as_alice, "home-results", project.slug)
    assert "1 running" in body_of(as_alice, "running-badge", project.slug)


def test_a_message_says_that_people_are_waited_for(as_alice, project, experiment):
    version = human_version(project)
    address = reverse("run-start", args=[project.slug, experiment.pk])
    assert "Resolved v1 awaits people." in text_of(as_alice.post(address, {"version": version.pk}, follow=True))
    run = Run.objects.get()
    for verb, said in (("stop", "nobody is asked to grade it"), ("resume", "It awaits people again.")):
        response = as_alice.post(reverse(f"run-{verb}", args=[project.slug, run.pk]), follow=True)
        assert said in text_of(response)


def test_its_summary_is_kept_until_somebody_grades(as_alice, project, run):
    as_alice.get(reverse("run-page", args=[project.slug, run.pk]))
    run.refresh_from_db()
    assert run.summary_revision == run.revision
    grade(run, 1)
    assert "1 of 5" in text_of(as_alice.get(reverse("run-page", args=[project.slug, run.pk])))


def test_it_can_be_cut_off_while_its_rows_are_written_and_the_sweep_completes_it(run):
    Run.objects.filter(pk=run.pk).update(state=RunState.PREPARING)
    Evaluation.objects.filter(run=run).order_by("-pk").first().delete()
    Run.objects.filter(pk=run.pk).update(created_at=timezone.now() - timezone.timedelta(minutes=1))
    sweep()
    run.refresh_from_db()
    assert (run.state, progress(run).awaiting) == (RunState.ACTIVE, 5)
