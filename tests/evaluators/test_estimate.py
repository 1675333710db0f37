"""Figures and their intervals, against published numbers and by simulation."""

import numpy
import pytest
from scipy import stats

from evaluators.stats.estimate import Moments, estimate, student_t, wilson


def of(scores, asked=None):
    pairs = list(scores)
    return estimate(Moments.of(pairs), asked or len(pairs))


def test_wilson_gives_the_published_interval():
    # Newcombe (1998), table I, method 3: 81 of 263, 15 of 148, 0 of 20 and 1 of 29.
    for successes, n, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        assert wilson(successes, n) == pytest.approx((low, high), abs=5e-5)


def test_student_quantiles_are_those_of_the_tables():
    for freedom in (0.6, 1, 1.3, 2, 4.5, 30, 1e6):
        assert student_t(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-9)
    for freedom, quantile in [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (120, 1.980)]:
        assert student_t(freedom) == pytest.approx(quantile, abs=6e-4)


def test_a_mean_of_five_by_hand():
    figure = of(enumerate([0.2, 0.4, 0.6, 0.8, 0.9]))
    # Mean 0.58; sum of squared deviations 0.328; standard error √(0.328 / 4 / 5) = 0.128062; t(4) = 2.776445.
    # Log-odds ln(0.58 / 0.42) = 0.322773 ± 2.776445 × 0.128062 / (0.58 × 0.42) = 1.459592.
    assert figure.standard_error == pytest.approx(0.128062, abs=1e-6)
    assert (figure.value, figure.low, figure.high) == pytest.approx((0.58, 0.242904, 0.855990), abs=1e-5)


def test_numbers_that_are_no_shares_have_an_interval_of_their_own_scale():
    pairs = list(enumerate([2.0, 4.0, 6.0, 8.0, 9.0]))
    tokens = estimate(Moments.of(pairs), 5, is_share=False)
    # Logarithm of 5.8 ± 2.776445 × 1.280625 / 5.8.
    assert (tokens.low, tokens.high) == pytest.approx((5.8 / 1.846016, 5.8 * 1.846016), rel=1e-5)
    below = estimate(Moments.of([(case, value - 5) for case, value in pairs]), 5, is_share=False)
    assert (below.low, below.high) == pytest.approx((0.8 - 3.555585, 0.8 + 3.555585), abs=1e-5)


def test_numbers_of_any_size_are_told_apart_alike():
    pairs = [(case, value * 1e-9) for case, value in enumerate([2.0, 4.0, 6.0, 8.0, 9.0])]
    tiny = estimate(Moments.of(pairs), 5, is_share=False)
    assert tiny.refused is None
    assert (tiny.low, tiny.high) == pytest.approx((5.8e-9 / 1.846016, 5.8e-9 * 1.846016), rel=1e-5)
    for value in (0.0, 1e-9, 0.1, 1e9):
        same = estimate(Moments.of((case, value) for case in range(5)), 5, is_share=False)
        assert same.refused == "Every case gives the same number, so no interval can be told."


def test_cases_with_many_rows_are_worth_fewer_than_they_are():
    """Twelve rows of which one case has eight: (8 + 4)² / (64 + 4) is worth about two cases of one size."""
    uneven = Moments.of([(min(row, 4), row % 3 / 2) for row in range(12)])
    assert (uneven.clusters, uneven.effective) == (5, pytest.approx(144 / 68))
    even = Moments.of([(row % 4, row % 3 / 2) for row in range(12)])
    assert even.effective == even.clusters == 4


def test_one_case_that_outweighs_all_others_says_nothing():
    found = of([*(("much", place / 99) for place in range(100)), ("little", 0.4)])
    assert (found.value, found.low) == (pytest.approx(0.5, abs=0.01), None)
    assert "Nearly all scores belong to one case" in found.refused


def test_repeated_answers_to_a_case_count_as_one_cluster():
    alone = of([(case, case % 2 * 0.5 + 0.25) for case in range(40)])
    repeated = of([(case, case % 2 * 0.5 + 0.25) for case in range(40) for _ in range(10)])
    assert repeated.n == 400
    assert repeated.clusters == 40
    assert (repeated.low, repeated.high) == pytest.approx((alone.low, alone.high))


def test_what_is_not_scored_is_coverage_and_never_a_zero():
    figure = of(enumerate([1.0, 1.0, 0.0, 1.0]), asked=10)
    assert figure.value == 0.75
    assert figure.coverage == 0.4


