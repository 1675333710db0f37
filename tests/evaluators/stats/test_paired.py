"""The mean of paired differences and what it proves."""

import random

import numpy
import pytest
from scipy import stats

from evaluators.stats.paired import BETTER, CANNOT_TELL, WORSE, paired


def of(differences):
    pairs = list(enumerate(differences))
    return paired(pairs, len(pairs))


def test_five_differences_by_hand():
    found = of([0.1, 0.2, 0.3, 0.4, 0.5])
    # Mean 0.3, sd 0.158114, t(4) = 2.776445: half = 0.196324.
    assert (found.value, found.low, found.high) == pytest.approx((0.3, 0.103676, 0.496324), abs=1e-5)
    assert found.verdict("higher") == BETTER
    assert found.verdict("lower") == WORSE


def test_an_interval_with_zero_inside_cannot_tell():
    found = of([-0.2, 0.3, 0.1, -0.1])
    assert found.low < 0 < found.high
    assert found.verdict("higher") == found.verdict("lower") == CANNOT_TELL


def test_several_answers_to_a_case_count_as_one():
    alone = paired([(case, (case % 3) / 10) for case in range(30)], 30)
    repeated = paired([(case, (case % 3) / 10) for case in range(30) for _ in range(4)], 120)
    assert (repeated.low, repeated.high) == pytest.approx((alone.low, alone.high))
    assert (repeated.n, repeated.clusters) == (120, 30)


def test_pairs_that_are_all_equal_still_have_an_interval():
    found = of([0.0] * 50)
    may_differ = 1 - 0.05 ** (1 / 50)
    assert (found.value, found.low, found.high) == pytest.approx((0, -may_differ, may_differ))
    assert found.verdict("higher") == CANNOT_TELL


@pytest.mark.parametrize("differences", [[0.959], [0.803, -0.384, -0.805], [0.609, 0.663, 0.113], [0.1, 0.2, 0.3]])
@pytest.mark.parametrize("cases", [3, 5, 100])
def test_what_rounding_leaves_of_cases_that_are_equal_proves_nothing(differences, cases):
    told = paired([(case, each) for case in range(cases) for each in differences], cases * len(differences))
    assert told.standard_error == 0
    assert told.p_value == pytest.approx((1 + abs(sum(differences) / len(differences))) ** -cases)


def test_the_interval_stays_within_what_differences_can_be():
    found = of([1.0, 1.0, -1.0])
    assert (found.low, found.high) == (-1, 1)


def test_it_refuses_with_a_sentence():
    assert of([]).refused == "No output has a score from both."
    assert of([]).verdict("higher") == CANNOT_TELL
    alone = of([0.4])
    assert (alone.value, alone.low) == (0.4, None)
    assert "One case alone" in alone.refused
    assert alone.verdict("higher") == CANNOT_TELL


def test_the_p_value_is_that_of_the_paired_t_test():
    random_ = random.Random(3)
    draws = [random_.gauss(0.1, 0.3) for _ in range(25)]
    assert of(draws).p_value == pytest.approx(stats.ttest_1samp(draws, 0).pvalue)


@pytest.mark.parametrize("differences", [[0.0] * 30, [0.1] * 20, [0.4] * 20, [0.3, 0.2, 0.1, -0.1], [-0.2, -0.3]])
def test_the_p_value_is_below_5_in_100_exactly_where_the_interval_leaves_out_zero(differences):
    found = of(differences)
    assert (found.p_value < 0.05) == (found.verdict("higher") != CANNOT_TELL)


def test_a_refused_difference_has_no_p_value():
    assert of([0.3]).p_value is None
    assert of([0.3]).deviation is None


def test_the_deviation_is_that_of_cases():
    assert of([0.1, 0.2, 0.3, 0.4, 0.5]).deviation == pytest.approx(0.158114, abs=1e-6)


# --- By simulation ----------------------------------------------------------------------------------------------------
def alone(draw):
    return lambda rng, cases: (numpy.arange(cases), draw(rng, cases))


def attempts(rng, cases):
    """Up to four attempts a case; the second passes where the first does not in 10 % on average, else 5 %."""
    clusters = numpy.repeat(numpy.arange(cases), numpy.maximum(1, rng.binomial(4, 0.7, cases)))
    gained, lost = rng.beta(1, 9, cases)[clusters], rng.beta(1, 19, cases)[clusters]
    luck = rng.random(len(clusters))
    return clusters, numpy.where(luck < gained, 1.0, numpy.where(luck > 1 - lost, -1.0, 0.0))


REGIMES = {
    "steps": (alone(lambda rng, n: rng.choice((-0.5, 0, 0, 0, 0.5, 0.5), n)), 1 / 12, 40),
    "numbers": (alone(lambda rng, n: rng.normal(0.1, 0.2, n)), 0.1, 15),
    "mostly the same": (alone(lambda rng, n: rng.choice((-1.0, 0, 1), n, p=(0.04, 0.86, 0.1))), 0.06, 100),
    "only losses": (alone(lambda rng, n: -(rng.random(n) < 0.1).astype(float)), -0.1, 200),
    "skewed": (alone(lambda rng, n: rng.beta(0.5, 2, n) - 0.2), 0, 60),
    "attempts": (attempts, 0.05, 60),
}


@pytest.mark.parametrize("regime", REGIMES)
def test_the_interval_holds_in_95_of_100(regime):
    draw, truth, cases = REGIMES[regime]
    rng, hits = numpy.random.default_rng(11), 0
    for _ in range(2000):
        clusters, differences = draw(rng, cases)
        found = paired(zip(clusters.tolist(), differences.tolist(), strict=True), len(clusters))
        hits += found.low <= truth <= found.high
    assert 0.93 <= hits / 2000 <= 0.97
