"""p-values against scipy."""

import math

import pytest
from scipy import stats

from evaluators.stats.estimate import student_t
from evaluators.stats.tails import normal_p, student_p


@pytest.mark.parametrize("freedom", [1, 2, 2.5, 4, 11, 40, 999, 1e6])
def test_student_tails_are_those_of_scipy(freedom):
    for t in (0, 1e-6, 0.3, -1, 1.96, 2.8, 7, 40, 1e9, 1e80):
        assert student_p(t, freedom) == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-8, abs=1e-290)


def test_normal_tails_are_those_of_scipy():
    for z in (0, 0.5, -1.96, 5, 12):
        assert normal_p(z) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-12)


def test_quantile_and_tail_belong_together():
    for freedom in (1, 2, 3, 7, 30, 500):
        assert student_p(student_t(freedom), freedom) == pytest.approx(0.05, abs=1e-5)


def test_nothing_lies_beyond_infinity():
    assert student_p(math.inf, 3) == 0
    assert student_p(1e200, 3) == 0
