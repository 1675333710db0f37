"""Runs on pages: start, watch, stop, resume, retry, and why something has not run."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from evalstudio.projects.models import AuditEntry, Membership, Role
from evaluators.core import Status
from experiments.models import Evaluation, Run, RunLabel, RunState
from tests.experiments.judged import experiment_of, judged, rehearsal_of, version_of

pytestmark = pytest.mark.django_db


def text_of(response) -> str:
    return re.sub(r"\s+", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))


@pytest.fixture
def experiment(project):
    return experiment_of(project, 4)


@pytest.fixture
def started(as_alice, project, experiment):
    version = version_of(project, "Facts")
    as_alice.post(reverse("run-start", args=[project.slug, experiment.pk]), {"version": version.pk})
    return Run.objects.get()


def verb(client, run, name, **more):
    return client.post(reverse(f"run-{name}", args=[run.experiment.project.slug, run.pk]), more, follow=True)


# --- Verbs ------------------------------------------------------------------------------------------------------------
def test_a_run_is_started_with_a_row_for_every_output(as_alice, experiment, started):
    assert Evaluation.objects.filter(run=started, state=Status.PENDING).count() == 4
    assert started.state == RunState.ACTIVE
    assert started.started_by.username == "alice"
    entry = AuditEntry.objects.get()
    assert (entry.act, entry.subject) == ("ran", "Facts v1 on assistant 1")


def test_an_editor_may_run(client, project, experiment, bob):
    Membership.objects.filter(user=bob).update(role=Role.EDITOR)
    client.force_login(bob)
    version = version_of(project, "Facts")
    client.post(reverse("run-start", args=[project.slug, experiment.pk]), {"version": version.pk})
    assert Run.objects.get().started_by == bob


@pytest.mark.parametrize("wanted", ["", "x", "999999", "-1"])
def test_an_unknown_version_is_not_found(as_alice, project, experiment, wanted):
    response = as_alice.post(reverse("run-start", args=[project.slug, experiment.pk]), {"version": wanted})
    assert response.status_code == 404


def test_what_cannot_start_says_why(as_alice, project, experiment):
    connection = rehearsal_of(project)
    connection.archived_at = timezone.now()
    connection.save()
    version = judge_version(project, connection)
    response = as_alice.post(
        reverse("run-start", args=[project.slug, experiment.pk]), {"version": version.pk}, follow=True
    )
    assert "The connection “Rehearsal” is archived." in text_of(response)
    assert not AuditEntry.objects.exists()


def judge_version(project, connection):
    from evaluators.models import Evaluator

    config = {
        "prompt": "{{ outputs.value }}",
        "guide": "",
        "connection_id": connection.pk,
        "model": "rehearsal",
        "scoring": {"type": "percentage"},
        "threshold": None,
        "direction": "higher",
        "temperature": 0.0,
        "max_tokens": 64,
        "seed": None,
    }
    evaluator = Evaluator.objects.create(project=project, name="Judge", kind="judge")
    return evaluator.revise(config, schema=1, author=None)


def test_a_run_stops_resumes_and_says_so(as_alice, started):
    assert "Resume" in text_of(verb(as_alice, started, "stop"))
    assert Run.objects.get().state == RunState.STOPPED
    assert "Stop" in text_of(verb(as_alice, started, "resume"))
    assert Run.objects.get().state == RunState.ACTIVE
    assert list(AuditEntry.objects.order_by("pk").values_list("act", flat=True)) == ["ran", "stopped", "resumed"]


def test_a_retry_asks_again_for_everything_without_a_score(as_alice, project, experiment):
    run = judged(experiment, version_of(project, "Facts"), [0.5, "unscored: unparsed", "failed: time limit", 1.0])
    page = as_alice.get(run.get_absolute_url())
    assert "Retry 2 without a score" in text_of(page)
    verb(as_alice, run, "retry")
    assert Evaluation.objects.filter(run=run, state=Status.PENDING).count() == 2


def test_a_verb_leads_back_to_where_it_was_pressed(as_alice, started, experiment):
    response = verb(as_alice, started, "stop", next=experiment.get_absolute_url())
    assert response.redirect_chain == [(experiment.get_absolute_url(), 302)]


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""])
def test_a_verb_leads_nowhere_else(as_alice, started, elsewhere):
    response = verb(as_alice, started, "stop", next=elsewhere)
    assert response.redirect_chain == [(started.get_absolute_url(), 302)]


# --- The page of a run ------------------------------------------------------------------------------------------------
def test_a_run_says_why_rows_wait(as_alice, started):
    verb(as_alice, started, "stop")
    said = text_of(as_alice.get(started.get_absolute_url()))
    assert "The run was stopped. It goes on when it is resumed." in said
    assert "<b>4</b> rows" in said


def test_a_run_under_way_asks_again_and_a_stopped_one_rests(as_alice, started):
    assert "every 2s" in text_of(as_alice.get(started.get_absolute_url()))
    verb(as_alice, started, "stop")
    assert "every 2s" not in text_of(as_alice.get(started.get_absolute_url()))


def test_the_fragment_of_a_run_is_not_a_whole_page(as_alice, started):
    said = text_of(as_alice.get(started.get_absolute_url(), headers={"HX-Request": "true"}))
    assert said.lstrip().startswith('<div id="run"')
    assert "<html" not in said


def test_a_settled_run_shows_its_figure_its_verdicts_and_what_got_no_score(as_alice, project, experiment):
    run = judged(
        experiment,
        version_of(project, "Facts"),
        [0.0, 1.0, 1.0, "unscored: unparsed"],
        connection=rehearsal_of(project),
    )
    RunLabel.objects.create(run=run, label_id=1, label="Right")
    Evaluation.objects.filter(run=run, score=1.0).update(label_id=1)
    said = text_of(as_alice.get(run.get_absolute_url()))
    for words in (
        "66.7 %",
        "Wilson score interval",
        "Right",
        "unparsed",
        "3 of 4",
        "Every row is settled",
        "rehearsal",
    ):
        assert words in said
    assert f"?by={run.pk}&amp;show=unscored" in said


def test_another_project_s_run_is_not_found(as_alice, project, started):
    assert as_alice.get(reverse("run-page", args=[project.slug, started.pk + 1])).status_code == 404


# --- Lists ------------------------------------------------------------------------------------------------------------
def test_the_list_can_show_only_what_runs(as_alice, project, experiment, started):
    judged(experiment, version_of(project, "Tone"), [0.5] * 4)
    url = reverse("run-list", args=[project.slug])
    said = text_of(as_alice.get(url))
    assert "All <b>2</b>" in said
    assert "Running <b>1</b>" in said
    assert "Finished <b>1</b>" in said
    assert "Stopped <b>" not in said
    only = text_of(as_alice.get(url, {"show": "running"}))
    assert "Facts" in only
    assert "Tone" not in only


def test_the_list_can_show_one_evaluator(as_alice, project, experiment):
    facts = judged(experiment, version_of(project, "Facts"), [0.5] * 4)
    judged(experiment, version_of(project, "Tone"), [0.5] * 4)
    said = text_of(as_alice.get(reverse("run-list", args=[project.slug]), {"evaluator": facts.version.evaluator_id}))
    assert "Runs of Facts" in said
    assert "Tone" not in said


def test_an_empty_list_says_what_to_do(as_alice, project):
    assert "Nothing has run yet" in text_of(as_alice.get(reverse("run-list", args=[project.slug])))


@pytest.mark.parametrize("n", [3, 30])
def test_the_list_needs_the_same_few_queries_however_many_runs(as_alice, project, n, django_assert_max_num_queries):
    experiment = experiment_of(project, 2)
    for number in range(n):
        state = RunState.ACTIVE if number % 3 else RunState.FINISHED
        judged(
            experiment, version_of(project, f"Evaluator {number}"), [0.5, "pending" if number % 3 else 0.6], state=state
        )
    url = reverse("run-list", args=[project.slug])
    as_alice.get(url)
    with django_assert_max_num_queries(17):
        as_alice.get(url)


def test_the_panel_of_an_evaluator_shows_where_it_ran(as_alice, project, experiment):
    run = judged(experiment, version_of(project, "Facts"), [0.5] * 4)
    judged(experiment, version_of(project, "Tone"), [0.9] * 4)
    url = reverse("evaluator-runs", args=[project.slug, run.version.evaluator_id])
    said = text_of(as_alice.get(url, headers={"HX-Request": "true"}))
    assert "50.0 %" in said
    assert "90.0 %" not in said
    assert "<html" not in said


def test_an_evaluator_that_has_not_run_says_where_to_add_it(as_alice, project):
    version = version_of(project, "Facts")
    url = reverse("evaluator-runs", args=[project.slug, version.evaluator_id])
    assert "It has not run yet" in text_of(as_alice.get(url))


def test_the_top_bar_counts_what_runs(as_alice, project, experiment, started):
    url = reverse("running-badge", args=[project.slug])
    assert "1 running" in text_of(as_alice.get(url))
    verb(as_alice, started, "stop")
    assert text_of(as_alice.get(url)).strip() == ""
