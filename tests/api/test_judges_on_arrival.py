"""Evaluators that judge from the beginning, named when a pipeline opens an experiment."""

import pytest

from evaluators.models import Evaluator
from experiments.ledger.turn import work
from experiments.models import Evaluation, Experiment, Run, RunDefaults
from tests.api.test_api import call, import_file  # noqa: F401
from tests.api.test_intake import CODE
from tests.experiments.compared import comparative
from tests.experiments.conftest import make_experiment  # noqa: F401

CONFIG = {"code": CODE, "scoring": {"type": "percentage"}, "threshold": None, "direction": "higher", "seed": 0}


@pytest.fixture
def short(project, alice):
    evaluator = Evaluator.objects.create(project=project, name="Short", kind="heuristic")
    evaluator.revise(CONFIG, schema=1, author=alice)
    evaluator.revise(CONFIG | {"seed": 1}, schema=1, author=alice)
    return evaluator


@pytest.fixture
def opening(client, alice, project):
    import_file(client, project, alice)
    return {"system": "calculator", "dataset": "sums"}


def test_they_are_named_by_name_or_id_with_a_version_and_options(call, opening, short):  # noqa: F811
    told = {"name": "Short", "version": 1, "repeats": 2, "scores_only": True, "limit_minutes": 5}
    opened = call("post", "experiments/", opening | {"evaluators": [told, {"id": short.pk}]})

    assert opened.status_code == 201
    first, second = Run.objects.order_by("pk")
    assert (first.version.number, first.repeats, first.keeps_details, first.limit_s) == (1, 2, False, 300)
    assert (second.version.number, second.repeats) == (2, 1)
    path = f"experiments/{opened.json()['id']}/outputs/"
    call("post", path, {"outputs": [{"case": "a", "outputs": {"value": "Four."}}]})
    work("cpu")
    assert Evaluation.objects.filter(score=1.0).count() == 3


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"name": "Long"}, "no evaluator “Long”"),
        ({"name": "Short", "version": 9}, "no version 9"),
        ({"name": "Short", "take": "first", "n": 3}, "still to come"),
        ({"name": "Short", "take": "random"}, "Needed to take"),
        ({"name": "Short", "baseline": 99999}, "no experiment 99999"),
        ({}, "by its name or by its id"),
        ({"name": "Short", "id": 1}, "by its name or by its id"),
    ],
)
def test_what_cannot_judge_is_refused_and_nothing_is_opened(call, opening, short, told, said):  # noqa: F811
    before = Experiment.objects.count()

    answer = call("post", "experiments/", opening | {"evaluators": [told]})

    assert answer.status_code == 400
    assert said in str(answer.json())
    assert Experiment.objects.count() == before


@pytest.fixture
def shorter(project):
    return comparative(project)


def append(call, experiment, **texts):  # noqa: F811
    rows = [{"case": key, "outputs": {"value": text}} for key, text in texts.items()]
    assert call("post", f"experiments/{experiment}/outputs/", {"outputs": rows}).status_code == 200


def scores_of(run):
    rows = Evaluation.objects.filter(run=run, score__isnull=False)
    return dict(rows.values_list("output__case__key", "score"))


def test_one_that_compares_judges_pairs_as_they_arrive_whichever_side_comes_last(call, opening, shorter):  # noqa: F811
    first = call("post", "experiments/", opening).json()["id"]
    told = {"name": "Shorter output", "version": 1, "baseline": first}
    second = call("post", "experiments/", opening | {"system": "words", "evaluators": [told]}).json()["id"]
    run = Run.objects.get()
    assert (run.version, run.experiment_id, run.baseline_id) == (shorter, second, first)
    append(call, first, a="4")
    append(call, second, a="four", b="six")
    work("cpu")
    assert scores_of(run) == {"a": 0.0}
    append(call, first, b="sixty")
    for experiment in (first, second):
        call("post", f"experiments/{experiment}/close/")
    work("cpu")
    assert scores_of(run) == {"a": 0.0, "b": 1.0}
    assert Evaluation.objects.filter(run=run).count() == 2


@pytest.mark.parametrize(
    ("name", "baseline", "said"),
    [
        ("Shorter output", None, "compares two results"),
        ("Short", "same", "judges one result"),
        ("Shorter output", "other", "different data sets"),
    ],
)
def test_a_pair_takes_one_that_compares_and_results_of_one_data_set(
    call,  # noqa: F811
    opening,
    short,
    shorter,
    make_experiment,  # noqa: F811
    name,
    baseline,
    said,
):
    same = call("post", "experiments/", opening).json()["id"]
    others = {"same": same, "other": make_experiment(1).pk}
    told = {"name": name, "version": 1} | ({"baseline": others[baseline]} if baseline else {})
    answer = call("post", "experiments/", opening | {"evaluators": [told]})
    assert answer.status_code == 400
    assert said in str(answer.json())
    assert f"{name}: " in str(answer.json())
    assert Experiment.objects.filter(system__name="calculator").count() == 1


def test_the_evaluator_of_another_project_is_none_here(call, opening, charlie):  # noqa: F811
    from evalstudio.projects.models import Project

    theirs = Evaluator.objects.create(project=Project.start("Other", charlie), name="Theirs", kind="heuristic")
    theirs.revise(CONFIG, schema=1, author=charlie)

    assert call("post", "experiments/", opening | {"evaluators": [{"id": theirs.pk}]}).status_code == 400


def test_the_project_s_own_run_where_nobody_is_named_and_an_empty_list_names_nobody(
    call,  # noqa: F811
    opening,
    project,
    short,
):
    RunDefaults.objects.create(project=project).evaluators.set([short])

    call("post", "experiments/", opening)
    call("post", "experiments/", opening | {"evaluators": []})

    assert [run.version.number for run in Run.objects.all()] == [2]


def test_asked_again_under_its_key_nobody_is_started_twice_nor_what_was_stopped(
    call,  # noqa: F811
    opening,
    project,
    short,
):
    RunDefaults.objects.create(project=project).evaluators.set([short])
    opening |= {"client_key": "build 7"}
    call("post", "experiments/", opening)
    Run.objects.update(state="stopped")

    assert call("post", "experiments/", opening).status_code == 200

    assert Run.objects.get().state == "stopped"
