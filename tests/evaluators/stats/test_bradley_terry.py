"""Strengths against published fits and by simulation."""

import math

import numpy
import pytest

from evaluators.stats.bradley_terry import bradley_terry
from evaluators.stats.ranking import rank

# Agresti, Categorical Data Analysis (2002), table 10.10: the American League East of 1987, wins of rows over columns.
BASEBALL = {
    "Milwaukee": (0, 7, 9, 7, 7, 9, 11),
    "Detroit": (6, 0, 7, 5, 11, 9, 9),
    "Toronto": (4, 6, 0, 7, 7, 8, 12),
    "New York": (6, 8, 6, 0, 6, 7, 10),
    "Boston": (6, 2, 6, 7, 0, 7, 12),
    "Cleveland": (4, 4, 5, 6, 6, 0, 6),
    "Baltimore": (2, 4, 1, 3, 1, 7, 0),
}
# Stigler (1994): how often journals are cited (rows) by one another (columns).
CITATIONS = {
    "Biometrika": (0, 730, 498, 221),
    "Comm. Statist.": (33, 0, 68, 17),
    "JASA": (320, 813, 0, 142),
    "JRSS B": (284, 276, 325, 0),
}


def played(wins, **options):
    """Every win is a comparison of its own."""
    names = list(wins)
    rows = [(i, j) for i, name in enumerate(names) for j, n in enumerate(wins[name]) for _ in range(n)]
    first, second = numpy.array(rows).T
    return bradley_terry(names, numpy.arange(len(rows)), first, second, numpy.ones(len(rows)), **options)


@pytest.mark.parametrize("resamples", [0, 500])
def test_the_baseball_of_agresti(resamples):
    found = played(BASEBALL, reference="Baltimore", resamples=resamples).strengths
    published = {"Milwaukee": (1.5814, 0.343), "Detroit": (1.4364, 0.340), "Toronto": (1.2945, 0.337)}
    published |= {"New York": (1.2476, 0.336), "Boston": (1.1077, 0.334), "Cleveland": (0.6839, 0.332)}
    for name, (strength, error) in published.items():
        assert found[name].value == pytest.approx(strength, abs=5e-5)
        assert found[name].standard_error == pytest.approx(error, rel=0.17 if resamples else 0.07)
        assert found[name].n == 78


def test_the_citations_of_stigler():
    found = played(CITATIONS, reference="Biometrika").strengths
    for name, strength in {"Comm. Statist.": -2.9491, "JASA": -0.4796, "JRSS B": 0.2690}.items():
        assert found[name].value == pytest.approx(strength, abs=5e-5)
    assert (found["Biometrika"].value, found["Biometrika"].low) == (0, 0)


def test_strengths_are_around_zero_without_a_reference():
    found = played(BASEBALL).strengths
    assert sum(one.value for one in found.values()) == pytest.approx(0, abs=1e-9)


def test_two_entries_have_the_log_odds_of_their_wins():
    found = played({"a": (0, 30), "b": (10, 0)}, reference="b")
    assert found.strengths["a"].value == pytest.approx(numpy.log(3))
    assert found.gaps["a", "b"].p_value < 0.05


def test_probabilities_and_ties_count_as_the_share_that_they_are():
    won = numpy.full(50, 0.5)
    assert bradley_terry(["a", "b"], numpy.arange(50), [0] * 50, [1] * 50, won).strengths["a"].value == pytest.approx(0)
    won = numpy.where(numpy.arange(50) % 2, 0.9, 0.6)
    found = bradley_terry(["a", "b"], numpy.arange(50), [0] * 50, [1] * 50, won, reference="b")
    assert found.strengths["a"].value == pytest.approx(numpy.log(3))


def test_repeated_judgements_of_a_case_count_as_one():
    won = numpy.arange(60) % 3 / 2
    alone = bradley_terry(["a", "b"], numpy.arange(60), [0] * 60, [1] * 60, won, resamples=0)
    again = bradley_terry(["a", "b"], numpy.arange(240) % 60, [0] * 240, [1] * 240, numpy.tile(won, 4), resamples=0)
    assert again.strengths["a"].standard_error == pytest.approx(alone.strengths["a"].standard_error)
    assert (again.strengths["a"].n, again.strengths["a"].clusters) == (240, 60)


def test_what_has_no_score_is_left_out_but_was_asked():
    won = numpy.array([1, 0, numpy.nan, 0.5] * 20)
    found = bradley_terry(["a", "b"], numpy.arange(80), [0] * 80, [1] * 80, won).strengths["a"]
    assert (found.n, found.asked, found.coverage) == (60, 80, 0.75)


def test_the_same_rows_give_the_same_interval():
    assert played(BASEBALL) == played(BASEBALL)


