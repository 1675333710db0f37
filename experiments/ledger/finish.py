"""Closing what is complete: slices without pending rows, runs without open slices, stopping runs that have landed."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now

from evaluators.core import Status
from experiments.models import Evaluation, Run, RunState, Slice

# Pending rows never have a score; saying so lets the index (run, state, score, id) narrow by id.
PENDING = {"state": Status.PENDING, "score__isnull": True}


def pending_rows_of_slice() -> Exists:
    """For a queryset of slices: whether any row of the slice is still pending."""
    return Exists(
        Evaluation.objects.filter(
            run_id=OuterRef("run_id"), id__gte=OuterRef("first_id"), id__lte=OuterRef("last_id"), **PENDING
        )
    )


def close_slices(slice_ids: Iterable[int]) -> int:
    """Close those of these slices that have no pending row left; the number closed."""
    return (
        Slice.objects.filter(~pending_rows_of_slice(), id__in=list(slice_ids), done=False)
        .update(done=True, lease=None, cursor_id=None)
    )  # fmt: skip


def finish_run(run_id: int) -> bool:
    """Finish the run if no slice of it is open. True for the one caller whose update did it."""
    return bool(
        Run.objects.filter(
            ~Exists(Slice.objects.filter(run_id=OuterRef("pk"), done=False)),
            pk=run_id,
            state__in=(RunState.ACTIVE, RunState.STOPPING),
        ).update(state=RunState.FINISHED, finished_at=Now(), revision=F("revision") + 1)
    )


def land_run(run_id: int) -> bool:
    """A stopping run that no worker holds anything of has stopped. True for the one caller whose update did it."""
    return bool(
        Run.objects.filter(
            ~Exists(Slice.objects.filter(run_id=OuterRef("pk"), done=False, lease__isnull=False)),
            pk=run_id,
            state=RunState.STOPPING,
        ).update(state=RunState.STOPPED, revision=F("revision") + 1)
    )
