"""Adjusted p-values against published examples, statsmodels and by simulation."""

import numpy
import pytest
from statsmodels.stats.multitest import multipletests

from evaluators.stats.correction import benjamini_hochberg, holm

# Benjamini and Hochberg (1995), section 4.1: thrombolysis, fifteen endpoints.
THROMBOLYSIS = [
    *(0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240),
    *(0.4262, 0.5719, 0.6528, 0.7590, 1.0000),
]


def test_the_thrombolysis_example():
    """Benjamini and Hochberg reject four hypotheses there; steps that hold the chance of any mistake reject three."""
    assert sum(p <= 0.05 for p in benjamini_hochberg(THROMBOLYSIS)) == 4
    assert sum(p <= 0.05 for p in holm(THROMBOLYSIS)) == 3


def test_four_tests_by_hand():
    # Ascending 0.005, 0.01, 0.03, 0.04 times 4, 3, 2, 1, never below the one before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    # Times 4/1, 4/2, 4/3, 4/4, never above the one after.
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])


@pytest.mark.parametrize("tests", [1, 2, 7, 300])
def test_both_agree_with_statsmodels(tests):
    p = (numpy.random.default_rng(tests).random(tests) ** 3).tolist()
    assert holm(p) == pytest.approx(multipletests(p, method="holm")[1])
    assert benjamini_hochberg(p) == pytest.approx(multipletests(p, method="fdr_bh")[1])


def test_ties_are_adjusted_alike():
    assert holm([0.02, 0.02, 0.02]) == pytest.approx([0.06, 0.06, 0.06])
    assert benjamini_hochberg([0.02, 0.02, 0.02]) == pytest.approx([0.02, 0.02, 0.02])


def test_no_tests_need_no_adjustment():
    assert holm([]) == benjamini_hochberg([]) == []


@pytest.mark.parametrize("wrong", [-0.1, 1.2, float("nan")])
@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_what_is_no_p_value_is_a_mistake(adjust, wrong):
    with pytest.raises(ValueError, match="between 0 and 1"):
        adjust([0.5, wrong])


def test_holm_cries_wolf_at_all_in_5_of_100():
    chance = numpy.random.default_rng(2).random((2000, 20))
    assert numpy.mean([min(holm(p)) < 0.05 for p in chance.tolist()]) <= 0.065
