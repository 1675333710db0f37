"""Planned numbers of cases against statsmodels and by simulation."""

import numpy
import pytest
from statsmodels.stats.power import TTestPower

from evaluators.stats.paired import paired
from evaluators.stats.planning import cases_to_tell


@pytest.mark.parametrize(("difference", "sd"), [(0.02, 0.25), (0.05, 0.4), (0.1, 0.1), (-0.3, 0.5)])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_it_agrees_with_statsmodels(difference, sd, power):
    expected = TTestPower().solve_power(abs(difference) / sd, alpha=0.05, power=power)
    assert cases_to_tell(difference, sd, 2, power) + 2 == pytest.approx(expected, rel=0.01, abs=2)


def test_cases_that_are_there_already_count():
    assert cases_to_tell(0.05, 0.25, 2) == 196
    assert cases_to_tell(0.05, 0.25, 150) == 48
    assert cases_to_tell(0.05, 0.25, 500) == 0


def test_as_many_cases_tell_the_difference_as_often_as_was_asked():
    n = cases_to_tell(0.05, 0.2, 2, power=0.8) + 2
    draws = numpy.random.default_rng(3).normal(0.05, 0.2, (500, n)).tolist()
    told = [paired(list(enumerate(row)), n).p_value < 0.05 for row in draws]
    assert 0.75 <= numpy.mean(told) <= 0.85


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ((0.0, 0.2, 50), "difference of zero"),
        ((0.1, 0.0, 50), "differs by the same amount"),
        ((0.1, 0.2, 1), "Two cases at least"),
        ((1e-6, 0.5, 50), "more than 1,000,000 cases"),
    ],
)
def test_it_refuses_with_a_sentence(asked, sentence):
    assert sentence in cases_to_tell(*asked)


def test_no_power_is_certain():
    with pytest.raises(ValueError, match="Power"):
        cases_to_tell(0.1, 0.2, 50, power=1.0)
