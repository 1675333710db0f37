"""Which output to grade next, and how likely it was to be."""

import math

import numpy
import pytest

from evaluators.stats.drawing import SURELY, inclusion, place, worth, worth_of_verdict


def test_doubt_is_worth_most_and_certainty_never_nothing():
    assert worth(0.5) == worth(0.0, disagreement=1.0) == 1.0
    assert worth(0.0) == worth(1.0) == SURELY
    assert worth(0.1) == pytest.approx(0.6)
    assert worth_of_verdict(0.5) == 1.0
    assert worth_of_verdict(0.0) == SURELY


def test_heavier_outputs_come_first_more_often():
    draw = numpy.random.default_rng(1)
    first = [place(3.0, a) < place(1.0, b) for a, b in draw.random((20_000, 2))]
    assert numpy.mean(first) == pytest.approx(0.75, abs=0.012)


def test_an_output_is_graded_as_often_as_its_inclusion_probability_says():
    """Given the place of the first that is not graded among the others, which the output itself does not move."""
    draw = numpy.random.default_rng(2)
    weights = numpy.array([0.2, 1.0, 0.5, 1.0, 0.3, 0.7])
    stands, said = numpy.zeros(6), numpy.zeros(6)
    for luck in draw.random((20_000, 6)):
        places = numpy.array([place(*each) for each in zip(weights, luck, strict=True)])
        until = numpy.sort(places)[3]
        graded = places < until
        said[graded] += 1 / numpy.array([inclusion(w, until) for w in weights[graded]])
        stands += graded
    assert said / 20_000 == pytest.approx(numpy.ones(6), abs=0.06)  # each counts for itself, on average
    assert stands[1] > stands[0]


def test_what_is_graded_to_the_last_was_certain():
    assert inclusion(0.3, math.inf) == 1.0
