"""The mean of paired differences: two scores of the same thing, so that what both share falls out of the comparison.

Most pairs often do not differ at all, and the few that do all in one direction. The plain t interval is then too sure
of itself. So half a case more is counted on either side, of the usual size of a difference and as far as cases are tied
(after Agresti and Min 2005, who count half a pair more in each cell of a 2 × 2 table). Without ties nothing is added.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

from evaluators.stats.estimate import CONFIDENCE, LEAST_EFFECTIVE, ONE_OUTWEIGHS, Moments, standard_error, student_t
from evaluators.stats.tails import student_p

BETTER, WORSE, CANNOT_TELL = "better", "worse", "cannot tell"


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference in [−1, 1] with its 95 % interval, from n pairs in `clusters` cases of `asked` pairs.

    `refused` is a sentence, and then there is no value or no interval. `p_value` is two-sided and below 0.05 exactly
    where the interval leaves out zero.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    asked: int
    method: str
    refused: str | None = None
    standard_error: float | None = None
    p_value: float | None = None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the difference from case to case, in units of the score."""
        return None if self.standard_error is None else self.standard_error * math.sqrt(self.clusters)

    def verdict(self, direction: Literal["higher", "lower"]) -> str:
        """Better or worse where the interval leaves no doubt which side of zero it is on, otherwise "cannot tell"."""
        if self.low is None or self.high is None or self.low <= 0 <= self.high:
            return CANNOT_TELL
        return BETTER if (self.low > 0) == (direction == "higher") else WORSE


def paired(differences: Iterable[tuple[Hashable, float]], asked: int) -> Difference:
    """From (cluster, second − first) of every pair in which both have a score.

    A t interval with G* − 1 degrees of freedom over the clusters (`Moments.effective`) and the cluster-robust standard
    error (Liang and Zeger 1986), which for one pair a case is the usual sd / √n.
    """
    return difference_of(Moments.of(differences), asked)


def difference_of(moments: Moments, asked: int) -> Difference:
    """The same from the sums of the differences over clusters."""
    if moments.n == 0:
        return _refused(None, moments, asked, "No output has a score from both.")
    mean = moments.total / moments.n
    if moments.clusters < 2:
        return _refused(mean, moments, asked, "One case alone says nothing about how far the difference could be off.")
    if moments.effective < LEAST_EFFECTIVE:
        return _refused(mean, moments, asked, ONE_OUTWEIGHS)
    error = standard_error(mean, moments)
    if error < 1e-9:
        # With 95 % confidence at most this share of cases differs otherwise (Clopper–Pearson for none of G), by ±1.
        may_differ = 1 - (1 - CONFIDENCE) ** (1 / moments.clusters)
        low, high = mean - may_differ * (1 + mean), mean + may_differ * (1 - mean)
        method = "all cases equal: bound on the share that may differ"
        p_value = (1 + abs(mean)) ** -moments.clusters  # the confidence at which the bound reaches zero
    else:
        middle, wider, freedom = _with_doubt(moments)
        half = student_t(freedom) * wider
        low, high = max(-1.0, middle - half), min(1.0, middle + half)
        method = "paired t interval over cases, cluster-robust"
        p_value = student_p(middle / wider, freedom)
    sizes = moments.n, moments.clusters, asked
    return Difference(mean, low, high, *sizes, method, standard_error=error, p_value=p_value)


def _with_doubt(moments: Moments) -> tuple[float, float, float]:
    """Mean, standard error and degrees of freedom with half a case more on either side, as far as cases are tied."""
    weight = 1 - moments.apart / moments.clusters if moments.apart else 0.0  # of both halves
    size = moments.n / moments.clusters
    n, sizes = moments.n + weight * size, moments.sizes + weight * size * size
    mean, effective = moments.total / n, n * n / sizes
    squares = moments.squares * (1 + weight / (moments.apart or 1))
    residuals = squares - 2 * mean * moments.products + mean * mean * sizes
    return mean, math.sqrt(max(0.0, residuals) * effective / (effective - 1)) / n, effective - 1


def _refused(value: float | None, moments: Moments, asked: int, sentence: str) -> Difference:
    return Difference(value, None, None, moments.n, moments.clusters, asked, "none", sentence)
