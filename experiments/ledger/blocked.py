"""Why a row has not run yet, from the same conditions that pick work, in sentences for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, Sum
from django.db.models.functions import Now
from django.utils import timezone

from evalstudio.calls import leases
from evalstudio.calls.models import ConnectionShare, Lease
from evalstudio.calls.sharing import limit_of
from evalstudio.web import numbers
from evaluators.core import Lane, Status
from experiments.ledger import turns
from experiments.ledger.claim import CRASHES, lane_of, ready_runs
from experiments.ledger.finish import leased_slices
from experiments.ledger.limits import has_spent, is_overtime, reserves_all, said_of
from experiments.models import Evaluation, Run, RunState, Slice

_BY_STATE = {
    RunState.PREPARING: "The rows of this run are still being written.",
    RunState.STOPPING: "The run is being stopped: what is in flight lands, the rest waits until it is resumed.",
    RunState.STOPPED: "The run was stopped. It goes on when it is resumed.",
    RunState.FINISHED: "The run is being reopened.",
}
UNHEARD = timedelta(seconds=5)  # a queued turn that nobody has taken for so long tells that no worker is there


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that wait for the same reason. `until` is when that reason ends by itself, where that is known."""

    rows: int
    why: str
    until: datetime | None = None


@dataclass
class Around:
    """What there is to know of workers, slots and other runs, each thing asked for once."""

    _alive: set[str] | None = None
    _unheard: dict[Lane, timedelta | None] = field(default_factory=dict)
    _ready: dict[Lane, list[Run]] = field(default_factory=dict)
    _taken: dict[int, int] | None = None

    def has_worker(self, lane: Lane) -> bool:
        if self._alive is None:
            self._alive = set(leases.alive().values_list("lane", flat=True))
        return lane in self._alive

    def unheard(self, lane: Lane) -> timedelta | None:
        if lane not in self._unheard:
            self._unheard[lane] = turns.longest_unheard(lane)
        return self._unheard[lane]

    def ready(self, lane: Lane) -> list[Run]:
        if lane not in self._ready:
            self._ready[lane] = list(ready_runs(lane)[:5])
        return self._ready[lane]

    def slots_taken(self, connection_id: int) -> int:
        if self._taken is None:
            shares = ConnectionShare.objects.filter(lease__expires_at__gt=Now()).order_by()
            self._taken = dict(shares.values_list("connection").annotate(Sum("slots")))
        return self._taken.get(connection_id, 0)


def why_not_yet(run: Run) -> list[Waiting]:
    """Every unsettled row of a run, grouped by what it waits for, the largest group first; empty when all is settled.

    A fixed number of queries, however many rows there are.
    """
    return why_not_yet_of([run])[run.pk]


def why_not_yet_of(runs: list[Run]) -> dict[int, list[Waiting]]:
    """The same for several runs, by id, in about as many queries; those with a limit on what they spend take three."""
    around, open_rows, held = Around(), _unsettled(runs), _held_of(runs)
    return {run.pk: _groups(run, open_rows.get(run.pk, {}), held.get(run.pk, []), around) for run in runs}


def why_row_waits(evaluation: Evaluation) -> Waiting | None:
    """The same for one row; None when it is settled."""
    if evaluation.state == Status.AWAITING:
        return _awaiting(evaluation.run, 1, "it")
    if evaluation.state != Status.PENDING:
        return None
    holding = (
        Slice.objects.filter(run=evaluation.run_id, first_id__lte=evaluation.pk, last_id__gte=evaluation.pk)
        .select_related("lease")
        .first()
    )
    if holding is None or holding.lease is None or evaluation.run.state == RunState.PREPARING:
        return _free(evaluation.run, 1, Around())
    return _held(1, holding.lease, holding.crashes, evaluation.pk == holding.cursor_id)


def _unsettled(runs: Iterable[Run]) -> dict[int, dict[int, int]]:
    """How many rows of each run are pending and awaiting, by run and state."""
    rows = Evaluation.objects.filter(run__in=list(runs), state__lte=Status.AWAITING, score__isnull=True).order_by()
    counts: dict[int, dict[int, int]] = {}
    for run_id, state, n in rows.values_list("run", "state").annotate(Count("pk")):
        counts.setdefault(run_id, {})[state] = n
    return counts


def _held_of(runs: Iterable[Run]) -> dict[int, list[Waiting]]:
    """The rows of each run that workers have."""
    held: Counter[tuple[int, Lease, bool]] = Counter()
    for part in leased_slices(runs):
        held[part.run_id, part.lease, part.crashes >= CRASHES] += part.pending
    groups: dict[int, list[Waiting]] = {}
    for (run_id, lease, alone), rows in held.items():
        groups.setdefault(run_id, []).append(_held(rows, lease, CRASHES if alone else 0, False))
    return groups


