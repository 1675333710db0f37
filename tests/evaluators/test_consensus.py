"""What grades come to."""

import pytest

from evaluators.consensus import Graded, settled


def test_a_later_grade_of_a_grader_replaces_the_earlier():
    assert settled([("ann", 1.0), ("bob", 0.0), ("bob", 0.5)]) == Graded(0.75, 0.5, 2)


def test_without_a_grade_nothing_is_known():
    assert settled([]) == Graded(None, None, 0)


def test_one_grader_agrees_with_themselves():
    assert settled([("ann", 0.25)]) == Graded(0.25, 0.0, 1)


def test_the_score_is_the_mean_and_the_spread_goes_from_lowest_to_highest():
    graded = settled([("ann", 0.1), ("bob", 0.4), ("cy", 1.0)])
    assert (graded.score, graded.spread) == pytest.approx((0.5, 0.9))
