"""Results tell the groups of fields that are asked for, and read no others."""

import pytest

from tests.api.test_api import call  # noqa: F401
from tests.experiments.judged import experiment_of, judged, version_of

ALWAYS = {"id", "key", "attempt"}
CASE = {"inputs", "expected_outputs", "metadata"}
FIGURES = {"error", "latency_ms", "cost_usd", "tokens_in", "tokens_out"}


@pytest.fixture
def experiment(project):
    experiment = experiment_of(project, 2)
    judged(experiment, version_of(project, "short"), [1.0, 0.5])
    return experiment


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ("scores", {"evaluations"}),
        ("reasons", {"evaluations"}),
        ("case, figures", CASE | FIGURES),
        ("outputs,steps", {"outputs", "steps"}),
        ("", CASE | FIGURES | {"outputs", "steps", "evaluations"}),
    ],
)
def test_a_result_has_the_groups_that_were_asked_for(call, experiment, fields, names):  # noqa: F811
    results = call("get", f"experiments/{experiment.pk}/results/?fields={fields}").json()["results"]
    assert [set(one) for one in results] == [ALWAYS | names] * 2
    if "evaluations" in names:
        assert [one["evaluations"][0]["score"] for one in results] == [1.0, 0.5]
        assert ("reason" in results[0]["evaluations"][0]) is (fields != "scores")


def test_bodies_are_read_only_when_asked_for(call, experiment, django_assert_max_num_queries):  # noqa: F811
    with django_assert_max_num_queries(20) as seen:
        call("get", f"experiments/{experiment.pk}/results/?fields=figures")
    assert not [query for query in seen.captured_queries if "outputbody" in query["sql"]]
    assert not [query for query in seen.captured_queries if "experiments_evaluation" in query["sql"]]


def test_the_baseline_s_answers_are_outputs(call, project, experiment):  # noqa: F811
    baseline = experiment_of(project, 2, "assistant 0")
    path = f"experiments/{experiment.pk}/results/?baseline={baseline.pk}"
    assert set(call("get", f"{path}&fields=outputs").json()["results"][0]) == ALWAYS | {"outputs", "baseline_outputs"}
    assert set(call("get", f"{path}&fields=steps").json()["results"][0]) == ALWAYS | {"steps"}


def test_a_group_that_there_is_not_is_named(call, experiment):  # noqa: F811
    refused = call("get", f"experiments/{experiment.pk}/results/?fields=scores,body")
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["message"].startswith("There is no group “body”. There are case, outputs,")
