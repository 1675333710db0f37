"""How the scores of a run spread over the scale: counts in twenty steps, those below threshold apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, IntegerField, Q
from django.db.models.functions import Cast, Floor

from evaluators.core import Status
from experiments.models import Evaluation, Run

STEPS = 20
HEIGHT = 26  # pixels of the drawing
LEAST = 1.5  # pixels of a bar that stands for anything at all
GAP = 0.7  # per cent of the width between two bars

Steps = list[list[int]]  # for each step from 0 to 1: scores below threshold, all others


def distributions(runs: Sequence[Run]) -> dict[int, Steps]:
    """The steps of each run, by its id. One query."""
    found: dict[int, Steps] = {run.pk: [[0, 0] for _ in range(STEPS)] for run in runs}
    scored = Evaluation.objects.filter(run__in=runs, state=Status.SCORED).order_by()
    step = Cast(Floor(F("score") * STEPS), IntegerField())
    rows = scored.values("run", step=step).annotate(below=Count("pk", filter=Q(passed=False)), n=Count("pk"))
    for row in rows:
        into = found[row["run"]][min(max(row["step"], 0), STEPS - 1)]
        into[0] += row["below"]
        into[1] += row["n"] - row["below"]
    return found


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of the drawing: place and width in per cent of the scale, top and height in pixels."""

    x: str
    width: str
    y: str
    height: str
    is_below: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """A distribution over the same scale as the mark of its estimate; `threshold` is a place in per cent."""

    bars: list[Bar]
    threshold: str | None
    spoken: str
    height: int = HEIGHT


def drawing(steps: Steps, threshold: float | None) -> Drawing | None:
    """The drawing of some steps, those below threshold standing under the others; None where nothing is scored."""
    most = max((below + other for below, other in steps), default=0)
    if not most:
        return None
    bars = []
    for number, (below, other) in enumerate(steps):
        low, high = _pixels(below, most), _pixels(other, most)
        if below:
            bars.append(_bar(number, HEIGHT - low, low, is_below=True))
        if other:
            bars.append(_bar(number, HEIGHT - low - high, high, is_below=False))
    return Drawing(bars, None if threshold is None else f"{threshold * 100:.1f}%", _spoken(steps))


def _pixels(count: int, most: int) -> float:
    return max(LEAST, (HEIGHT - LEAST) * count / most) if count else 0.0


def _bar(number: int, y: float, height: float, *, is_below: bool) -> Bar:
    wide = 100 / STEPS
    return Bar(f"{number * wide + GAP / 2:.2f}%", f"{wide - GAP:.2f}%", f"{y:.1f}", f"{height:.1f}", is_below)


def _spoken(steps: Steps) -> str:
    quarter = STEPS // 4
    counts: list[Any] = [sum(map(sum, steps[at : at + quarter])) for at in range(0, STEPS, quarter)]
    return f"Scores by quarter of the scale, lowest first: {', '.join(map(str, counts))}"
