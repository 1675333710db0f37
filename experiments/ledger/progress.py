"""How far a run is: counts of every state, what is in hand, the pace and the time left."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Min, Q
from django.db.models.functions import Now
from django.utils import timezone

from evaluators.core import Status
from experiments.ledger.finish import PENDING
from experiments.models import Evaluation, Run, RunState, Slice

WINDOW_S = 20.0
OVER = (RunState.FINISHED, RunState.STOPPED)


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
    def is_over(self) -> bool:
        """Nothing will change unless somebody asks for it: pages stop polling."""
        return self.state in OVER


def progress(run: Run) -> Progress:
    """Two queries for a run that is over, three for one that is not; each reads an index."""
    counts = dict(
        Evaluation.objects.filter(run=run).order_by().values("state").annotate(n=Count("pk")).values_list("state", "n")
    )
    by_state = {status.name.lower(): counts.get(status, 0) for status in Status}
    state = RunState(run.state)
    if state in OVER:
        return Progress(state, **by_state, spent_usd=run.spent_usd)
    pace = _pace(run)
    return Progress(
        state,
        **by_state,
        in_hand=_in_hand(run),
        per_second=pace,
        left_s=by_state["pending"] / pace if pace else None,
        spent_usd=run.spent_usd,
    )


def _pace(run: Run) -> float | None:
    recent = Evaluation.objects.filter(run=run, settled_at__gt=Now() - timedelta(seconds=WINDOW_S))
    seen = recent.aggregate(n=Count("pk"), first=Min("settled_at"))
    if seen["n"] < 2:
        return None
    # A batch is settled at one instant, so the time since the first one may be next to nothing.
    return seen["n"] / max((timezone.now() - seen["first"]).total_seconds(), 0.5)


def _in_hand(run: Run) -> int:
    """Pending rows in slices that a worker has leased."""
    leased = Slice.objects.filter(run=run, done=False, lease__isnull=False).values_list("first_id", "last_id")
    stretches = Q()
    for first, last in leased:
        stretches |= Q(id__gte=first, id__lte=last)
    return Evaluation.objects.filter(stretches, run=run, **PENDING).count() if stretches else 0
