"""Prompts that a pipeline has EvalStudio run, against a live server, its worker and a model that answers."""

import pytest
from evalstudio_client import Model, NotFound, Refused, StillRunning

from evalstudio.calls.models import Connection
from experiments.models import Experiment, Output, Run

pytestmark = pytest.mark.django_db(transaction=True)
BRIEF, LONG = "{{ inputs.question }}", "Say it at length: {{ inputs.question }}"


@pytest.fixture
def connection(project, chat_server):
    """Answers with what it is asked."""
    chat_server.reply = lambda body: body["messages"][-1]["content"]
    return Connection.objects.create(project=project, name="local", base_url=chat_server.url, model="tiny")


def test_every_model_with_every_set_of_parameters_answers_every_case_as_often_as_was_said(
    studio, make_experiment, connection, worker
):
    make_experiment(3)
    looks = []
    experiments = studio.run_prompt(
        "Parrot",
        "3 questions",
        BRIEF,
        ["tiny", Model("small", "local")],
        parameters=[{"temperature": 0.0}, {"temperature": 0.7, "max_tokens": 90}],
        attempts=2,
        system_message="You repeat.",
        timeout_s=60,
        progress=looks.append,
    )
    assert [experiment["system"] for experiment in experiments] == [
        "Parrot v1 · tiny · temperature 0",
        "Parrot v1 · tiny · temperature 0.7 · 90 tokens",
        "Parrot v1 · small · temperature 0",
        "Parrot v1 · small · temperature 0.7 · 90 tokens",
    ]
    assert {experiment["is_open"] for experiment in experiments} == {False}
    assert [run["state"] for run in looks[-1]] == ["finished"] * 4
    results = list(studio.results(experiments[0], ["outputs"]))
    assert [(row["key"], row["attempt"]) for row in results] == [(f"case-{n}", k) for n in range(3) for k in range(2)]
    assert results[4]["outputs"] == {"value": "question 2"}


def test_a_gate_decides_on_what_came_of_it(studio, make_experiment, connection, short, shorter, worker):
    make_experiment(30)
    (baseline,) = studio.run_prompt("Brief", "30 questions", BRIEF, ["tiny"], evaluators=["Short"], timeout_s=60)
    against = {"name": "Shorter output", "baseline": baseline["id"]}
    judged_by = ["Short", against]
    (experiment,) = studio.run_prompt("Long", "30 questions", LONG, ["tiny"], evaluators=judged_by, timeout_s=60)

    assert studio.gate(baseline, ["Short >= 0.8"], timeout_s=60).passed
    report = studio.gate(experiment, ["Short >= 0.8"], baseline=baseline, timeout_s=60)
    assert {check.name for check in report.failed} == {
        "Short ≥ 80.0 %",
        "Short against the baseline",
        "Shorter output against the baseline",
    }
    (run,) = Run.objects.filter(baseline__isnull=False)
    assert (run.experiment_id, run.evaluation_set.count()) == (experiment["id"], 30)


def test_the_same_key_waits_for_the_same_experiment_and_options_choose_the_cases(
    studio, make_experiment, connection, worker
):
    make_experiment(9)
    asked = {"take": "first", "n": 2, "limit_minutes": 5, "client_key": "prompt-7", "timeout_s": 60}
    first, again = (studio.run_prompt("Parrot", "9 questions", BRIEF, ["tiny"], **asked) for _ in range(2))
    assert first == again
    assert Output.objects.filter(experiment=first[0]["id"]).count() == 2
    assert Run.objects.get(experiment=first[0]["id"]).limit_s == 300


def test_waiting_ends_with_what_has_not_been_answered(studio, make_experiment, connection):
    make_experiment(2)
    with pytest.raises(StillRunning, match="Still running: answers of experiment") as caught:
        studio.run_prompt("Parrot", "2 questions", BRIEF, ["tiny"], timeout_s=0)
    assert caught.value.why


def test_what_is_wrong_is_named_and_nothing_is_asked(studio, project, make_experiment, connection, chat_server):
    make_experiment(2)
    with pytest.raises(NotFound, match=r"no connection “far”.* There are: “local”"):
        studio.run_prompt("Parrot", "2 questions", BRIEF, [Model("tiny", "far")])
    with pytest.raises(Refused, match="is not there when this prompt is sent"):
        studio.run_prompt("Parrot", "2 questions", "{{ expectedOutputs.value }}", ["tiny"])
    with pytest.raises(Refused, match="There is no data set “none”"):
        studio.run_prompt("Parrot", "none", BRIEF, ["tiny"])
    Connection.objects.create(project=project, name="other", base_url=chat_server.url, model="tiny")
    with pytest.raises(NotFound, match=r"which connection serves “tiny”. There are: “local”, “other”"):
        studio.run_prompt("Parrot", "2 questions", BRIEF, ["tiny"])
    assert not Experiment.objects.filter(source="prompt").exists()