@pytest.mark.parametrize(
    ("wins", "sentence"),
    [
        ({"a": (0, 9), "b": (0, 0)}, "“a” won every comparison, so its strength has no bound."),
        ({"a": (0, 3, 9), "b": (3, 0, 5), "c": (0, 0, 0)}, "2 of 3 won every comparison with the others"),
        ({"a": (0, 3, 0), "b": (3, 0, 0), "c": (0, 0, 0)}, "“a” and “c” were never compared, not even through others."),
        ({"a": (0, 0, 3), "b": (0, 0, 4), "c": (0, 0, 0)}, "“a” won every comparison"),
    ],
)
def test_strengths_without_bounds_are_refused_with_a_sentence(wins, sentence):
    found = played(wins)
    assert found.refused.startswith(sentence)
    assert found.strengths == {}


def test_too_few_or_too_lopsided_cases_give_strengths_without_intervals():
    few = played({"a": (0, 4), "b": (2, 0)}).strengths["a"]
    assert few.low is None
    assert "Fewer than ten cases" in few.refused
    lopsided = played({"a": (0, 60), "b": (1, 0)}).strengths["a"]
    assert lopsided.low is None
    assert "so nearly always" in lopsided.refused
    assert played({"a": (0, 60), "b": (1, 0)}).gaps["a", "b"].p_value is None


def test_millions_of_rows_say_what_a_few_of_their_kind_say():
    """Rows are looked at some at a time; every case here answers as the one of ten before it did."""
    won = numpy.resize([1, 1, 0, 1, 0.5, 1, 0, 1, numpy.nan, 1], 600_000)
    many, few = (
        bradley_terry(["a", "b"], numpy.arange(n), numpy.zeros(n, int), numpy.ones(n, int), won[:n], resamples=0)
        for n in (600_000, 6_000)
    )
    assert many.strengths["a"].value == pytest.approx(few.strengths["a"].value)
    assert many.strengths["a"].standard_error == pytest.approx(few.strengths["a"].standard_error / 10, rel=1e-3)
    assert (many.strengths["a"].n, many.strengths["a"].asked) == (540_000, 600_000)


def test_gaps_make_a_ranking():
    found = played(BASEBALL)
    ranked = rank({name: one.value for name, one in found.strengths.items()}, found.gaps)
    assert (ranked[0].name, ranked[0].rank_low, ranked[0].rank_high) == ("Milwaukee", 1, 6)
    assert (ranked[-1].name, ranked[-1].rank_low) == ("Baltimore", 6)


def test_fifty_entries_over_two_thousand_cases_are_worked_out():
    draw = numpy.random.default_rng(1)
    cases, first = draw.integers(0, 2000, 40_000), draw.integers(0, 50, 40_000)
    second = (first + draw.integers(1, 50, 40_000)) % 50
    won = (draw.random(40_000) < 1 / (1 + numpy.exp((first - second) / 25))).astype(float)
    found = bradley_terry([f"system {i}" for i in range(50)], cases, first, second, won, resamples=0).strengths
    assert found["system 0"].value == pytest.approx(24.5 / 25, abs=0.2)


# --- By simulation ----------------------------------------------------------------------------------------------------
TRUE = numpy.array([-0.8, -0.3, 0.3, 0.8])
PAIRS = numpy.array([(i, j) for i in range(4) for j in range(i + 1, 4)])


def season(draw, cases):
    """All pairs of four on every case; systems do better on some cases than on others, and a fifth is not scored."""
    abilities = TRUE + draw.normal(0, 1, (cases, 4))
    odds = abilities[:, PAIRS[:, 1]] - abilities[:, PAIRS[:, 0]]
    won = (draw.random(odds.shape) < 1 / (1 + numpy.exp(odds))).astype(float)
    won[draw.random(won.shape) < 0.2] = numpy.nan
    return numpy.repeat(numpy.arange(cases), 6), *numpy.tile(PAIRS.T, cases), won.ravel()


@pytest.mark.parametrize(("cases", "resamples", "runs"), [(60, 0, 2000), (25, 0, 1000), (60, 120, 1000)])
def test_intervals_cover_the_truth_as_often_as_they_say(cases, resamples, runs):
    draw, names = numpy.random.default_rng(cases), ["a", "b", "c", "d"]
    truth = bradley_terry(names, *season(draw, 100_000), resamples=0).strengths
    hits = []
    for _ in range(runs):
        found = bradley_terry(names, *season(draw, cases), resamples=resamples).strengths
        hits.append([found[name].low <= truth[name].value <= found[name].high for name in names])
    assert ((numpy.mean(hits, 0) > 0.93) & (numpy.mean(hits, 0) < 0.97)).all()


@pytest.mark.parametrize("resamples", [0, 500])
@pytest.mark.parametrize("share", [0.5, 0.75])
def test_cases_that_all_tell_the_same_prove_nothing(share, resamples):
    cases = numpy.arange(40)
    found = bradley_terry(
        ["a", "b", "c"],
        cases,
        cases % 2 * 2,  # a and c, each against b
        numpy.ones(40, int),
        numpy.where(cases % 2, cases % 4 / 4, share),
        reference="b",
        resamples=resamples,
    )
    assert found.strengths["a"].value == pytest.approx(math.log(share / (1 - share)))
    assert "Every case tells the same" in found.strengths["a"].refused
    assert found.gaps["a", "b"].p_value is None
    assert found.strengths["c"].low is not None
