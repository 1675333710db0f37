"""Confusion tables against figures worked out by hand and against the bootstrap."""

import random
import statistics
from collections import Counter

import numpy
import pytest
from sklearn.metrics import f1_score, precision_score, recall_score

from evaluators.stats.confusion import AVERAGES, Classes, confusion, contributions, design_effect
from evaluators.stats.estimate import Moments, wilson

ANIMALS = [("bird", "bird"), ("dog", "cat"), ("bird", "cat"), ("bird", "dog"), ("cat", "cat"), ("dog", "cat")]
TRUTHS = Classes(("true", "false"), positive="true")
# Six cases of three classes, one of them never predicted, one prediction beside the classes.
#          a    b   other
#   a      3    1     0
#   b      1    2     1
#   c      0    2     0
BESIDE = Counter({("a", "a"): 3, ("a", "b"): 1, ("b", "a"): 1, ("b", "b"): 2, ("b", "other"): 1, ("c", "b"): 2})


def table(pairs, labels, average="macro"):
    return confusion(Counter(pairs), Classes(tuple(labels), average))


def of(figures):
    return {
        one.label: (round(one.precision.value, 6), round(one.recall.value, 6), round(one.f1.value, 6), one.support)
        for one in figures
    }


def overall(found):
    return [round(figure.value, 6) for figure in (found.accuracy, found.precision, found.recall, found.f1)]


def test_the_animals_of_the_catalogue():
    found = table(ANIMALS, ["bird", "cat", "dog"])
    assert overall(found) == [0.333333, 0.416667, 0.444444, 0.3]
    assert of(found.classes) == {
        "bird": (1.0, 0.333333, 0.5, 3),
        "cat": (0.25, 1.0, 0.4, 1),
        "dog": (0.0, 0.0, 0.0, 2),
    }
    assert found.counts == Counter(ANIMALS)
    assert found.rows == found.columns == ("bird", "cat", "dog")


def test_the_truth_values_of_the_catalogue():
    pairs = {("true", "true"): 2, ("true", "false"): 1, ("false", "false"): 1, ("false", "true"): 2}
    found = confusion(pairs, TRUTHS)
    assert overall(found) == [0.5, 0.5, 0.666667, 0.571429]
    assert of(found.classes) == {"true": (0.5, 0.666667, 0.571429, 3), "false": (0.5, 0.333333, 0.4, 3)}
    assert found.of_all == "true"


@pytest.mark.parametrize(
    ("average", "figures"),
    [
        # a: P 3/4, R 3/4, F1 3/4; b: P 2/5, R 2/4, F1 4/9; c: P 0 (of none), R 0/2, F1 0
        ("macro", [(3 / 4 + 2 / 5) / 3, (3 / 4 + 2 / 4) / 3, (3 / 4 + 4 / 9) / 3]),
        ("weighted", [(4 * 3 / 4 + 4 * 2 / 5) / 10, 0.5, (4 * 3 / 4 + 4 * 4 / 9) / 10]),
        ("micro", [5 / 9, 5 / 10, 10 / 19]),  # of nine recognised predictions
    ],
)
def test_averages_over_classes(average, figures):
    found = confusion(BESIDE, Classes(("a", "b", "c"), average))
    assert overall(found) == [0.5, *(round(figure, 6) for figure in figures)]
    assert found.columns == ("a", "b", "c", "other")
    assert found.cases == 10


def test_a_figure_of_nothing_counts_as_0_and_has_no_interval():
    never_called = confusion(BESIDE, Classes(("a", "b", "c"))).classes[2].precision
    assert (never_called.value, never_called.low, never_called.n) == (0.0, None, 0)
    assert never_called.refused


def test_a_class_that_never_occurs_counts_in_the_macro_average_and_not_in_the_weighted_one():
    sure = {("a", "a"): 5, ("b", "b"): 5}
    assert confusion(sure, Classes(("a", "b", "c"))).recall.value == pytest.approx(2 / 3)
    assert confusion(sure, Classes(("a", "b", "c"), "weighted")).recall.value == 1.0


