"""Figures and their intervals, against published numbers and by simulation."""

import random

import pytest

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
    for freedom, quantile in [(1, 12.706), (2, 4.303), (3, 3.182), (5, 2.571), (10, 2.228), (30, 2.042), (120, 1.980)]:
        assert student_t(freedom) == pytest.approx(quantile, abs=6e-4)


def test_a_mean_of_five_by_hand():
    figure = of(enumerate([0.2, 0.4, 0.6, 0.8, 0.9]))
    # Mean 0.58; sum of squared deviations 0.328; half = 2.7764 × √(0.328 / 4 / 5).
    assert (figure.value, figure.low, figure.high) == pytest.approx((0.58, 0.224447, 0.935553), abs=1e-5)


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


@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (lambda rng, case: [(case, float(rng.random() < 0.84))], 0.84),
        (lambda rng, case: [(case, rng.choice([0, 0.2, 0.6, 1, 1, 1]))], 3.8 / 6),
        (lambda rng, case: [(case, float(rng.random() < p)) for p in [rng.random() ** 0.5] for _ in range(3)], 2 / 3),
    ],
    ids=["binary", "enum", "three attempts a case"],
)
def test_intervals_cover_the_truth_as_often_as_they_say(draw, truth):
    rng = random.Random(4711)
    covered = 0
    for _ in range(1000):
        figure = of([pair for case in range(80) for pair in draw(rng, case)])
        covered += figure.low <= truth <= figure.high
    assert 930 <= covered <= 970
