"""The noise floor of an evaluator: measured with fresh replies, and told with what it rests on."""

import re

import pytest
from django.urls import reverse

from evalstudio.projects.models import AuditEntry, Project
from evaluators.core import Status
from evaluators.models import Evaluator
from experiments.analysis.noise import cost_of_one, flips, measure, measurements
from experiments.ledger.start import CannotStart, start
from experiments.models import Evaluation, EvaluationBody, OutputBody, Purpose, Run, RunState
from tests.experiments.judged import experiment_of
from tests.experiments.trying import finish, heuristic_version, judge_version, reply, says_at_random

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HX-Request": "true"}


def text_of(response) -> str:
    return re.sub(r"\s+", " ", response.content.decode().replace("\N{NO-BREAK SPACE}", " "))


@pytest.fixture
def experiment(project):
    return experiment_of(project, 30)


@pytest.fixture
def judge(project, connection, chat_server):
    chat_server.reply = says_at_random()
    return judge_version(project, connection)


def panel(client, of, **query):
    evaluator = of.evaluator
    return client.get(reverse("evaluator-noise", args=[evaluator.project.slug, evaluator.pk]), query, headers=HTMX)


def press(client, of, on, **typed):
    evaluator = of.evaluator
    said = {"version": of.number, "experiment": on.pk, "outputs": 20, "repeats": 5, **typed}
    said = {name: value for name, value in said.items() if value is not None}
    return client.post(reverse("noise-start", args=[evaluator.project.slug, evaluator.pk]), said)


# --- A measurement ----------------------------------------------------------------------------------------------------
def test_every_judgement_is_a_new_call_however_often_it_is_measured(alice, experiment, judge, chat_server):
    finish(start(judge, experiment, alice))
    assert chat_server.calls == 30
    first = finish(measure(judge, experiment, alice, outputs=10, repeats=3))
    assert (first.state, first.first_repeat, chat_server.calls) == (RunState.FINISHED, 1, 60)
    again = finish(measure(judge, experiment, alice, outputs=10, repeats=2))
    assert (again.first_repeat, chat_server.calls) == (4, 80)
    assert Evaluation.objects.filter(run=again).count() == 20


def test_a_measurement_is_no_result(alice, experiment, judge):
    run = finish(measure(judge, experiment, alice, outputs=5, repeats=2))
    assert run.purpose == Purpose.NOISE
    assert not run.is_current


def test_a_judge_that_wavers_has_a_floor_and_one_that_does_not_has_none(alice, experiment, judge, chat_server):
    finish(measure(judge, experiment, alice, outputs=20, repeats=5))
    [found] = measurements(judge.evaluator)
    assert (found.noise.outputs, found.noise.judgements, found.over) == (20, 100, 30)
    assert 0.1 < found.floor < 0.3
    assert not found.always_same
    chat_server.reply = lambda body: reply("Right")
    finish(measure(judge, experiment, alice, outputs=20, repeats=5))
    steady = measurements(judge.evaluator)[0]
    assert steady.always_same
    assert steady.floor == 0


def test_a_judgement_without_a_score_is_missing_and_no_disagreement(alice, experiment, judge, chat_server):
    chat_server.reply = lambda body: reply("Right")
    run = finish(measure(judge, experiment, alice, outputs=4, repeats=3))
    lost = Evaluation.objects.filter(run=run).order_by("pk").first()
    Evaluation.objects.filter(pk=lost.pk).update(
        state=Status.UNSCORED, score=None, label_id=None, passed=None, why="unparsed"
    )
    [found] = measurements(judge.evaluator)
    assert found.noise.agreement.value == 1
    assert (found.noise.agreement.n, found.noise.agreement.asked) == (10, 12)


def test_two_measurements_of_a_version_never_run_at_once(alice, experiment, judge):
    measure(judge, experiment, alice, outputs=5, repeats=2)
    with pytest.raises(CannotStart, match="being measured already"):
        measure(judge, experiment, alice, outputs=5, repeats=2)


def test_an_experiment_without_outputs_cannot_be_judged(alice, project, judge):
    with pytest.raises(CannotStart, match="no outputs"):
        measure(judge, experiment_of(project, 0), alice, outputs=5, repeats=2)


