"""Which output people should grade next: drawn at random, likelier where its grade narrows the corrected figure more.

Each output gets a weight and draws a place, exponential with that rate; the first in line is graded next (Efraimidis
and Spirakis 2006). Given where the first that is not yet graded stands, the place τ, an output of weight w had the
chance 1 − exp(−w τ) of standing before it (rank conditioning, Cohen and Kaplan 2007). Estimates in which each grade
counts 1 / that chance stay unbiased, whatever the weights, and whenever grading stops.
"""

from __future__ import annotations

import math

SURELY = 0.1  # the least weight: no output may have no chance at all


def worth(judge: float, disagreement: float = 0.0) -> float:
    """How much a grade is expected to tell, in [0.1, 1], from a judge's score and how far judges differ (0 to 1).

    The best weight is the standard deviation of what is not known (Neyman 1934). For a score that is a probability to
    pass that is √(p (1 − p)), at most 1/2; for judges that differ, half of how far they do.
    """
    return max(SURELY, 2 * math.sqrt(judge * (1 - judge)), disagreement)


def worth_of_verdict(deviation: float) -> float:
    """The same where people have graded some with this verdict: from the standard deviation of their grades."""
    return min(1.0, max(SURELY, 2 * deviation))


def place(weight: float, luck: float) -> float:
    """Where an output of this weight stands, from a random number in [0, 1). The lowest place comes first."""
    return -math.log1p(-luck) / weight


def inclusion(weight: float, until: float) -> float:
    """The chance to stand before `until`, the place of the first output that is not graded yet; 1 where all are."""
    return -math.expm1(-weight * until)
