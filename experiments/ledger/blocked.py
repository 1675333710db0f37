"""Why a row has not run yet, from the same conditions that pick work, in sentences for people."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Sum
from django.db.models.functions import Now
from django.utils import timezone

from evalstudio.calls import leases
from evalstudio.calls.models import ConnectionShare, Lease
from evalstudio.calls.sharing import limit_of
from evaluators.core import Status
from experiments.ledger import turns
from experiments.ledger.claim import CRASHES, lane_of, ready_runs
from experiments.ledger.finish import PENDING, leased_slices
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


def why_not_yet(run: Run) -> list[Waiting]:
    """Every unsettled row of a run, grouped by what it waits for, the largest group first; empty when all is settled.

    A fixed number of queries, however many rows there are.
    """
    groups = _in_slices(run)
    awaiting = Evaluation.objects.filter(run=run, state=Status.AWAITING, score__isnull=True).count()
    if awaiting:
        groups.append(_awaiting(run, awaiting, "them"))
    return sorted((group for group in groups if group.rows), key=lambda group: -group.rows)


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
        return _free(evaluation.run, 1)
    return _held(1, holding.lease, holding.crashes, evaluation.pk == holding.cursor_id)


def _awaiting(run: Run, rows: int, what: str) -> Waiting:
    if run.state == RunState.ACTIVE:
        return Waiting(rows, f"A person has to grade {what}.")
    return Waiting(rows, _BY_STATE[RunState(run.state)])


def _in_slices(run: Run) -> list[Waiting]:
    pending = Evaluation.objects.filter(run=run, **PENDING).count()
    if not pending:
        return []
    held: Counter[tuple[Lease, bool]] = Counter()
    for part in leased_slices([run]):
        held[part.lease, part.crashes >= CRASHES] += part.pending
    groups = [_held(rows, lease, CRASHES if alone else 0, False) for (lease, alone), rows in held.items()]
    return [*groups, _free(run, max(0, pending - held.total()))]


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


def _free(run: Run, rows: int) -> Waiting:
    """Why nobody has taken what is free: the first condition of the claim that does not hold."""
    if run.state != RunState.ACTIVE:
        return Waiting(rows, _BY_STATE[RunState(run.state)])
    return _endpoint(run, rows) or _nobody_there(run, rows) or _in_line(run, rows)


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


def _nobody_there(run: Run, rows: int) -> Waiting | None:
    """No worker of this lane lives: either a queued turn is about to be taken, or there is no background worker."""
    if leases.alive().filter(lane=run.lane).exists():
        return None
    waited = turns.longest_unheard(lane_of(run))
    if waited is None:
        return Waiting(rows, "No worker is at it; the next look around, within a minute, calls one.")
    if waited > UNHEARD:
        return Waiting(rows, f"No background worker has answered for {waited.total_seconds():.0f} s. Is it running?")
    return Waiting(rows, "A worker has been called and is about to begin.")


def _in_line(run: Run, rows: int) -> Waiting:
    if run.connection_id and (full := _slots_taken(run, rows)):
        return full
    before = [other.version.evaluator.name for other in ready_runs(lane_of(run))[:5] if other.pk != run.pk]
    if before:
        return Waiting(rows, f"Workers serve runs in turn; “{before[0]}” is also being served.")
    return Waiting(rows, "Next in line: a worker takes them as soon as it has room.")


def _slots_taken(run: Run, rows: int) -> Waiting | None:
    connection = run.connection
    assert connection is not None
    shares = ConnectionShare.objects.filter(connection=connection, lease__expires_at__gt=Now())
    taken = shares.aggregate(n=Sum("slots"))["n"] or 0
    limit = limit_of(connection)
    if taken < limit:
        return None
    return Waiting(rows, f"All {limit} calls at once that “{connection.name}” allows are in use.")
