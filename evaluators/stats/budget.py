"""How many more outputs people have to grade, and of which verdicts, until the corrected share is known to ± x.

The outputs fall into strata by what the judge said. The corrected mean is Σ W_k ȳ_k over strata with a share W_k of the
outputs, of which n_k are graded; its variance is Σ W_k² s_k² / n_k, and what remains when all are graded. Grades are
dealt out so that n_k grows with W_k s_k (Neyman 1934), as far as outputs are there and grades are not yet.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from evaluators.stats.estimate import Z

LEAST = 5  # graded outputs of each stratum, so that its deviation can be told


@dataclass(frozen=True, slots=True)
class Stratum:
    """The outputs to which the judge gave one verdict, and sums of people's grades, in [0, 1], and their squares."""

    outputs: int
    graded: int = 0
    total: float = 0.0
    squares: float = 0.0

    @property
    def mean(self) -> float:
        """Of people's grades, with one of 0 and one of 1 more, so that few that agree do not look certain."""
        return (self.total + 1) / (self.graded + 2)

    @property
    def deviation(self) -> float:
        """The standard deviation of people's grades, likewise."""
        return math.sqrt(max(0.0, (self.squares + 1) / (self.graded + 2) - self.mean**2))


@dataclass(frozen=True, slots=True)
class Plan:
    """How many more grades of each verdict, and the half width of the interval that they are expected to give."""

    more: dict[str, int]
    half_width: float

    @property
    def total(self) -> int:
        return sum(self.more.values())


def plan(strata: Mapping[str, Stratum], half_width: float) -> Plan | str:
    """The fewest further grades until the 95 % interval is expected to be ± `half_width`, or why no number is enough.

    Takes outputs for independent and the deviations seen so far for true, so it is a plan and no promise: look again
    after every few dozen grades.
    """
    if half_width <= 0:
        raise ValueError("A half width lies above 0.")
    strata = {verdict: stratum for verdict, stratum in strata.items() if stratum.outputs}
    if not strata:
        return "There are no outputs to grade."
    at_best = _half_width(strata, {verdict: stratum.outputs for verdict, stratum in strata.items()})
    if at_best > half_width:
        points = f"{100 * at_best:.1f} points"
        return f"Even with all outputs graded the figure would only be known to ± {points}: it takes more cases."
    low, high = 0.0, 1.0
    while _half_width(strata, _dealt(strata, high)) > half_width:
        low, high = high, high * 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _half_width(strata, _dealt(strata, middle)) > half_width else (low, middle)
    grades = _dealt(strata, high)
    more = {verdict: grades[verdict] - stratum.graded for verdict, stratum in strata.items()}
    return Plan(more, _half_width(strata, grades))


def spend(strata: Mapping[str, Stratum], grades: int) -> Plan:
    """How to deal out so many further grades, or all that are left, so that the interval gets as narrow as can be."""
    strata = {verdict: stratum for verdict, stratum in strata.items() if stratum.outputs}
    low, high = 0.0, float(2 * sum(stratum.outputs for stratum in strata.values())) ** 2
    for _ in range(200):
        middle = (low + high) / 2
        more = sum(_dealt(strata, middle).values()) - sum(stratum.graded for stratum in strata.values())
        low, high = (low, middle) if more > grades else (middle, high)
    dealt = _dealt(strata, low)
    return Plan({verdict: dealt[verdict] - each.graded for verdict, each in strata.items()}, _half_width(strata, dealt))


def _dealt(strata: Mapping[str, Stratum], factor: float) -> dict[str, int]:
    """Grades of each stratum in proportion to W_k s_k, at least those that are there, at most its outputs."""
    every = sum(stratum.outputs for stratum in strata.values())
    dealt = {}
    for verdict, stratum in strata.items():
        wanted = math.ceil(factor * stratum.outputs / every * stratum.deviation)
        dealt[verdict] = min(stratum.outputs, max(stratum.graded, LEAST, wanted))
    return dealt


def _half_width(strata: Mapping[str, Stratum], grades: Mapping[str, int]) -> float:
    every = sum(stratum.outputs for stratum in strata.values())
    shares = {verdict: stratum.outputs / every for verdict, stratum in strata.items()}
    mean = sum(shares[verdict] * stratum.mean for verdict, stratum in strata.items())
    between = sum(shares[verdict] * (stratum.mean - mean) ** 2 for verdict, stratum in strata.items())
    within = sum((shares[k] * stratum.deviation) ** 2 / max(1, grades[k]) for k, stratum in strata.items())
    return Z * math.sqrt(between / every + within)
