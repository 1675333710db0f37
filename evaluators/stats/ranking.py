"""Places in a ranking, as far as they can be told: whoever cannot be told apart shares a range of places.

A place is proven by pairs: A stands above B where their paired difference says so after Holm's correction over all
pairs of the ranking. So all the ranges hold at once with 95 % confidence (Mogstad, Romano, Shaikh and Wilhelm 2024).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from evaluators.stats.correction import holm
from evaluators.stats.estimate import CONFIDENCE

CORRECTION = "Holm's correction over all pairs"


class Contrast(Protocol):
    """How far the first of a pair is above the second, and the two-sided p-value; both None where nothing is known."""

    @property
    def value(self) -> float | None: ...
    @property
    def p_value(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Ranked:
    """One entry: its place is somewhere from `rank_low`, the best, to `rank_high`, both counted from 1.

    `tied_with` are the others that it cannot be told apart from. Being tied is not passed on: A may be tied with B and
    B with C while A is proven better than C.
    """

    name: str
    value: float
    rank_low: int
    rank_high: int
    tied_with: tuple[str, ...]


def rank(
    values: Mapping[str, float],
    contrasts: Mapping[tuple[str, str], Contrast],
    direction: Literal["higher", "lower"] = "higher",
) -> list[Ranked]:
    """The entries, best first, from their values and the contrast of each pair (first minus second), in either order.

    A pair without a contrast, or whose contrast has no p-value, cannot be told apart. It is the contrast that proves,
    not the values: those may rest on other cases each.
    """
    sign = 1 if direction == "higher" else -1
    better = _proven(values, contrasts, sign)
    order = sorted(values, key=lambda name: (-sign * values[name], name))
    ranked = []
    for name in order:
        above = {other for other in order if (other, name) in better}
        below = {other for other in order if (name, other) in better}
        tied = tuple(other for other in order if other != name and other not in above | below)
        ranked.append(Ranked(name, values[name], 1 + len(above), len(order) - len(below), tied))
    return ranked


def _proven(
    values: Mapping[str, float], contrasts: Mapping[tuple[str, str], Contrast], sign: int
) -> set[tuple[str, str]]:
    """The pairs (better, worse) that stand after the correction."""
    told = [
        (pair, each.value * sign, each.p_value)
        for pair, each in contrasts.items()
        if each.value is not None and each.p_value is not None and set(pair) <= values.keys()
    ]
    adjusted = holm([p for _, _, p in told])
    return {
        (first, second) if above > 0 else (second, first)
        for ((first, second), above, _), p in zip(told, adjusted, strict=True)
        if p < 1 - CONFIDENCE
    }
