"""What several people's grades of one output come to."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, slots=True)
class Graded:
    """The mean over graders and how far apart they are (highest minus lowest), in [0, 1]; None without a grade."""

    score: float | None
    spread: float | None
    graders: int


def settled(grades: Iterable[tuple[Hashable, float]]) -> Graded:
    """From (grader, value) pairs in the order in which they were given: a later grade of a grader replaces theirs."""
    values = list(dict(grades).values())
    if not values:
        return Graded(None, None, 0)
    return Graded(fmean(values), max(values) - min(values), len(values))
