"""Closing what is complete: slices without pending rows, runs without open slices, stopping runs that have landed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now
from django_q.tasks import async_task

from evalstudio.calls.models import Lease
from evaluators.core import Status
from experiments.models import Evaluation, Purpose, Run, RunState, Slice

READY = "experiments.analysis.readying.ready"  # a queued task keeps this path: it must never move

# Slices: said this way it reads the index (run, done, id); `done=False` becomes "NOT done", which no index serves.
OPEN = Q(done__in=(False,))
# Rows: a pending one never has a score; saying so lets the index (run, state, score, id) narrow by id.
PENDING = {"state": Status.PENDING, "score__isnull": True}


def pending_rows_of_slice() -> QuerySet[Evaluation]:
    """For a subquery of a queryset of slices: the rows of the slice that are still pending."""
    return Evaluation.objects.filter(
        run_id=OuterRef("run_id"), id__gte=OuterRef("first_id"), id__lte=OuterRef("last_id"), **PENDING
    )


@dataclass(frozen=True, slots=True)
class Leased:
    """A slice that a worker holds, with the number of its rows that are still pending."""

    run_id: int
    lease: Lease
    crashes: int
    pending: int


def leased_slices(runs: Iterable[Run]) -> list[Leased]:
    """What workers hold of these runs. One query."""
    counted = pending_rows_of_slice().order_by().values("run").annotate(n=Count("pk")).values("n")
    held = Slice.objects.filter(OPEN, run__in=list(runs), lease__isnull=False).annotate(n=Subquery(counted))
    return [
        Leased(part.run_id, part.lease, part.crashes, part.n or 0)  # type: ignore[arg-type]
        for part in held.select_related("lease")
    ]


@transaction.atomic
def close_slices(slice_ids: Iterable[int]) -> int:
    """Close those of these slices that have no pending row left; the number closed.

    The lock comes first, in a statement of its own: on PostgreSQL an update that had to wait for somebody who asks rows
    again would still see these rows as they were before.
    """
    found = Slice.objects.filter(OPEN, id__in=list(slice_ids))
    held = list(found.select_for_update().order_by("id").values_list("pk", flat=True))
    complete = Slice.objects.filter(~Exists(pending_rows_of_slice()), id__in=held)
    return complete.update(done=True, lease=None, cursor_id=None)


@transaction.atomic
def finish_run(run_id: int) -> bool:
    """Finish the run if no slice of it is open and no row awaits people. True for the one caller whose update did it.

    Locks first, as above. What pages will read of its results is then made ready by a task of the queue.
    """
    purpose = Run.objects.select_for_update().filter(pk=run_id).values_list("purpose", flat=True).first()
    is_done = bool(
        Run.objects.filter(
            ~Exists(Slice.objects.filter(OPEN, run_id=OuterRef("pk"))),
            ~Exists(Evaluation.objects.filter(run_id=OuterRef("pk"), state=Status.AWAITING)),
            pk=run_id,
            state__in=(RunState.ACTIVE, RunState.STOPPING),
        ).update(state=RunState.FINISHED, finished_at=Now(), revision=F("revision") + 1)
    )
    if is_done and purpose == Purpose.RESULTS:
        transaction.on_commit(partial(async_task, READY, run_id, task_name=f"ready run {run_id}"))
    return is_done


def land_run(run_id: int) -> bool:
    """A stopping run that no worker holds anything of has stopped. True for the one caller whose update did it."""
    return bool(
        Run.objects.filter(
            ~Exists(Slice.objects.filter(OPEN, run_id=OuterRef("pk"), lease__isnull=False)),
            pk=run_id,
            state=RunState.STOPPING,
        ).update(state=RunState.STOPPED, revision=F("revision") + 1)
    )