# --- The panel --------------------------------------------------------------------------------------------------------
def test_the_card_says_the_floor_and_what_it_rests_on(as_alice, alice, experiment, judge):
    finish(measure(judge, experiment, alice, outputs=20, repeats=5))
    found = measurements(judge.evaluator)[0]
    said = text_of(panel(as_alice, judge))
    assert f"± {found.floor * 100:.1f} pts" in said
    assert "on 30 outputs of assistant 1, 95 % interval" in said
    assert "100 judgements of 20 outputs" in said
    assert "Self-agreement" in said
    assert "Measure again" in said
    assert "<html" not in said


def test_it_is_measured_from_the_page_and_the_progress_is_shown(as_alice, experiment, judge, chat_server):
    response = press(as_alice, judge, experiment)
    run = Run.objects.get()
    assert response.status_code == 302
    assert (run.purpose, run.repeats, len(run.sample)) == (Purpose.NOISE, 5, 20)
    going = text_of(panel(as_alice, judge))
    assert "every 2s" in going
    assert "assistant 1 is judged 5 times" in going
    assert "Measure the noise floor" not in going
    assert AuditEntry.objects.get().subject == "the noise of Correctness v1"
    finish(run)
    done = text_of(panel(as_alice, judge))
    assert "every 2s" not in done
    assert chat_server.calls == 100


def test_pressing_twice_measures_once(as_alice, experiment, judge):
    press(as_alice, judge, experiment)
    again = press(as_alice, judge, experiment)
    assert again.status_code == 422
    assert "v1 is being measured already." in text_of(again)
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"outputs": 201}, "Give a number from 2 to 200."),
        ({"outputs": "many"}, "Give a number from 2 to 200."),
        ({"repeats": 1}, "Give a number from 2 to 20."),
        ({"experiment": 999999}, "This result is not in this project."),
        ({"experiment": None}, "Choose whose outputs to judge."),
        ({"version": 9}, "This evaluator has no such version."),
    ],
)
def test_what_cannot_be_measured_says_why_and_keeps_what_was_typed(as_alice, experiment, judge, typed, said):
    response = press(as_alice, judge, experiment, **{"repeats": 7, **typed})
    assert response.status_code == 422
    assert said in text_of(response)
    assert typed.get("repeats") or 'value="7"' in text_of(response)
    assert not Run.objects.exists()


def test_the_result_of_another_project_is_not_judged(as_alice, charlie, judge):
    theirs = experiment_of(Project.start("Elsewhere", charlie), 3)
    assert press(as_alice, judge, theirs).status_code == 422
    assert not Run.objects.exists()


def test_before_it_starts_it_says_how_many_calls_and_what_they_cost(as_alice, alice, experiment, connection, judge):
    assert "Up to 100 judgements, 100 calls that no kept reply answers; what they cost is not known yet." in text_of(
        panel(as_alice, judge)
    )
    connection.usd_per_million_in, connection.usd_per_million_out = 1_000, 1_000
    connection.save()
    finish(start(judge, experiment, alice))
    each = cost_of_one(judge)
    assert each > 0
    said = text_of(panel(as_alice, judge, outputs="10", repeats="3"))
    assert "Up to 30 judgements, 30 calls" in said
    assert f"about ${each * 30:.2f}" in said


def test_what_computes_says_that_it_should_always_agree_and_then_that_it_does(as_alice, alice, experiment):
    version = heuristic_version(experiment.project, "return outputs.value.length / 100")
    assert "it should always give the same ones" in text_of(panel(as_alice, version))
    assert "no model is called" in text_of(panel(as_alice, version))
    finish(measure(version, experiment, alice, outputs=20, repeats=3))
    said = text_of(panel(as_alice, version))
    assert "Always the same score" in said
    assert "on 20 outputs of" in said, "those that were judged, however many more there are"
    assert "No two judgements of an output differed. That rests on 60 judgements of 20 outputs." in said


def test_what_people_judge_has_no_noise_to_measure(as_alice, project, experiment):
    from evaluators.kinds import KINDS

    evaluator = Evaluator.objects.create(project=project, name="By hand", kind="human")
    version = evaluator.revise(KINDS["human"].blank(), schema=1, author=None)
    said = text_of(panel(as_alice, version))
    assert "People give these scores" in said
    assert "<form" not in said
    response = press(as_alice, version, experiment)
    assert response.status_code == 422
    assert not Run.objects.exists()


