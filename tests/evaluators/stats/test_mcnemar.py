"""McNemar's test against statsmodels, a published table and by simulation."""

import numpy
import pytest
from statsmodels.stats.contingency_tables import mcnemar as reference

from evaluators.stats.mcnemar import mcnemar


@pytest.mark.parametrize("counts", [(0, 1), (1, 0), (3, 3), (2, 9), (0, 24), (12, 12), (25, 0), (13, 12), (86, 150)])
def test_it_agrees_with_statsmodels(counts):
    table = [[50, counts[0]], [counts[1], 20]]
    expected = reference(table, exact=sum(counts) < 25, correction=True).pvalue
    # The reference squares (|b − c| − 1) even where b = c; a correction never moves the counts past one another.
    expected = 1.0 if counts[0] == counts[1] and sum(counts) >= 25 else expected
    assert mcnemar(*counts).p == pytest.approx(min(1, expected))


def test_the_opinions_of_agresti():
    # Agresti, Categorical Data Analysis (2002), table 10.1: 150 turned away from approval and 86 towards it.
    found = mcnemar(150, 86)
    assert found.p == pytest.approx(4.11e-5, rel=0.01)
    assert "chi-squared" in found.method


def test_equal_counts_prove_nothing():
    assert mcnemar(40, 40).p == mcnemar(4, 4).p == 1.0


def test_pairs_that_never_differ_are_refused_with_a_sentence():
    found = mcnemar(0, 0)
    assert (found.p, found.refused) == (None, "The two never differ, so there is nothing to test.")


def test_negative_counts_are_a_mistake():
    with pytest.raises(ValueError, match="negative"):
        mcnemar(-1, 4)


@pytest.mark.parametrize("differing", [12, 24, 25, 80, 400])
def test_it_cries_wolf_in_at_most_5_of_100(differing):
    counts = numpy.random.default_rng(1).binomial(differing, 0.5, 2000)
    alarms = {n: mcnemar(n, differing - n).p < 0.05 for n in set(counts.tolist())}
    assert numpy.mean([alarms[n] for n in counts.tolist()]) <= 0.055
