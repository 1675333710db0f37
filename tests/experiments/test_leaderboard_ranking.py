"""Places from rows: paired by case, corrected, over slices; what is worked out once and kept."""

import random
import re
import statistics

import numpy
import pytest
from django.db.models import F
from django_q.models import OrmQ
from scipy import stats

from evaluators.core import Status
from evaluators.stats.estimate import Estimate, Moments, estimate
from evaluators.stats.paired import paired
from experiments.analysis import leaderboard_cases, working_out
from experiments.analysis.leaderboard_cases import telling
from experiments.analysis.leaderboard_facts import slices, spending
from experiments.analysis.leaderboard_ranking import Sums, _contrasts, _moments, ranked
from experiments.analysis.summary import summaries
from experiments.models import Case, Derived, Evaluation, Output, Run
from tests.experiments.compared import compared, preference
from tests.experiments.judged import add_output, experiment_of, judged, rehearsal_of, shuffled, version_of

pytestmark = pytest.mark.django_db


def runs_of(project, *told, direction="higher"):
    """A run for each list of what was told, by one version, on experiments that share their cases."""
    version = version_of(project, "Tone", direction=direction)
    return [
        judged(experiment_of(project, len(each), f"system {number}"), version, each)
        for number, each in enumerate(told, 1)
    ]


def asked(runs, measure="", split="", field="", value=""):
    return ranked([run.pk for run in runs], measure, split, field, value)


def test_a_difference_that_four_cases_cannot_prove_is_a_tie(project):
    # Differences 0.5, 0.5, 0, 0.5: mean 0.375, deviation 0.25, t = 0.375 / 0.125 = 3 with 3 degrees: p = 0.058.
    first, second = runs_of(project, [1.0, 1.0, 0.5, 0.5], [0.5, 0.5, 0.5, 0.0])
    found = asked([first, second])
    assert found["places"] == {str(first.pk): [1, 2, [str(second.pk)]], str(second.pk): [1, 2, [str(first.pk)]]}
    # ((t + 0.84) 0.25 / 0.375)² is 5.4 with t of 5 degrees, so six cases in all, of which there are four.
    assert found["advice"].startswith("To split places 1 and 2: about ")
    assert found["pairs"] == 1


def test_one_more_case_of_the_same_kind_proves_it(project):
    # Now mean 0.4, deviation 0.2236, t = 4 with 4 degrees: p = 0.016.
    first, second = runs_of(project, [1.0, 1.0, 0.5, 0.5, 1.0], [0.5, 0.5, 0.5, 0.0, 0.5])
    assert asked([first, second])["places"] == {str(first.pk): [1, 1, []], str(second.pk): [2, 2, []]}


def test_the_correction_makes_of_the_same_difference_a_tie_again(project):
    # The same two among five systems: ten pairs, and p = 0.016 is not below 0.05 / 10.
    told = [[1.0, 1.0, 0.5, 0.5, 1.0], [0.5, 0.5, 0.5, 0.0, 0.5], *(shuffled(5, word) for word in "abc")]
    runs = runs_of(project, *told)
    found = asked(runs)
    assert found["pairs"] == 10
    assert re.match(r"To split places \d and \d without the correction: about ", found["advice"])
    assert str(runs[1].pk) in found["places"][str(runs[0].pk)][2]


def test_no_more_cases_are_asked_for_where_only_the_correction_ties(project):
    # Differences of 0.03 ± 0.065 over 40 cases: t = 2.9, p = 0.006, which is not below 0.05 / 21.
    first = [0.6 + 0.03 + (0.065 if number % 2 else -0.065) for number in range(40)]
    found = asked(runs_of(project, first, [0.6] * 40, *(shuffled(40, word) for word in "abcde")))
    assert found["pairs"] == 21
    assert found["advice"] == "Places 1 and 2 would be told if they were the only two."


def test_lower_may_be_the_better_direction(project):
    first, second = runs_of(project, [0.9] * 6 + [0.8], [0.1, 0.2] * 3 + [0.1], direction="lower")
    assert asked([first, second])["places"][str(second.pk)] == [1, 1, []]


def test_a_system_with_few_scores_has_no_place(project):
    first, second, third = runs_of(
        project, [1.0] * 9 + [0.9], [0.0] * 9 + [0.1], [1.0] * 5 + ["failed: time limit"] * 5
    )
    found = asked([first, second, third])
    assert set(found["places"]) == {str(first.pk), str(second.pk)}
    assert found["untold"] == {str(third.pk): "Only 5 of 10 have a score: the others could change its place."}


