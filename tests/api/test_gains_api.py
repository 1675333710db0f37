"""What an experiment gained on a baseline, and how much of a run passes."""

import pytest

from experiments.models import Evaluation, Output, RunState
from tests.api.test_api import call  # noqa: F401
from tests.experiments.compared import comparative
from tests.experiments.compared import compared as pairwise
from tests.experiments.judged import add_case, add_output, experiment_of, judged, rehearsal_of, shuffled, version_of

N = 40


@pytest.fixture
def two(project):
    return experiment_of(project, N, "assistant 2"), experiment_of(project, N, "assistant 1")


def compared(call, experiment, baseline) -> dict:  # noqa: F811
    reply = call("get", f"experiments/{experiment.pk}/compare/?baseline={baseline.pk}")
    assert reply.status_code == 200, reply.json()
    return reply.json()


def test_a_drop_that_the_interval_proves_is_worse(call, project, two):  # noqa: F811
    version, scores = version_of(project, "tone"), [0.5 + one / 2 for one in shuffled(N)]
    judged(two[0], version, [one - 0.2 - one / 100 for one in scores])
    judged(two[1], version, scores)
    found = compared(call, *two)
    told = found["evaluators"][0]
    assert (told["evaluator"], told["version"], told["verdict"], told["is_over"]) == ("tone", 1, "worse", True)
    assert told["difference"]["high"] < -0.2
    assert told["difference"]["value"] == pytest.approx(-0.2 - sum(scores) / N / 100)
    assert (told["difference"]["n"], told["difference"]["asked"], found["outputs"]) == (N, N, N)
    assert compared(call, *reversed(two))["evaluators"][0]["verdict"] == "better"


def test_a_drop_of_the_bare_mean_alone_is_no_verdict(call, project, two):  # noqa: F811
    version, scores = version_of(project, "tone"), shuffled(N)
    judged(two[0], version, [*scores[1:], scores[0] / 2])
    judged(two[1], version, scores)
    told = compared(call, *two)["evaluators"][0]
    assert told["difference"]["value"] < 0 < told["difference"]["high"]
    assert told["verdict"] == "cannot tell"


def test_lower_may_be_the_better_direction(call, project, two):  # noqa: F811
    version = version_of(project, "toxicity", direction="lower")
    judged(two[0], version, [0.1 + one / 100 for one in shuffled(N)])
    judged(two[1], version, [0.9] * N)
    told = compared(call, *two)["evaluators"][0]
    assert (told["direction"], told["verdict"]) == ("lower", "better")


def test_what_one_side_lacks_is_counted_and_in_no_figure(call, project, two):  # noqa: F811
    version, experiment = version_of(project, "tone"), two[0]
    lone = add_case(experiment.dataset_version.dataset, "lone", N)
    add_output(experiment, lone)
    Output.objects.filter(experiment=two[1], case__key="case-000").delete()
    judged(experiment, version, ["failed: timeout" if n == 5 else 0.5 for n in range(N)] + [0.0])
    judged(two[1], version, ["unscored: unparsed" if n == 6 else 0.5 for n in range(N - 1)])
    found = compared(call, *two)
    told = found["evaluators"][0]
    assert (found["outputs"], found["only_experiment"], found["only_baseline"]) == (N - 1, 2, 0)
    assert (told["difference"]["n"], told["difference"]["asked"]) == (N - 3, N - 1)
    assert (told["only_experiment"], told["only_baseline"]) == (3, 1)
    assert told["difference"]["value"] == 0


def test_outputs_that_were_judged_several_times_count_once_with_their_mean(call, project, two):  # noqa: F811
    version = version_of(project, "tone")
    mine, theirs = (judged(experiment, version, [0.5] * 4) for experiment in two)
    for row in mine.evaluation_set.all():
        Evaluation.objects.create(
            run=mine, output=row.output, repeat=1, state=row.state, score=1.0, passed=True, settled_at=row.settled_at
        )
    told = compared(call, *two)["evaluators"][0]
    assert (told["difference"]["n"], told["difference"]["asked"]) == (4, 4)
    assert told["difference"]["value"] == 0.25
    assert call("get", f"runs/{mine.pk}/passing/").json()["clusters"] == 4
    assert theirs.evaluation_set.count() == 4


def test_versions_are_never_mixed(call, project, two):  # noqa: F811
    first, second = version_of(project, "tone"), version_of(project, "tone", threshold=0.7)
    judged(two[0], second, [1.0] * N)
    judged(two[1], first, [0.0] * N)
    found = compared(call, *two)
    assert found["evaluators"] == []
    assert {(one["version"], one["experiment"]) for one in found["alone"]} == {(2, two[0].pk), (1, two[1].pk)}