def test_it_refuses_with_a_sentence():
    assert of([], asked=5).refused == "Nothing is scored yet."
    lone = of([("a", 0.3), ("a", 0.5)])
    assert lone.value == 0.4
    assert lone.low is None
    assert "One case alone" in lone.refused


def test_scores_that_never_differ_still_have_an_interval():
    figure = of(enumerate([0.6] * 20))
    assert figure.low == pytest.approx(0.6 * 0.05 ** (1 / 20))
    assert figure.low < figure.value < figure.high < 1


def test_cases_whose_means_never_differ_still_have_an_interval():
    figure = of([(case, score) for case in range(20) for score in (0.0, 1.0)])
    assert figure.low < figure.value == 0.5 < figure.high
    # Sums of these leave something to rounding, which is no interval.
    uneven = of([(case, score) for case in range(10) for score in (0.883861, 0.3, 0.492)])
    assert uneven.low == pytest.approx(uneven.value * 0.05 ** (1 / 10))


# --- By simulation ----------------------------------------------------------------------------------------------------
def one_each(draw):
    return lambda rng, cases: (numpy.arange(cases), draw(rng, cases))


def some_each(rows):
    """Cases differ in how often they pass, 90 % on average; `rows` says how many rows they have."""

    def draw(rng, cases):
        clusters = numpy.repeat(numpy.arange(cases), rows(rng, cases))
        return clusters, (rng.random(len(clusters)) < rng.beta(2.1, 0.7 / 3, cases)[clusters]).astype(float)

    return draw


PASSED = {
    "shares": (one_each(lambda rng, n: (rng.random(n) < 0.84).astype(float)), 0.84),
    "rare failures": (one_each(lambda rng, n: (rng.random(n) < 0.97).astype(float)), 0.97),
    "an enum": (one_each(lambda rng, n: rng.choice([0, 0.2, 0.6, 1, 1, 1], n)), 3.8 / 6),
    "an enum near its end": (one_each(lambda rng, n: rng.choice([0, 0.5, 1], n, p=[0.03, 0.07, 0.9])), 0.935),
    "skewed scores": (one_each(lambda rng, n: rng.beta(0.5, 4, n)), 0.5 / 4.5),
    "mostly perfect scores": (one_each(lambda rng, n: numpy.where(rng.random(n) < 0.8, 1, rng.random(n))), 0.9),
    "three attempts": (some_each(lambda rng, n: numpy.full(n, 3)), 0.9),
    "missing attempts": (some_each(lambda rng, n: rng.binomial(3, 0.6, n)), 0.9),
    "uneven attempts": (some_each(lambda rng, n: rng.geometric(0.25, n)), 0.9),
}


def coverage(draw, truth, cases, runs=2000, **options):
    rng = numpy.random.default_rng(cases)
    hits = []
    for _ in range(runs):
        clusters, scores = draw(rng, cases)
        pairs = zip(clusters.tolist(), scores.tolist(), strict=True)
        figure = estimate(Moments.of(pairs), len(scores), **options)
        hits.append(figure.low <= truth <= figure.high)
    return sum(hits) / runs


@pytest.mark.parametrize("regime", PASSED)
@pytest.mark.parametrize("cases", [60, 200])
def test_intervals_cover_the_truth_as_often_as_they_say(regime, cases):
    assert 0.93 <= coverage(*PASSED[regime], cases) <= 0.975


@pytest.mark.parametrize("regime", ["shares", "an enum", "missing attempts", "three attempts"])
def test_few_cases_give_wide_intervals_rather_than_wrong_ones(regime):
    assert coverage(*PASSED[regime], 20) >= 0.93


@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (lambda rng, n: rng.exponential(300, n), 300),
        (lambda rng, n: rng.poisson(0.5, n).astype(float), 0.5),
        (lambda rng, n: numpy.exp(rng.normal(0, 0.5, n)), numpy.exp(0.125)),
        (lambda rng, n: rng.normal(-1, 5, n), -1),
    ],
    ids=["latencies", "counts", "lengths", "below zero"],
)
def test_intervals_of_other_numbers_cover_the_truth_as_often_as_they_say(draw, truth):
    assert 0.93 <= coverage(one_each(draw), truth, 60, is_share=False) <= 0.97