@pytest.mark.parametrize("score", [random.random, lambda: random.choice((0.0, 1.0, 1.0, 1.0))], ids=["apart", "tied"])
def test_contrasts_from_matrices_are_those_of_pairs(score):
    random.seed(5)
    entries, by_case = [], []
    for _ in range(4):
        rows = [(case, score()) for case in range(60) for _ in range(random.randint(0, 3))]
        counts, sums, moments = _moments(60, [case for case, _ in rows], numpy.array([score for _, score in rows]))
        entries.append(Sums(counts, sums, moments, len(rows), moments, {}, 0))
        scores = {case: [score for other, score in rows if other == case] for case in range(60)}
        by_case.append({case: statistics.fmean(each) for case, each in scores.items() if each})
    for (i, j), found in _contrasts(entries).items():
        both = by_case[i].keys() & by_case[j].keys()
        expected = paired([(case, by_case[i][case] - by_case[j][case]) for case in both], len(both))
        assert (found.value, found.p_value) == pytest.approx((expected.value, expected.p_value))
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
        assert found.clusters == len(both)


def test_four_cases_against_none_prove_nothing_where_all_others_are_tied(project):
    # The plain t interval of 4 differences of 0.5 among 60 leaves out zero: t = 2.05. McNemar's exact p is 0.125.
    first, second = runs_of(project, [1.0] * 4 + [0.5] * 56, [0.5] * 60)
    assert asked([first, second])["places"][str(first.pk)] == [1, 2, [str(second.pk)]]


def test_equal_differences_leave_nothing_to_rounding(project):
    first, second = runs_of(project, [0.4] * 7, [0.3] * 7)
    found = asked([first, second])
    assert found["places"][str(first.pk)] == [1, 2, [str(second.pk)]]  # (1.1)⁻⁷ = 0.51


@pytest.mark.parametrize(("size", "start"), [(1e-9, 0.0), (1.0, 0.0), (2.0, -1.0), (1e3, 0.0), (1.0, 1e6)])
def test_places_by_numbers_that_are_no_shares_do_not_depend_on_their_unit(size, start):
    entries, drawn = [], []
    for shift in (0.0, 0.03, 0.25):
        numbers = numpy.array([start + size * (score * 0.7 + shift) for score in shuffled(40, str(shift))])
        drawn.append(numbers)
        counts, sums, moments = _moments(40, list(range(40)), numbers)
        entries.append(Sums(counts, sums, moments, 40, moments, {}, 0))
    found = _contrasts(entries, is_share=False)
    for (i, j), each in found.items():
        assert each.p_value == pytest.approx(stats.ttest_rel(drawn[i], drawn[j]).pvalue, rel=1e-4)


def test_figures_over_all_cases_are_those_of_the_summary(project):
    runs = runs_of(project, shuffled(20, "a"), [*shuffled(19, "b"), "unscored: unparsed"])
    found = asked(runs)
    for run in runs:
        kept, known = Estimate(**found["figures"][str(run.pk)]), summaries([run])[run.pk]
        assert (kept.value, kept.low, kept.high) == pytest.approx(
            (known.estimate.value, known.estimate.low, known.estimate.high)
        )
        assert (kept.n, kept.clusters, kept.asked) == (known.estimate.n, known.estimate.clusters, 20)
        counts = found["counts"][str(run.pk)]
        assert counts["failing"] == known.below
        assert {name: counts[name] for name in known.counts} == known.counts


def test_a_slice_counts_its_cases_alone(project):
    runs = runs_of(project, [1.0, 1.0, 0.0, 0.5], [0.0, 0.5, 1.0, 1.0])
    ids = list(Case.objects.order_by("pk").values_list("pk", flat=True))
    Case.objects.filter(pk__in=ids[:2]).update(split="test", metadata={"topic": "billing", "n": 3})
    by_split, by_field = asked(runs, split="test"), asked(runs, field="topic", value="billing")
    assert by_split == by_field == asked(runs, field="n", value="3")
    figure = Estimate(**by_split["figures"][str(runs[0].pk)])
    assert (figure.value, figure.n, figure.asked) == (1.0, 2, 2)
    assert Estimate(**by_split["figures"][str(runs[1].pk)]).value == 0.25
    assert asked(runs, split="none")["untold"] == {str(run.pk): "No such case was judged." for run in runs}


def test_several_answers_to_a_case_are_one_case(project):
    runs = runs_of(project, [1.0, 0.5, 0.0], [0.5, 0.5, 0.5])
    first = Output.objects.filter(experiment=runs[0].experiment).order_by("pk").first()
    again = add_output(runs[0].experiment, first.case, attempt=1)
    Evaluation.objects.create(
        run=runs[0], output=again, state=Status.SCORED, score=0.0, passed=False, settled_at=runs[0].created_at
    )
    found = asked(runs)
    figure = Estimate(**found["figures"][str(runs[0].pk)])
    assert (figure.value, figure.n, figure.clusters) == (0.375, 4, 3)
    passing = Estimate(**found["passing"][str(runs[0].pk)])
    assert (passing.value, passing.clusters) == (0.5, 3)


def test_a_measure_is_ranked_by_its_own_direction(project):
    new, old = experiment_of(project, 12, "new"), experiment_of(project, 12, "old")
    base = experiment_of(project, 12, "base")
    version = preference(project, rehearsal_of(project))
    steady = compared(new, base, version, [0.5] * 12, flipped=(3,))
    shaky = compared(old, base, version, [0.5] * 12, flipped=range(11))
    found = asked([steady, shaky], measure="flipped")
    assert Estimate(**found["figures"][str(shaky.pk)]).value == pytest.approx(11 / 12)
    assert found["places"][str(steady.pk)] == [1, 1, []]