def _groups(run: Run, counts: dict[int, int], held: list[Waiting], around: Around) -> list[Waiting]:
    pending, awaiting = counts.get(Status.PENDING, 0), counts.get(Status.AWAITING, 0)
    groups = list(held) if pending else []
    free = max(0, pending - sum(group.rows for group in groups))
    if free:
        groups.append(_free(run, free, around))
    if awaiting:
        groups.append(_awaiting(run, awaiting, "them"))
    return sorted((group for group in groups if group.rows), key=lambda group: -group.rows)


def _awaiting(run: Run, rows: int, what: str) -> Waiting:
    if run.state != RunState.ACTIVE:
        return Waiting(rows, _of_state(run))
    if run.lane == "outside":
        return Waiting(rows, "Another program makes the scores; they have not been sent yet.")
    return Waiting(rows, f"A person has to grade {what}.")


def _of_state(run: Run) -> str:
    reached = said_of(run) if run.state in (RunState.STOPPING, RunState.STOPPED) else ""
    return reached or _BY_STATE[RunState(run.state)]


def _held(rows: int, lease: Lease, crashes: int, at_cursor: bool) -> Waiting:
    if lease.expires_at <= timezone.now() or leases.is_gone(lease):
        return Waiting(
            rows, "The worker that held them has ended; they are free again when its lease runs out.", lease.expires_at
        )
    if at_cursor:
        return Waiting(rows, "It is being tried alone, because its neighbourhood has ended two workers.")
    if crashes >= CRASHES:
        return Waiting(rows, "They are tried one at a time, because one of them has ended two workers.")
    return Waiting(rows, "A worker has them: they are being evaluated or next in line.")


def _free(run: Run, rows: int, around: Around) -> Waiting:
    """Why nobody has taken what is free: the first condition of the claim that does not hold."""
    if run.state != RunState.ACTIVE:
        return Waiting(rows, _of_state(run))
    return (
        _endpoint(run, rows) or _at_limit(run, rows) or _nobody_there(run, rows, around) or _in_line(run, rows, around)
    )


def _endpoint(run: Run, rows: int) -> Waiting | None:
    connection = run.connection
    if connection is None:
        return None
    if connection.archived_at:
        return Waiting(rows, f"The connection “{connection.name}” is archived. Use it again, or choose another.")
    if connection.blocked_until and connection.blocked_until > timezone.now():
        because = f" {connection.blocked_why}" if connection.blocked_why else ""
        return Waiting(rows, f"“{connection.name}” has to be left alone for now.{because}", connection.blocked_until)
    return None


def _at_limit(run: Run, rows: int) -> Waiting | None:
    if has_spent(run) or is_overtime(run):
        return Waiting(rows, "The run has reached its limit and is about to stop.")
    if reserves_all(run):
        assert run.limit_usd is not None
        limit = numbers.usd(run.limit_usd)
        return Waiting(rows, f"What is in flight may use up the limit of {limit}: the rest waits for what it costs.")
    return None


def _nobody_there(run: Run, rows: int, around: Around) -> Waiting | None:
    """No worker of this lane lives: either a queued turn is about to be taken, or there is no background worker."""
    if around.has_worker(lane_of(run)):
        return None
    waited = around.unheard(lane_of(run))
    if waited is None:
        return Waiting(rows, "No worker is at it; the next look around, within a minute, calls one.")
    if waited > UNHEARD:
        seconds = round(waited.total_seconds())
        long = f"{seconds} s" if seconds < 60 else numbers.duration(seconds * 1000)
        return Waiting(rows, f"No background worker has answered for {long}. Is it running?")
    return Waiting(rows, "A worker has been called and is about to begin.")


def _in_line(run: Run, rows: int, around: Around) -> Waiting:
    if run.connection_id and (full := _slots_taken(run, rows, around)):
        return full
    others = [other for other in around.ready(lane_of(run)) if other.pk != run.pk]
    first = next((other for other in others if other.priority > run.priority), None)
    if first:
        return Waiting(rows, f"“{first.title}” has a higher priority and is served first.")
    alike = next((other for other in others if other.priority == run.priority), None)
    if alike:
        return Waiting(rows, f"Workers serve runs in turn; “{alike.title}” is also being served.")
    return Waiting(rows, "Next in line: a worker takes them as soon as it has room.")


def _slots_taken(run: Run, rows: int, around: Around) -> Waiting | None:
    connection = run.connection
    assert connection is not None
    limit = limit_of(connection)
    if around.slots_taken(connection.pk) < limit:
        return None
    return Waiting(rows, f"All {limit} calls at once that “{connection.name}” allows are in use.")
