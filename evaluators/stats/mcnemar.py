"""Whether two evaluators, or two systems, pass different shares of the same cases (McNemar 1947)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evaluators.stats.tails import normal_p

FEW = 25  # pairs that differ; below, the binomial distribution is used itself


@dataclass(frozen=True, slots=True)
class Test:
    """A two-sided p-value and how it was found. `refused` is a sentence, and then `p` is None."""

    __test__ = False  # nothing for pytest to collect

    p: float | None
    method: str
    refused: str | None = None


def mcnemar(only_first: int, only_second: int) -> Test:
    """From how many cases pass only with the first, and how many only with the second.

    Cases on which both agree say nothing here. Each case counts once: where cases have several attempts, `paired` with
    the case as cluster is the test to use. Exact binomial below 25 differing cases, otherwise chi-squared with the
    correction for continuity of Edwards (1948). Raises ValueError for negative counts.
    """
    if min(only_first, only_second) < 0:
        raise ValueError("Counts cannot be negative.")
    differing = only_first + only_second
    if not differing:
        return Test(None, "none", "The two never differ, so there is nothing to test.")
    if differing < FEW:
        fewer = sum(math.comb(differing, k) for k in range(min(only_first, only_second) + 1))
        return Test(min(1.0, 2 * fewer / 2**differing), "McNemar, exact binomial")
    distance = max(0, abs(only_first - only_second) - 1)
    return Test(normal_p(distance / math.sqrt(differing)), "McNemar, chi-squared with continuity correction")