def test_shares_have_the_wilson_interval():
    found = confusion(BESIDE, Classes(("a", "b", "c"), "micro"))
    assert (found.accuracy.low, found.accuracy.high) == wilson(5, 10)
    assert (found.recall.low, found.recall.high) == wilson(5, 10)
    assert (found.classes[1].precision.low, found.classes[1].precision.high) == wilson(2, 5)
    assert (found.classes[1].recall.low, found.classes[1].recall.high) == wilson(2, 4)


def test_the_interval_of_f1_is_that_of_the_overlap():
    low, high = wilson(2, 7)  # two cases that are b and were called b, of seven that are or were
    f1 = confusion(BESIDE, Classes(("a", "b", "c"))).classes[1].f1
    assert (f1.low, f1.high) == pytest.approx((2 * low / (1 + low), 2 * high / (1 + high)))
    assert f1.low < f1.value < f1.high


@pytest.mark.parametrize("average", AVERAGES[:2])
def test_the_error_of_an_average_is_what_the_bootstrap_finds(average):
    pairs = [("a", "a")] * 60 + [("a", "b")] * 15 + [("b", "b")] * 30 + [("b", "c")] * 10 + [("c", "c")] * 20
    pairs += [("c", "a")] * 9 + [("c", "other")] * 6
    told_apart, dice = Classes(("a", "b", "c"), average), random.Random(7)
    again = [confusion(Counter(dice.choices(pairs, k=len(pairs))), told_apart) for _ in range(800)]
    found = confusion(Counter(pairs), told_apart)
    for name in ("precision", "recall", "f1"):
        spread = statistics.stdev(getattr(one, name).value for one in again)
        assert getattr(found, name).standard_error == pytest.approx(spread, rel=0.12)


def test_perfect_figures_leave_room_for_error():
    found = confusion({("a", "a"): 6, ("b", "b"): 4}, Classes(("a", "b")))
    assert (found.f1.value, found.f1.high) == (1.0, 1.0)
    assert found.f1.low == pytest.approx(wilson(10, 10)[0])


def test_intervals_stay_within_0_and_1_and_hold_the_value():
    dice = random.Random(3)
    for size in (2, 3, 5, 40):
        pairs = [(dice.choice("abcd"), dice.choice("abcde")) for _ in range(size)]
        for average in AVERAGES:
            found = table(pairs, "abcd", average)
            for figure in (found.accuracy, found.precision, found.recall, found.f1):
                assert 0 <= figure.low <= figure.value <= figure.high <= 1


def test_one_case_says_nothing_about_an_average():
    found = confusion({("a", "a"): 1}, Classes(("a", "b")))
    assert found.precision.value is None
    assert "One case alone" in found.precision.refused
    assert found.accuracy.value == 1.0


def test_an_expected_label_that_nobody_declared_becomes_a_class():
    found = confusion({("z", "a"): 2, ("a", "a"): 1}, Classes(("a",)))
    assert found.rows == ("a", "z")
    assert overall(found)[0] == 0.333333


def test_a_table_of_a_hundred_classes_is_worked_out():
    labels = tuple(f"class {number}" for number in range(100))
    pairs = {(expected, given): 1 for expected in labels for given in labels}
    found = confusion(pairs, Classes(labels))
    assert overall(found) == [0.01, 0.01, 0.01, 0.01]


