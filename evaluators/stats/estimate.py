"""The mean of some scores with its 95 % interval, or the sentence that says why there is none.

Scores lie in [0, 1] and come in clusters: the answers to one case are not independent of one another, so the case is
the unit that counts. Everything is worked out from a few sums, which a database can form.

Cases with many rows weigh more than others. G cases of n_c rows are then worth only G* = (Σ n_c)² / Σ n_c² (Kish 1965),
which takes the place of G in the error and in the degrees of freedom; for cases of one size it is G. Scores near the
ends of their range are skewed, so intervals are worked out for the log-odds of a share, or for the logarithm of what is
never negative, by the delta method.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import NormalDist

from evaluators.stats.tails import student_density, student_p

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
SAME = 1e-12  # sums closer to zero than this are zero
ROUNDING = 1e-13  # residuals below this share of the squares that they are what is left of
LEAST_EFFECTIVE = 1.5  # cases
ONE_OUTWEIGHS = "Nearly all scores belong to one case, which alone says nothing about how far the figure could be off."
LARGEST = 300.0  # exponent, well within what a number can hold


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure in [0, 1] as pages and API show it. `refused` is a sentence, and then there is no value or no interval.

    `n` scored rows in `clusters` cases of `asked` rows; `coverage` is the scored share. `standard_error` is that of the
    mean over cases, whatever the method of the interval; estimates that were stored without it have None.
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

    @property
    def coverage(self) -> float:
        return self.n / self.asked if self.asked else 0.0


@dataclass(frozen=True, slots=True)
class Moments:
    """The sums over clusters c with n_c scores that sum to s_c from which an estimate follows."""

    n: int = 0  # Σ n_c
    clusters: int = 0
    total: float = 0.0  # Σ s_c
    squares: float = 0.0  # Σ s_c²
    products: float = 0.0  # Σ n_c s_c
    sizes: float = 0.0  # Σ n_c²
    least: float = 0.0
    most: float = 0.0
    is_binary: bool = False  # every score is 0 or 1
    apart: int | None = field(default=None, compare=False)  # clusters with s_c ≠ 0; None where nobody counted them

    @property
    def effective(self) -> float:
        """How many cases of one size these are worth: G*, at most `clusters`."""
        return min(float(self.clusters), self.n * self.n / self.sizes)

    @classmethod
    def of(cls, scores: Iterable[tuple[Hashable, float]]) -> Moments:
        """From (cluster, score) pairs."""
        by_cluster: dict[Hashable, list[float]] = {}
        for cluster, score in scores:
            by_cluster.setdefault(cluster, []).append(score)
        sums = [(len(values), math.fsum(values)) for values in by_cluster.values()]
        every = [value for values in by_cluster.values() for value in values]
        return cls(
            n=len(every),
            clusters=len(sums),
            total=math.fsum(s for _, s in sums),
            squares=math.fsum(s * s for _, s in sums),
            products=math.fsum(n * s for n, s in sums),
            sizes=float(sum(n * n for n, _ in sums)),
            least=min(every, default=0.0),
            most=max(every, default=0.0),
            is_binary=bool(every) and all(value in (0.0, 1.0) for value in every),
            apart=sum(abs(s) > SAME for _, s in sums),
        )


def estimate(moments: Moments, asked: int, *, is_share: bool = True) -> Estimate:
    """The mean with its interval, by the first method whose assumptions hold. Numbers that are no shares may be any."""
    if moments.n == 0:
        return _refused(None, moments, asked, "Nothing is scored yet.")
    mean = moments.total / moments.n
    if moments.clusters < 2:
        return _refused(mean, moments, asked, "One case alone says nothing about how far the figure could be off.")
    if moments.effective < LEAST_EFFECTIVE:
        return _refused(mean, moments, asked, ONE_OUTWEIGHS)
    error = standard_error(mean, moments)
    if is_share and moments.is_binary and moments.clusters == moments.n:
        low, high = wilson(moments.total, moments.n)
        return _estimate(mean, low, high, moments, asked, "Wilson score interval", error)
    size = 1.0 if is_share else max(abs(moments.least), abs(moments.most))
    if moments.most - moments.least <= 1e-12 * size or error <= 1e-9 * size:
        if not is_share:
            return _refused(mean, moments, asked, "Every case gives the same number, so no interval can be told.")
        low, high = _all_equal(mean, moments.clusters)
        method = "all cases equal: bound on the share that may differ"
        return _estimate(mean, low, high, moments, asked, method, error)
    half = student_t(moments.effective - 1) * error
    if is_share and 0 < mean < 1:
        low, high = on_log_odds(mean, half)
        return _estimate(mean, low, high, moments, asked, "t interval over cases on log-odds, cluster-robust", error)
    if moments.least >= 0:
        factor = math.exp(min(half / mean, LARGEST))
        method = "t interval over cases on logarithms, cluster-robust"
        return _estimate(mean, mean / factor, mean * factor, moments, asked, method, error)
    return _estimate(mean, mean - half, mean + half, moments, asked, "t interval over cases, cluster-robust", error)


def on_log_odds(share: float, half: float) -> tuple[float, float]:
    """The interval of a share in (0, 1) whose log-odds have half the width half / (share (1 − share))."""
    odds, factor = share / (1 - share), math.exp(min(half / (share * (1 - share)), LARGEST))
    low, high = odds / factor, odds * factor
    return low / (1 + low), high / (1 + high)


def wilson(successes: float, n: float) -> tuple[float, float]:
    """The score interval of a share (Wilson 1927)."""
    share, z2 = successes / n, Z * Z
    middle = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def standard_error(mean: float, moments: Moments) -> float:
    """The sandwich estimate (Liang and Zeger 1986): the squared residual sum of each cluster, times G* / (G* − 1)."""
    residuals = moments.squares - 2 * mean * moments.products + mean * mean * moments.sizes
    if residuals < ROUNDING * moments.squares:
        return 0.0
    correction = moments.effective / (moments.effective - 1)
    return math.sqrt(residuals * correction) / moments.n


def _all_equal(value: float, clusters: int) -> tuple[float, float]:
    """Cases that never differ still leave room: with 95 % confidence at most 1 − 0.05^(1/G) of cases do.

    That is the upper Clopper–Pearson bound for no event in G cases; those that differ may lie at either end.
    """
    may_differ = 1 - (1 - CONFIDENCE) ** (1 / clusters)
    return value * (1 - may_differ), value + (1 - value) * may_differ


@lru_cache(4096)
def student_t(freedom: float) -> float:
    """The two-sided 95 % quantile of Student's t, by Newton's method on logarithms. Freedom may be below 1."""
    place = math.log(Z * (1 + (Z * Z + 1) / (4 * freedom)))
    for _ in range(50):
        t = math.exp(place)
        tail = student_p(t, freedom)
        step = math.log(tail / (1 - CONFIDENCE)) * tail / (2 * t * student_density(t, freedom))
        place += step
        if abs(step) < 1e-12:
            break
    return math.exp(place)


def _estimate(
    value: float, low: float, high: float, moments: Moments, asked: int, method: str, error: float
) -> Estimate:
    return Estimate(value, low, high, moments.n, moments.clusters, asked, method, standard_error=error)


def _refused(value: float | None, moments: Moments, asked: int, sentence: str) -> Estimate:
    return Estimate(value, None, None, moments.n, moments.clusters, asked, "none", sentence)
