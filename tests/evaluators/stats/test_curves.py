"""Curves and areas against scikit-learn, the catalogue's examples, DeLong's variance and by simulation."""

import math

import numpy
import pytest
from sklearn.metrics import average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from evaluators.stats.curves import cuts, mean_area, precision_recall, roc

# Six cases of the catalogue: expected label, then the scores of its classes.
ANIMALS = ["bird", "dog", "bird", "bird", "cat", "dog"]
SCORES = {
    "bird": [0.6, 0, 0.15, 0.15, 0, 0.25],
    "dog": [0.2, 0.1, 0.05, 0.75, 0, 0.35],
    "cat": [0.2, 0.9, 0.8, 0.1, 1, 0.4],
}


def sample(n=400, grid=None, seed=1):
    draw = numpy.random.default_rng(seed)
    scores = draw.normal(size=n)
    scores = scores if grid is None else scores.round(grid)
    return scores, draw.random(n) < 1 / (1 + numpy.exp(-1.5 * scores))


@pytest.mark.parametrize("grid", [None, 1, 0])
def test_areas_and_points_are_those_of_scikit_learn(grid):
    scores, positive = sample(grid=grid)
    found = roc(scores, positive)
    assert found.area.value == pytest.approx(roc_auc_score(positive, scores))
    x, y, thresholds = roc_curve(positive, scores, drop_intermediate=False)
    kept = numpy.isin(thresholds, found.thresholds)
    assert (found.x, found.y) == (pytest.approx(x[kept]), pytest.approx(y[kept]))
    assert len(found.x) <= len(x)
    assert numpy.trapezoid(found.y, found.x) == pytest.approx(numpy.trapezoid(y, x))
    found = precision_recall(scores, positive)
    assert found.area.value == pytest.approx(average_precision_score(positive, scores))
    precision, recall, thresholds = precision_recall_curve(positive, scores)
    assert found.y == pytest.approx(precision[:-1][::-1])
    assert found.x == pytest.approx(recall[:-1][::-1])
    assert found.thresholds == pytest.approx(thresholds[::-1])


@pytest.mark.parametrize(("label", "area"), [("bird", 0.777778), ("dog", 0.625), ("cat", 1.0)])
def test_the_areas_of_the_catalogue(label, area):
    assert roc(SCORES[label], [each == label for each in ANIMALS]).area.value == pytest.approx(area, abs=1e-6)


def test_the_counts_of_the_catalogue():
    table = {cut.threshold: cut for cut in cuts(SCORES["bird"], [each == "bird" for each in ANIMALS])}
    assert len(table) == 19
    low, half, high = table[0.05], table[0.5], table[0.75]
    assert (low.tp, low.fp, low.fn, low.tn, low.precision, low.recall) == (3, 1, 0, 2, 0.75, 1)
    assert low.f1 == pytest.approx(0.857143, abs=1e-6)
    assert (half.tp, half.fp, half.fn, half.tn, half.precision, half.f1) == (1, 0, 2, 3, 1, 0.5)
    assert (high.precision, high.recall, high.f1, high.accuracy) == (None, 0, None, 0.5)


def test_a_score_at_the_threshold_reaches_it():
    scores = [step / 20 for step in range(21)]
    table = cuts(scores, [True] * 21)
    assert [cut.tp for cut in table] == list(range(20, 1, -1))
    assert cuts([0.1 + 0.2, math.nan], [True, True], [0.5])[0].fn == 1


def delong(scores, positive):
    """The variance by the definition: the placements of each row among those of the other class."""
    above, below = scores[positive], scores[~positive]
    wins = (above[:, None] > below).astype(float) + (above[:, None] == below) / 2
    return wins.mean(1).var(ddof=1) / len(above) + wins.mean(0).var(ddof=1) / len(below)


@pytest.mark.parametrize("grid", [None, 1, 0])
def test_the_error_of_the_area_is_that_of_delong(grid):
    scores, positive = sample(grid=grid)
    assert roc(scores, positive).area.standard_error == pytest.approx(math.sqrt(delong(scores, positive)))


def test_the_error_of_average_precision_is_what_the_bootstrap_finds():
    scores, positive = sample(500, grid=1)
    draw = numpy.random.default_rng(2)
    drawn = [draw.integers(0, 500, 500) for _ in range(400)]
    spread = numpy.std([average_precision_score(positive[rows], scores[rows]) for rows in drawn])
    assert precision_recall(scores, positive).area.standard_error == pytest.approx(spread, rel=0.1)