def test_rows_of_one_case_are_worth_less_than_rows_of_many():
    """Three attempts that are right or wrong together are worth one: the interval is that of a third of the rows."""
    alone, together = Counter(ANIMALS * 5), Counter(ANIMALS * 15)
    right = Moments.of((row // 3, float(ANIMALS[row // 3 % 6][0] == ANIMALS[row // 3 % 6][1])) for row in range(90))
    assert design_effect(right) == pytest.approx(3, rel=0.05)
    one, three = confusion(alone, Classes(("bird",))), confusion(together, Classes(("bird",)), design=3)
    for name in ("accuracy", "precision", "recall", "f1"):
        assert getattr(three, name).value == pytest.approx(getattr(one, name).value)
        assert getattr(three, name).low == pytest.approx(getattr(one, name).low, abs=0.03)
    assert three.accuracy.n == 90


def test_independent_rows_are_worth_one_each():
    dice = random.Random(2)
    assert design_effect(Moments.of((row, float(row % 2)) for row in range(40))) == 1
    assert design_effect(Moments()) == 1
    scattered = Moments.of((row // 2, float(dice.random() < 0.7)) for row in range(4000))
    assert design_effect(scattered) == pytest.approx(1, abs=0.1)


# --- By simulation ----------------------------------------------------------------------------------------------------
def drawn(draw, cases, rows, shares, right, clustered):
    """Rows of cases of three classes; who errs guesses. Where clustered, some cases are harder than others."""
    clusters = numpy.repeat(numpy.arange(cases), rows)
    expected = draw.choice(3, cases, p=shares)[clusters]
    sure = draw.beta(2 * right, 2 * (1 - right), cases)[clusters] if clustered else right
    called = numpy.where(draw.random(len(clusters)) < sure, expected, draw.integers(0, 3, len(clusters)))
    cells, counts = numpy.unique(expected * 3 + called, return_counts=True)
    right = Moments.of(zip(clusters.tolist(), (expected == called).astype(float).tolist(), strict=True))
    pairs = [("abc"[cell // 3], "abc"[cell % 3]) for cell in cells.tolist()]
    return dict(zip(pairs, counts.tolist(), strict=True)), right


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize(
    ("cases", "rows", "shares", "right", "clustered"),
    [
        (60, 1, (0.5, 0.3, 0.2), 0.8, False),
        (150, 1, (0.7, 0.2, 0.1), 0.9, False),
        (300, 1, (0.9, 0.07, 0.03), 0.9, False),
        (100, 3, (0.5, 0.3, 0.2), 0.8, True),
    ],
    ids=["few cases", "uneven classes", "rare classes", "three attempts a case"],
)
def test_intervals_cover_the_truth_as_often_as_they_say(cases, rows, shares, right, clustered, average):
    draw, told_apart = numpy.random.default_rng(cases), Classes(tuple("abc"), average)
    truth = confusion(drawn(draw, 300_000, 1, shares, right, False)[0], told_apart)
    names = ("accuracy", "precision", "recall", "f1")
    hits = numpy.zeros(4)
    for _ in range(600):
        counts, moments = drawn(draw, cases, rows, shares, right, clustered)
        found = confusion(counts, told_apart, design_effect(moments))
        for place, name in enumerate(names):
            hits[place] += getattr(found, name).low <= getattr(truth, name).value <= getattr(found, name).high
    assert ((hits / 600 >= 0.925) & (hits / 600 <= 0.98)).all(), dict(zip(names, hits, strict=True))


@pytest.mark.parametrize("of", ["macro", "weighted", "micro"])
@pytest.mark.parametrize(("kind", "metric"), [((0, 1), precision_score), ((1, 0), recall_score), ((1, 1), f1_score)])
def test_contributions_average_to_the_figure_and_follow_each_case(of, kind, metric):
    draw = random.Random(3)
    pairs = [(label := draw.choice("abc"), label if draw.random() < 0.6 else draw.choice("abc")) for _ in range(400)]
    value, each = contributions(Counter(pairs), ("a", "b", "c"), *kind, of=of)
    assert value == pytest.approx(metric(*zip(*pairs, strict=True), average=of))
    assert sum(each[pair] for pair in pairs) / len(pairs) == pytest.approx(value)
    more = [*pairs, ("a", "b")]
    step = contributions(Counter(more), ("a", "b", "c"), *kind, of=of)[0] - value
    assert step == pytest.approx((each["a", "b"] - value) / len(more), rel=0.05, abs=1e-5)


def test_contributions_to_one_label_come_from_its_own_pairs():
    counts = {("a", "a"): 3, ("a", "b"): 1, ("b", "b"): 4, ("b", "c"): 2}
    value, each = contributions(counts, ("a", "b", "c"), 1, 0, label="a")
    assert value == 0.75
    assert set(each) == {("a", "a"), ("a", "b")}