def test_the_cases_that_tell_systems_apart_come_with_the_answers_to_open(project):
    runs = runs_of(project, [1.0, 0.5, 0.0, 1.0], [1.0, 1.0, 0.2, "failed: thrown"])
    ids = list(Case.objects.order_by("pk").values_list("pk", flat=True))
    found = telling([run.pk for run in runs], "", "", "", "")
    assert (found["cases"], found["lost"]) == ([ids[2], ids[1]], 2)
    assert found["scores"] == [[0.0, 0.5], [0.2, 1.0]]
    assert found["outputs"][0] == [
        Output.objects.get(experiment=runs[0].experiment, case=ids[2]).pk,
        Output.objects.get(experiment=runs[0].experiment, case=ids[1]).pk,
    ]


def test_costs_are_means_and_latencies_medians(project):
    experiment = experiment_of(project, 4)
    for output, latency, cost in zip(
        Output.objects.order_by("pk"), (900, 100, 300, None), (0.002, 0.004, None, 0.003), strict=True
    ):
        Output.objects.filter(pk=output.pk).update(latency_ms=latency, cost_usd=cost)
    assert spending(experiment.pk) == {
        "outputs": 4, "cases": 4, "errors": 0, "cost_usd": pytest.approx(0.003), "latency_ms": 300
    }  # fmt: skip
    Output.objects.filter(latency_ms=None).update(latency_ms=500)
    assert spending(experiment.pk)["latency_ms"] == 400


def test_fields_with_a_few_values_are_ways_to_slice(project):
    experiment = experiment_of(project, 30)
    for number, case in enumerate(Case.objects.order_by("pk")):
        topic = {"topic": "billing" if number < 10 else "contract", "id": f"id {number}", "same": "x"}
        Case.objects.filter(pk=case.pk).update(metadata=topic, split="test" if number < 6 else "")
    assert slices(experiment.dataset_version_id) == {
        "splits": {"test": 6},
        "fields": {"topic": [["contract", 20], ["billing", 10]]},
    }


# --- Kept answers -----------------------------------------------------------------------------------------------------
def question(run, rows=4):
    made = working_out.made_from([run])
    return working_out.Question(
        "experiments.analysis.leaderboard_ranking.ranked", ((run.pk,), "", "", "", ""), made, rows
    )


def test_an_answer_is_kept_until_a_run_changes(project, django_assert_num_queries):
    (run,) = runs_of(project, [0.5, 0.5, 1.0, 1.0])
    first = working_out.answers(project.pk, [question(run)])
    with django_assert_num_queries(1):
        assert working_out.answers(project.pk, [question(run)]) == first
    Run.objects.filter(pk=run.pk).update(revision=F("revision") + 1)
    run.refresh_from_db()
    run.evaluation_set.filter(score=0.5).update(score=0.0)
    again = working_out.answers(project.pk, [question(run)])
    assert Estimate(**again[question(run)]["figures"][str(run.pk)]).value == 0.5
    assert Derived.objects.count() == 1


def test_what_is_too_much_for_a_page_is_asked_of_a_worker_once(project):
    (run,) = runs_of(project, [0.5, 0.5, 1.0, 1.0])
    large = question(run, rows=working_out.AT_ONCE + 1)
    assert working_out.answers(project.pk, [large]) == {}
    assert working_out.answers(project.pk, [large]) == {}
    task = OrmQ.objects.get().task
    assert task["func"] == working_out.WORK_OUT
    working_out.work_out(*task["args"])
    assert large in working_out.answers(project.pk, [large])


def test_the_oldest_answers_make_room(project, monkeypatch):
    monkeypatch.setattr(working_out, "MOST_KEPT", 2)
    for run in runs_of(project, [0.5, 1.0], [0.0, 1.0], [1.0, 1.0]):
        working_out.answers(project.pk, [question(run)])
    assert Derived.objects.count() == 2


def test_whole_numbers_agree_with_the_estimate_of_their_moments():
    _, _, moments = _moments(3, [0, 0, 1, 2], numpy.array([0.2, 0.4, 0.6, 1.0]))
    expected = Moments.of([(0, 0.2), (0, 0.4), (1, 0.6), (2, 1.0)])
    assert estimate(moments, 4) == estimate(expected, 4)


def test_cases_that_all_systems_fail_give_way_to_those_that_tell_them_apart(project, monkeypatch):
    monkeypatch.setattr(leaderboard_cases, "SHOWN", 2)
    runs = runs_of(project, [0.0, 0.0, 1.0, 0.4, 1.0], [0.0, 1.0, 0.2, 0.5, 1.0])
    ids = list(Case.objects.order_by("pk").values_list("pk", flat=True))
    found = telling([run.pk for run in runs], "", "", "", "")
    assert (found["cases"], found["lost"]) == ([ids[1], ids[2]], 4)