@pytest.mark.parametrize("curve", [roc, precision_recall])
def test_repeated_rows_of_a_case_count_as_one(curve):
    scores, positive = sample(100)
    alone = curve(scores, positive).area
    again = curve(numpy.tile(scores, 3), numpy.tile(positive, 3), numpy.tile(numpy.arange(100), 3)).area
    assert (again.low, again.high) == pytest.approx((alone.low, alone.high), abs=2e-3)
    assert (again.n, again.clusters) == (300, 100)


@pytest.mark.parametrize("curve", [roc, precision_recall])
def test_what_has_no_score_is_left_out_but_was_asked(curve):
    scores, positive = sample(100)
    some = numpy.where(numpy.arange(100) < 20, math.nan, scores)
    found, expected = curve(some, positive).area, curve(scores[20:], positive[20:]).area
    assert found.value == expected.value
    assert (found.n, found.asked) == (80, 100)


@pytest.mark.parametrize("curve", [roc, precision_recall])
@pytest.mark.parametrize(
    ("scores", "positive", "value", "sentence"),
    [
        ([], [], None, "All rows belong to one class"),
        ([0.1, 0.2], [True, True], None, "All rows belong to one class"),
        ([0.1, math.nan], [True, False], None, "All rows belong to one class"),
        ([0.1, 0.9], [False, True], 1, "There are fewer than"),
        (range(60), [place > 29 for place in range(60)], 1, "without a mistake"),
    ],
)
def test_it_refuses_with_a_sentence(curve, scores, positive, value, sentence):
    found = curve(scores, positive).area
    assert (found.value, found.low) == (value, None)
    assert sentence in found.refused


def test_a_hundred_thousand_rows_with_few_different_scores_make_a_short_curve():
    scores, positive = sample(100_000, grid=0)
    assert len(roc(scores, positive).x) < 15


# --- By simulation ----------------------------------------------------------------------------------------------------
def graded(draw, cases, rows, share, distance, by_case):
    """Scores that scatter between cases as within them; a class for each case or for each row; a tenth is missing."""
    clusters = numpy.repeat(numpy.arange(cases), rows)
    positive = (draw.random(cases) < share)[clusters] if by_case else draw.random(cases * rows) < share
    scores = distance * positive + draw.normal(size=cases)[clusters] * 0.7 + draw.normal(size=cases * rows)
    scores[draw.random(cases * rows) < 0.1] = math.nan
    return scores, positive, clusters


@pytest.mark.parametrize(
    ("cases", "rows", "share", "distance", "by_case"),
    [(80, 1, 0.5, 1.5, True), (200, 1, 0.2, 1, True), (60, 3, 0.4, 1, False), (100, 3, 0.5, 3, True)],
    ids=["one row a case", "few positives", "both classes in a case", "nearly apart"],
)
def test_intervals_cover_the_truth_as_often_as_they_say(cases, rows, share, distance, by_case):
    draw = numpy.random.default_rng(cases)
    many = graded(draw, 200_000, rows, share, distance, by_case)
    truths = [curve(*many).area.value for curve in (roc, precision_recall)]
    hits, told = numpy.zeros(2), numpy.zeros(2)
    for _ in range(2000):
        rows_of_run = graded(draw, cases, rows, share, distance, by_case)
        for place, curve in enumerate((roc, precision_recall)):
            found = curve(*rows_of_run).area
            if found.low is not None:
                told[place] += 1
                hits[place] += found.low <= truths[place] <= found.high
    assert (told > 1900).all()
    assert ((hits / told > 0.93) & (hits / told < 0.97)).all()


def test_a_mean_of_areas_covers_the_truth_of_the_mean_as_often_as_it_says():
    draw, inside, rounds, cases = numpy.random.default_rng(5), 0, 300, 120
    big = drawn_labels(draw, 200_000)
    truth = numpy.mean([roc_auc_score(big[1] == place, big[0][place]) for place in range(3)])
    for _ in range(rounds):
        scores, right = drawn_labels(draw, cases)
        figure = mean_area([roc(scores[place], right == place) for place in range(3)])
        inside += figure.low <= truth <= figure.high
    assert 0.92 <= inside / rounds <= 0.985


def drawn_labels(draw, cases):
    right = draw.integers(0, 3, cases)
    scores = draw.normal(size=(3, cases))
    scores[right, numpy.arange(cases)] += 1
    return scores, right


def test_one_sided_labels_are_left_out_of_a_mean_or_count_as_asked():
    scores, right = drawn_labels(numpy.random.default_rng(2), 60)
    each = [roc(scores[0], right == 0), roc(scores[1], right == 9)]
    assert mean_area(each).value == pytest.approx(each[0].area.value)
    assert mean_area(each, 1.0).value == pytest.approx((each[0].area.value + 1) / 2)
    assert mean_area(each[1:]).value is None
    assert mean_area([]).refused
