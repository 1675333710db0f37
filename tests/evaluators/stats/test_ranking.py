"""Places that can be told, by hand and by simulation."""

from dataclasses import dataclass
from itertools import combinations

import numpy

from evaluators.stats.paired import paired
from evaluators.stats.ranking import rank


@dataclass
class Told:
    value: float | None
    p_value: float | None


def places(ranked):
    return {one.name: (one.rank_low, one.rank_high) for one in ranked}


def test_who_is_proven_better_has_a_place_of_its_own():
    values = {"a": 0.9, "b": 0.7, "c": 0.5}
    found = rank(values, {("a", "b"): Told(0.2, 1e-4), ("a", "c"): Told(0.4, 1e-6), ("c", "b"): Told(-0.2, 0.01)})
    assert [one.name for one in found] == ["a", "b", "c"]
    assert places(found) == {"a": (1, 1), "b": (2, 2), "c": (3, 3)}
    assert all(one.tied_with == () for one in found)


def test_who_cannot_be_told_apart_shares_its_places():
    values = {"a": 0.72, "b": 0.7, "c": 0.5}
    found = rank(values, {("a", "b"): Told(0.02, 0.6), ("a", "c"): Told(0.22, 1e-4), ("b", "c"): Told(0.2, 1e-3)})
    assert places(found) == {"a": (1, 2), "b": (1, 2), "c": (3, 3)}
    assert [one.tied_with for one in found] == [("b",), ("a",), ()]


def test_a_tie_is_not_passed_on():
    values = {"a": 0.8, "b": 0.7, "c": 0.6}
    found = rank(values, {("a", "b"): Told(0.1, 0.2), ("b", "c"): Told(0.1, 0.2), ("a", "c"): Told(0.2, 0.001)})
    assert places(found) == {"a": (1, 2), "b": (1, 3), "c": (2, 3)}


def test_several_tests_need_stronger_proof():
    """0.03 proves a difference alone, but not as one of three tests."""
    pairs = {("a", "b"): Told(0.1, 0.03), ("a", "c"): Told(0.1, 0.03), ("b", "c"): Told(0.0, 0.9)}
    assert places(rank({"a": 0.8, "b": 0.7, "c": 0.7}, pairs))["a"] == (1, 3)
    assert places(rank({"a": 0.8, "b": 0.7}, {("a", "b"): Told(0.1, 0.03)}))["a"] == (1, 1)


def test_where_lower_is_better_the_lowest_is_first():
    found = rank({"slow": 9.0, "fast": 2.0}, {("slow", "fast"): Told(7.0, 1e-5)}, "lower")
    assert [(one.name, one.rank_low, one.rank_high) for one in found] == [("fast", 1, 1), ("slow", 2, 2)]


def test_pairs_that_were_never_compared_cannot_be_told_apart():
    found = rank({"a": 0.9, "b": 0.1, "c": 0.0}, {("a", "b"): Told(None, None), ("x", "c"): Told(1, 0)})
    assert {(one.rank_low, one.rank_high) for one in found} == {(1, 3)}


def test_the_contrast_proves_and_not_the_values():
    """Over the cases that both answered b is better, although a did well on others."""
    assert places(rank({"a": 0.6, "b": 0.5}, {("a", "b"): Told(-0.1, 0.001)})) == {"a": (2, 2), "b": (1, 1)}


def test_alone_is_first():
    assert places(rank({"a": 0.3}, {})) == {"a": (1, 1)}
    assert rank({}, {}) == []


def test_all_places_at_once_hold_in_95_of_100():
    """Five systems, two of them equal, over 60 cases of different difficulty; 500 rankings."""
    draw = numpy.random.default_rng(5)
    truth = {"a": 0.75, "b": 0.7, "c": 0.5, "d": 0.5, "e": 0.45}
    may_stand = {"a": {1}, "b": {2}, "c": {3, 4}, "d": {3, 4}, "e": {5}}
    held = 0
    for _ in range(500):
        hard = draw.normal(0, 0.15, 60)
        scores = {name: mean + hard + draw.normal(0, 0.15, 60) for name, mean in truth.items()}
        contrasts = {
            (one, other): paired(list(enumerate((scores[one] - scores[other]).tolist())), 60)
            for one, other in combinations(truth, 2)
        }
        ranges = places(rank({name: float(each.mean()) for name, each in scores.items()}, contrasts))
        held += all(any(low <= place <= high for place in may_stand[name]) for name, (low, high) in ranges.items())
    assert held / 500 >= 0.94
