"""How far a run is: counts of every state, what is in hand, the pace and the time left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Min, Q
from django.db.models.functions import Now
from django.utils import timezone

from evaluators.core import Status
from experiments.ledger.finish import leased_slices
from experiments.models import Evaluation, Run, RunState

WINDOW_S = 20.0
OVER = (RunState.FINISHED, RunState.STOPPED)
NOT_HERE = ("people", "outside")  # lanes without workers
AWAITS = Q(lane__in=NOT_HERE, state=RunState.ACTIVE)  # of runs: people grade, or scores come, when they like
UNDER_WAY = Q(state__in=(RunState.PREPARING, RunState.ACTIVE, RunState.STOPPING)) & ~AWAITS


def is_under_way(run: Run) -> bool:
    """The same of one run: it changes without anybody's doing."""
    return run.state not in OVER and not (run.lane in NOT_HERE and run.state == RunState.ACTIVE)


@dataclass(frozen=True, slots=True)
class Progress:
    """Rows of a run by state. `in_hand` of the pending ones are held by a worker at this moment.

    `per_second` is the pace of the last twenty seconds and `left_s` what the pending rows take at that pace; both are
    None while there is nothing to tell them from. `spent_usd` is what its calls cost so far, None without prices.
    """

    state: RunState
    pending: int
    awaiting: int
    scored: int
    unscored: int
    failed: int
    in_hand: int = 0
    per_second: float | None = None
    left_s: float | None = None
    spent_usd: float | None = None
    is_outside: bool = False

    @property
    def settled(self) -> int:
        return self.scored + self.unscored + self.failed

    @property
    def total(self) -> int:
        return self.settled + self.pending + self.awaiting

    @property
    def share(self) -> float:
        """The settled share of all rows, 0 to 1."""
        return self.settled / self.total if self.total else 0.0

    @property
    def awaits(self) -> bool:
        """All that is left to do is up to people, or to a program outside."""
        return self.state == RunState.ACTIVE and self.awaiting > 0 and not self.pending

    @property
    def awaits_people(self) -> bool:
        """The same, of people alone."""
        return self.awaits and not self.is_outside

    @property
    def is_over(self) -> bool:
        """Nothing will change unless somebody does something: pages stop polling."""
        return self.state in OVER or self.awaits


def progress(run: Run) -> Progress:
    """How far one run is."""
    return progress_of([run])[run.pk]


def progress_of(runs: Sequence[Run]) -> dict[int, Progress]:
    """How far each run is, by its id: one query, and two more when any of them is not over; each reads an index."""
    counts: dict[int, dict[int, int]] = {run.pk: {} for run in runs}
    for run_id, state, n in _counted(runs):
        counts[run_id][state] = n
    going = [run for run in runs if run.state not in OVER]
    in_hand, pace = (_in_hand(going), _pace(going)) if going else ({}, {})
    return {run.pk: _progress(run, counts[run.pk], in_hand.get(run.pk, 0), pace.get(run.pk)) for run in runs}


def _progress(run: Run, counts: dict[int, int], in_hand: int, pace: float | None) -> Progress:
    by_state = {status.name.lower(): counts.get(status, 0) for status in Status}
    return Progress(
        RunState(run.state),
        **by_state,
        in_hand=in_hand,
        per_second=pace,
        left_s=by_state["pending"] / pace if pace else None,
        spent_usd=run.spent_usd,
        is_outside=run.lane == "outside",
    )


def _counted(runs: Sequence[Run]) -> Iterable[tuple[int, int, int]]:
    rows = Evaluation.objects.filter(run__in=runs).order_by().values("run", "state").annotate(n=Count("pk"))
    return rows.values_list("run", "state", "n")


def _pace(runs: Sequence[Run]) -> dict[int, float]:
    """Rows a second of the last stretch, by run; runs in which too little has settled to tell are left out."""
    recent = Evaluation.objects.filter(run__in=runs, settled_at__gt=Now() - timedelta(seconds=WINDOW_S))
    seen = recent.order_by().values("run").annotate(n=Count("pk"), first=Min("settled_at"))
    now = timezone.now()
    # A batch is settled at one instant, so the time since the first one may be next to nothing.
    return {row["run"]: row["n"] / max((now - row["first"]).total_seconds(), 0.5) for row in seen if row["n"] > 1}


def _in_hand(runs: Sequence[Run]) -> dict[int, int]:
    """Pending rows in slices that a worker has leased, by run."""
    held: Counter[int] = Counter()
    for part in leased_slices(runs):
        held[part.run_id] += part.pending
    return held