def test_empty_places_say_what_to_do(as_alice, project):
    evaluator = Evaluator.objects.create(project=project, name="New", kind="heuristic")
    url = reverse("evaluator-noise", args=[project.slug, evaluator.pk])
    assert "No version is saved yet." in text_of(as_alice.get(url))
    version = heuristic_version(project, "return 1")
    assert "Import what a system answered" in text_of(panel(as_alice, version))


def test_a_viewer_sees_the_floor_and_cannot_measure(client, bob, alice, experiment, judge):
    finish(measure(judge, experiment, alice, outputs=5, repeats=2))
    client.force_login(bob)
    assert "Self-agreement" in text_of(panel(client, judge))
    assert "Measure again" not in text_of(panel(client, judge))
    assert press(client, judge, experiment).status_code == 403


def test_each_version_has_a_floor_of_its_own(as_alice, alice, project, experiment, judge, connection):
    finish(measure(judge, experiment, alice, outputs=5, repeats=2))
    second = judge_version(project, connection, "Judge strictly {{ outputs.value }}")
    assert "Not measured yet." in text_of(panel(as_alice, second))
    assert "1 measurement of all versions" in text_of(panel(as_alice, second))
    assert "± " in text_of(panel(as_alice, second, version=1))


@pytest.mark.parametrize("n", [1, 6])
def test_the_panel_takes_the_same_few_queries_however_much_was_measured(
    as_alice, alice, experiment, django_assert_max_num_queries, n
):
    version = heuristic_version(experiment.project, "return 1")
    for _ in range(n):
        finish(measure(version, experiment, alice, outputs=10, repeats=2))
    panel(as_alice, version)
    with django_assert_max_num_queries(22):
        panel(as_alice, version)


# --- Comparisons ------------------------------------------------------------------------------------------------------
def test_comparisons_agree_where_the_same_side_wins_whatever_the_label_of_one_order(
    alice, project, experiment, connection, chat_server
):
    baseline = experiment_of(project, 30, system="assistant 0")
    chat_server.reply = lambda body: reply("Right")  # whatever stands second, so each pair is a tie
    prompt = "First {{ outputs.value }} second {{ comparison.outputs.value }}"
    version = judge_version(project, connection, prompt, runs_on="comparison", both_orders=True)
    run = finish(measure(version, experiment, alice, outputs=5, repeats=2, baseline=baseline))
    rows = Evaluation.objects.filter(run=run).order_by("pk")
    rows.filter(repeat=1).update(label_id=None)
    assert measurements(version.evaluator)[0].always_same
    rows.filter(repeat=1).update(score=1.0)
    assert measurements(version.evaluator)[0].noise.agreement.value == 0


def test_a_comparison_is_measured_against_its_baseline_and_shows_how_often_orders_disagree(
    as_alice, alice, project, experiment, connection, chat_server
):
    baseline = experiment_of(project, 30, system="assistant 0")
    OutputBody.objects.filter(output__experiment=baseline).update(outputs={"value": "I do not know."})
    chat_server.reply = says_at_random()
    prompt = "First {{ outputs.value }} second {{ comparison.outputs.value }}"
    version = judge_version(project, connection, prompt, runs_on="comparison", both_orders=True)
    assert press(as_alice, version, experiment).status_code == 422
    assert press(as_alice, version, experiment, against=baseline.pk, outputs=5, repeats=2).status_code == 302
    noise = finish(Run.objects.get())
    assert noise.baseline == baseline
    assert chat_server.calls == 5 * 2 * 2
    assert measurements(version.evaluator)[0].noise.judgements == 10
    run = finish(start(version, experiment, alice, baseline=baseline))
    bodies = EvaluationBody.objects.filter(evaluation__run=run, measures__flipped=1)
    [told] = flips(version)
    assert told.rate.value == pytest.approx(bodies.count() / 30)
    said = text_of(panel(as_alice, version))
    assert "Orders disagree" in said
    assert "assistant 1 against assistant 0" in said
