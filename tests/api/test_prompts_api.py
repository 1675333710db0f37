"""A prompt is run over a data set by API: started, followed, stopped, resumed."""

import pytest

from evalstudio.calls.models import Connection
from evaluators.kinds import get_kind
from evaluators.models import Evaluator
from experiments.datasets.committing import Edit, commit
from experiments.ledger.turn import work
from experiments.models import CaseSpan, Dataset, Evaluation, Experiment, Output, Run, RunDefaults
from tests.api.test_api import call, import_file  # noqa: F401
from tests.experiments.compared import comparative

pytestmark = pytest.mark.django_db(transaction=True)
CODE = "function evaluate({ outputs }) { return outputs.value.length < 12 ? 1 : 0.25; }"


@pytest.fixture
def prompt(client, alice, project, chat_server):
    """The body of a request that asks one model about the cases of a data set."""
    import_file(client, project, alice)
    chat_server.reply = lambda body: f"You said: {body['messages'][-1]['content']}"
    connection = Connection.objects.create(project=project, name="local", base_url=chat_server.url, model="tiny")
    return {
        "title": "Sums",
        "dataset": "sums",
        "user_message": "Add: {{ inputs.question }}",
        "models": [{"connection": connection.pk, "model": "tiny", "temperature": 0.5}],
    }


def test_it_is_started_followed_and_judged_as_it_goes(call, prompt, project, alice):  # noqa: F811
    config = {"code": CODE, "scoring": {"type": "percentage"}, "threshold": None, "direction": "higher", "seed": 0}
    evaluator = Evaluator.objects.create(project=project, name="Short", kind="heuristic")
    version = evaluator.revise(config, schema=1, author=alice)
    made = call("post", "experiments/prompt/", prompt | {"versions": [version.pk], "repeats": 2, "limit_minutes": 9})
    assert made.status_code == 201
    (told,) = made.json()
    assert told["experiment"]["system"] == "Sums v1 · tiny · temperature 0.5"
    assert (told["experiment"]["source"], told["experiment"]["is_open"]) == ("prompt", True)
    run = call("get", f"runs/{told['run']}/").json()
    asked = Evaluation.objects.filter(run=told["run"]).count()
    assert (run["purpose"], run["evaluator"], run["estimate"], run["limit_s"]) == ("answers", None, None, 540)
    assert run["counts"]["pending"] == asked > 0
    assert sum(group["rows"] for group in call("get", f"runs/{told['run']}/waiting/").json()) == asked
    work("net")
    work("cpu")
    results = call("get", f"experiments/{told['experiment']['id']}/results/").json()["results"]
    assert len(results) == asked
    assert all(row["outputs"]["value"].startswith("You said: Add: ") for row in results)
    assert all(row["evaluations"][0]["state"] == "scored" for row in results)
    assert {row["attempt"] for row in results} == {0, 1}
    assert [row["id"] for row in call("get", "runs/").json()["results"]] != [told["run"]]
    assert [row["id"] for row in call("get", "runs/?purpose=answers").json()["results"]] == [told["run"]]


def test_evaluators_are_named_with_options_and_compare_with_an_earlier_answer(call, prompt, project):  # noqa: F811
    comparative(project)
    (first,) = call("post", "experiments/prompt/", prompt | {"evaluators": []}).json()
    told = {"name": "Shorter output", "version": 1, "baseline": first["experiment"]["id"]}
    work("net")
    asked = prompt | {"user_message": "{{ inputs.question }}", "evaluators": [told]}

    (second,) = call("post", "experiments/prompt/", asked).json()
    work("net")
    work("cpu")

    run = Run.objects.get(purpose="results")
    assert (run.experiment_id, run.baseline_id) == (second["experiment"]["id"], first["experiment"]["id"])
    assert set(run.evaluation_set.values_list("score", flat=True)) == {1.0}


def test_the_project_s_own_judge_where_nobody_is_named(call, prompt, project):  # noqa: F811
    evaluator = Evaluator.objects.create(project=project, name="Short", kind="heuristic")
    evaluator.revise(get_kind("heuristic").blank(), schema=2, author=None)
    RunDefaults.objects.create(project=project).evaluators.set([evaluator])

    call("post", "experiments/prompt/", prompt)
    call("post", "experiments/prompt/", prompt | {"versions": []})

    assert Run.objects.get(purpose="results").version.evaluator == evaluator
    assert Run.objects.filter(purpose="answers").count() == 2


def test_it_is_stopped_and_resumed_as_any_run(call, prompt):  # noqa: F811
    (told,) = call("post", "experiments/prompt/", prompt).json()
    assert call("post", f"runs/{told['run']}/stop/").json()["state"] == "stopped"
    work("net")
    assert not Output.objects.filter(experiment=told["experiment"]["id"]).exists()
    assert call("post", f"runs/{told['run']}/resume/").json()["state"] == "active"
    work("net")
    assert call("get", f"runs/{told['run']}/").json()["state"] == "finished"


