"""Scores of every label: the catalogue's counts, and everything against scikit-learn."""

import numpy
import pytest
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

from evaluators.stats.labelled import NONE, Best, LabelScores, bucket, crossed, told


def made(labels, rows):
    scores = numpy.array([[given.get(label, 0.0) for _, given in rows] for label in labels], float)
    return LabelScores(labels, scores, numpy.array([labels.index(right) for right, _ in rows]))


def drawn(outputs=600, labels=5, grid=2, seed=3):
    draw = numpy.random.default_rng(seed)
    expected = draw.integers(0, labels, outputs)
    raw = draw.normal(size=(labels, outputs))
    raw[expected, numpy.arange(outputs)] += 1
    return LabelScores(tuple("abcdefgh"[:labels]), numpy.round(numpy.exp(raw) / numpy.exp(raw).sum(0), grid), expected)


ANIMALS = made(
    ("bird", "cat", "dog"),
    [
        ("bird", {"bird": 0.6, "dog": 0.2, "cat": 0.2}),
        ("dog", {"cat": 0.9, "dog": 0.1, "bird": 0}),
        ("bird", {"cat": 0.8, "dog": 0.05, "bird": 0.15}),
        ("bird", {"dog": 0.75, "cat": 0.1, "bird": 0.15}),
        ("cat", {"cat": 1, "dog": 0, "bird": 0}),
        ("dog", {"cat": 0.4, "dog": 0.35, "bird": 0.25}),
    ],
)


@pytest.mark.parametrize("grid", [1, 2, 12])
def test_areas_are_those_of_scikit_learn(grid):
    given = drawn(grid=grid)
    found = told(given)
    for place in range(len(given.labels)):
        right = given.expected == place
        assert found.auc[place] == pytest.approx(roc_auc_score(right, given.scores[place]))
        assert found.average_precision[place] == pytest.approx(average_precision_score(right, given.scores[place]))


def test_the_table_is_that_of_scikit_learn():
    given = drawn()
    best = Best.of(given.scores)
    assert (told(given).confusion[:, :-1] == confusion_matrix(given.expected, best.label)).all()


def test_the_label_listed_first_wins_a_tie():
    given = made(("b", "a"), [("a", {"a": 0.5, "b": 0.5})])
    assert given.labels[Best.of(given.scores).label[0]] == "b"


def test_what_reaches_no_threshold_is_called_nothing():
    found = told(ANIMALS, threshold=0.76)
    assert found.confusion.tolist() == [[0, 1, 0, 2], [0, 1, 0, 0], [0, 1, 0, 1]]
    assert (Best.of(ANIMALS.scores).called(1.1) == NONE).all()


def test_outputs_without_a_right_label_stand_in_no_row():
    expected = numpy.array([0, NONE, 1])
    assert crossed(expected, numpy.array([0, 0, NONE]), 2).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_counts_at_thresholds_are_those_of_counting_one_by_one():
    given = drawn(outputs=200)
    detailed = told(given).detailed
    for at, threshold in enumerate(detailed.thresholds):
        for place in range(len(given.labels)):
            named = {
                name: len(bucket(given, place, threshold, name)) for name in ("tp", "fp", "mistaken", "missed", "tn")
            }
            assert named == {name: getattr(detailed, name)[place][at] for name in named}
            assert sum(named.values()) == given.outputs
            right, called = given.expected == place, given.scores[place] >= threshold
            assert detailed.fn[place][at] == (right & ~called).sum()


@pytest.mark.parametrize(
    ("label", "threshold", "counts"),
    [
        ("bird", 0.05, (3, 1, 0, 0, 2)),
        ("bird", 0.5, (1, 0, 2, 0, 3)),
        ("bird", 0.75, (0, 0, 2, 1, 3)),
        ("dog", 0.05, (2, 3, 0, 0, 1)),
        ("dog", 0.5, (0, 1, 1, 1, 3)),
        ("dog", 0.75, (0, 1, 1, 1, 3)),
        ("cat", 0.05, (1, 5, 0, 0, 0)),
        ("cat", 0.5, (1, 2, 0, 0, 3)),
        ("cat", 0.75, (1, 2, 0, 0, 3)),
    ],
)
def test_the_detailed_counts_of_the_catalogue(label, threshold, counts):
    detailed = told(ANIMALS).detailed
    place, at = ANIMALS.labels.index(label), detailed.thresholds.index(threshold)
    names = ("tp", "fp", "mistaken", "missed", "tn")
    assert tuple(int(getattr(detailed, name)[place][at]) for name in names) == counts


def test_a_label_that_nothing_or_everything_has_gets_no_area():
    found = told(made(("a", "b"), [("a", {"a": 0.9}), ("a", {"b": 0.4})]))
    assert numpy.isnan(found.auc).all()
    assert numpy.isnan(found.average_precision).all()


def test_no_outputs_at_all_are_counted_as_none():
    found = told(LabelScores(("a", "b"), numpy.empty((2, 0)), numpy.empty(0, int)))
    assert found.confusion.sum() == 0
    assert found.detailed.tp.sum() == 0