def test_a_comparison_says_what_is_still_running_and_what_is_a_rehearsal(call, project, two):  # noqa: F811
    version = version_of(project, "tone")
    judged(two[0], version, [1.0] * 3 + ["pending"], state=RunState.ACTIVE)
    judged(two[1], version, [1.0] * 4, connection=rehearsal_of(project))
    told = compared(call, *two)["evaluators"][0]
    assert (told["is_over"], told["rehearsal"]) == (False, True)


def test_a_comparison_costs_few_queries(call, project, two, django_assert_max_num_queries):  # noqa: F811
    for name in ("tone", "length"):
        for experiment in two:
            judged(experiment, version_of(project, name), shuffled(N))
    compared(call, *two)
    with django_assert_max_num_queries(9):
        compared(call, *two)


def test_everything_the_page_shows_is_told(call, project, two):  # noqa: F811
    version = version_of(project, "tone")
    judged(two[0], version, [0.25, 0.75, 0.5, 0.5] * 10)
    judged(two[1], version, [0.5, 0.75, 0.25, 0.5] * 10)
    pairwise(*two, comparative(project), [1.0, 0.0, 0.5, 1.0] * 10)
    found = compared(call, *two)
    told, between = found["evaluators"][0], found["comparative"][0]
    assert (told["counts"]["regressed"], told["counts"]["improved"], told["counts"]["same"]) == (10, 10, 20)
    assert (told["baseline"]["value"], told["compared"]["value"]) == (0.5, 0.5)
    assert (told["verdict_of_all"], told["p_value"]) == ("cannot tell", 1.0)
    assert told["advice"] == "a difference of zero cannot be told by any number of cases"
    assert (between["counts"]["improved"], between["counts"]["same"], between["counts"]["regressed"]) == (20, 10, 10)
    assert between["adjusted_p_value"] == pytest.approx(2 * between["p_value"])


def cases(call, experiment, baseline, **query) -> dict:  # noqa: F811
    more = "".join(f"&{name}={value}" for name, value in query.items())
    reply = call("get", f"experiments/{experiment.pk}/compare/cases/?baseline={baseline.pk}{more}")
    assert reply.status_code == 200, reply.json()
    return reply.json()


def test_the_cases_of_a_comparison_are_paged_worst_first(call, project, two):  # noqa: F811
    version = version_of(project, "tone")
    run = judged(two[0], version, [number / N for number in range(N)])
    judged(two[1], version, [0.5] * N)
    first = cases(call, *two, limit=15)
    assert [one["key"] for one in first["results"]] == [f"case-{number:03}" for number in range(15)]
    assert first["results"][0]["scores"] == [
        {"run": run.pk, "evaluator": "tone", "version": 1, "baseline": 0.5, "compared": 0.0, "gain": -0.5}
    ]
    second = cases(call, *two, limit=15, after=first["next"])
    assert second["results"][0]["key"] == "case-015"
    assert cases(call, *two, limit=15, before=second["previous"])["results"] == first["results"]
    improved = cases(call, *two, show="improved", sort="high")
    assert (len(improved["results"]), improved["results"][0]["key"]) == (N - 21, f"case-{N - 1:03}")
    assert improved["next"] is None


@pytest.mark.parametrize("query", ["", "?baseline=", "?baseline=x", "?baseline=999999"])
def test_only_another_experiment_of_the_data_set_is_a_baseline(call, two, project, query):  # noqa: F811
    for wrong in (query, f"?baseline={two[0].pk}", f"?baseline={experiment_of(project, 3).pk}"):
        refused = call("get", f"experiments/{two[0].pk}/compare/{wrong}")
        assert refused.status_code == 400
        assert refused.json()["errors"][0]["field"] == "baseline"


def test_the_passing_share_of_a_run_has_its_interval(call, project, two):  # noqa: F811
    run = judged(two[0], version_of(project, "tone"), ([1.0] * 3 + [0.0]) * 9 + ["failed: timeout"] * 4)
    share = call("get", f"runs/{run.pk}/passing/").json()
    assert (share["value"], share["n"], share["asked"]) == (0.75, 36, 40)
    assert share["low"] == pytest.approx(0.5893, abs=1e-4)
    assert share["method"] == "Wilson score interval"


def test_without_a_threshold_nothing_passes_or_fails(call, project, two):  # noqa: F811
    run = judged(two[0], version_of(project, "tone", threshold=None), [1.0] * 4)
    share = call("get", f"runs/{run.pk}/passing/").json()
    assert (share["value"], share["n"]) == (None, 0)