def test_asked_again_with_the_same_key_it_is_the_same(call, prompt, chat_server):  # noqa: F811
    two = prompt | {"models": [*prompt["models"], prompt["models"][0] | {"model": "small"}], "client_key": "build-7"}
    first, again = (call("post", "experiments/prompt/", two).json() for _ in range(2))
    assert first == again
    assert [told["experiment"]["system"] for told in first] == [
        "Sums v1 · tiny · temperature 0.5",
        "Sums v1 · small · temperature 0.5",
    ]
    assert Experiment.objects.filter(source="prompt").count() == 2


@pytest.mark.parametrize(
    "other",
    [
        {"user_message": "Otherwise: {{ inputs.question }}"},
        {"title": "Other sums"},
        {"models": "fewer"},
        {"models": "more"},
        {"dataset_version": 2},
    ],
)
def test_a_key_that_stands_for_something_else_is_refused_and_asks_nothing(call, prompt, other):  # noqa: F811
    model = prompt["models"][0]
    models = [model | {"model": name} for name in ("tiny", "small", "large")]
    two = prompt | {"models": models[:2], "client_key": "build-7"}
    first = call("post", "experiments/prompt/", two).json()
    assert call("post", "experiments/prompt/", two | {"client_key": "BUILD-7"}).json() != first
    pk = Dataset.objects.get(name=prompt["dataset"]).pk
    call("post", f"datasets/{pk}/versions/", {"add": [{"key": "new", "inputs": {"question": "One and one?"}}]})
    asked = two | other | {"models": {"fewer": models[:1], "more": models}.get(other.get("models"), models[:2])}
    refused = call("post", "experiments/prompt/", asked)
    assert refused.status_code == 409
    assert "This key stands for an experiment of Sums v1" in refused.json()["detail"]
    assert call("post", "experiments/prompt/", two).json() == first


def test_a_key_of_a_pipeline_is_none_of_a_prompt_nor_the_other_way_round(call, prompt):  # noqa: F811
    opening = {"system": "calculator", "dataset": prompt["dataset"]}
    call("post", "experiments/", opening | {"client_key": "a"})
    assert call("post", "experiments/prompt/", prompt | {"client_key": "a"}).status_code == 409
    call("post", "experiments/prompt/", prompt | {"client_key": "b"})
    assert call("post", "experiments/", opening | {"client_key": "b"}).status_code == 409


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"user_message": "a\n{{ expectedOutputs.value }}"}, "user_message", "Line 2: “expectedOutputs” is not there"),
        ({"system_message": "{{ steps }}"}, "system_message", "Line 1: “steps” is not there"),
        ({"user_message": " "}, "user_message", "Write what is sent"),
        ({"models": []}, "models", "at least 1"),
        ({"models": [{"connection": 99999, "model": "m"}]}, "models", "This project has no connection 99999"),
        ({"dataset": "none"}, "dataset", "There is no data set “none”"),
        ({"versions": [99999]}, "versions", "This project has no version 99999."),
        ({"evaluators": [{"name": "None"}]}, "evaluators", "There is no evaluator “None”"),
        ({"take": "first"}, "n", "Needed to take"),
        ({"limit_usd": 1}, "models", "cost is not known"),
    ],
)
def test_what_is_wrong_is_named_by_its_field(call, prompt, changes, field, sentence):  # noqa: F811
    answer = call("post", "experiments/prompt/", prompt | changes)
    assert answer.status_code in (400, 422)
    told = [error for error in answer.json()["errors"] if error["field"].startswith(field)]
    assert sentence in told[0]["message"]
    assert not Experiment.objects.filter(source="prompt").exists()


def test_no_pipeline_appends_to_what_is_answered_here(call, prompt):  # noqa: F811
    (told,) = call("post", "experiments/prompt/", prompt).json()
    pk = told["experiment"]["id"]
    batch = {"outputs": [{"case": "a", "outputs": {"value": "4"}}]}
    assert call("post", f"experiments/{pk}/outputs/", batch).status_code == 409
    assert call("post", f"experiments/{pk}/close/").json()["is_open"] is True


@pytest.mark.parametrize(
    ("more", "field"), [({"take": "split", "split": "nope"}, "split"), ({"dataset_version": 2}, "dataset_version")]
)
def test_what_there_are_no_cases_of_is_refused_and_nothing_begins(call, prompt, alice, more, field):  # noqa: F811
    dataset = Dataset.objects.get()
    members = dict(CaseSpan.objects.filter(dataset=dataset).values_list("key", "case"))
    commit(dataset, [Edit(key, None, case) for key, case in members.items()], alice)
    before = Experiment.objects.count()
    refused = call("post", "experiments/prompt/", {"dataset_version": 1} | prompt | more)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, field)
    assert Experiment.objects.count() == before


def test_a_run_over_a_split_that_there_is_not_is_refused(call, prompt, project, alice):  # noqa: F811
    config = {"code": CODE, "scoring": {"type": "percentage"}, "threshold": None, "direction": "higher", "seed": 0}
    version = Evaluator.objects.create(project=project, name="Short", kind="heuristic").revise(
        config, schema=1, author=alice
    )
    asked = {"version": version.pk, "experiment": Experiment.objects.get().pk, "take": "split", "split": "nope"}
    refused = call("post", "runs/", asked)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "split")
    assert not Run.objects.exists()
