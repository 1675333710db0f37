"""Taking work: which run is next, which of its slices are free, and what their rows hold.

The conditions stand here as querysets because `blocked` explains waiting rows by the very same ones.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, cast

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast, Now

from evalstudio.calls.leases import alive
from evaluators.core import Lane, Sample
from experiments.ledger.finish import OPEN, PENDING
from experiments.ledger.limits import WITHIN_LIMITS, affordable
from experiments.models import Evaluation, Purpose, Run, RunState, Slice
from experiments.samples import compared

CRASHES = 2  # a slice that has ended so many workers is tried alone
MOST_SLICES = 16  # leased at once
JUDGED = (
    "output__case__inputs",
    "output__case__expected_outputs",
    "output__case__metadata",
    "output__body__outputs",
    "output__body__steps",
)
BASELINE = ("baseline_output__body__outputs", "baseline_output__body__steps")
ASKED = ("case__inputs", "case__metadata")

ENDPOINT_IS_OPEN = Q(connection=None) | Q(connection__archived_at=None) & (
    Q(connection__blocked_until=None) | Q(connection__blocked_until__lte=Now())
)
FREE = OPEN & Q(lease=None)
TOGETHER = Q(crashes__lt=CRASHES)
ALONE = Q(crashes__gte=CRASHES)
ANY = Q()


@dataclass(frozen=True, slots=True)
class Row:
    """A pending row with what an evaluator may see of it."""

    id: int
    run_id: int
    slice_id: int
    sample: Sample


@dataclass(frozen=True, slots=True)
class Claim:
    """Slices of one run, leased to this worker."""

    run: Run
    slices: list[Slice]


def lane_of(run: Run) -> Lane:
    return cast(Lane, run.lane)


def ready_runs(lane: Lane, which: Q = TOGETHER) -> QuerySet[Run]:
    """Runs of a lane that have a free slice and may be worked on now: the highest priority, then longest unserved."""
    free = Slice.objects.filter(FREE, which, run_id=OuterRef("pk"))
    return (
        Run.objects.filter(ENDPOINT_IS_OPEN, WITHIN_LIMITS, Exists(free), state=RunState.ACTIVE, lane=lane)
        .select_related("version__evaluator", "connection", "experiment__system__prompt")
        .order_by("-priority", F("served_at").asc(nulls_first=True), "pk")
    )


def claim(lane: Lane, lease_id: str, room: int, connection_id: int | None = None) -> Claim | None:
    """Lease slices for about `room` rows of the run that has waited longest, among those that call this connection."""
    return _take_first(ready_runs(lane).filter(connection=connection_id), lease_id, TOGETHER, room)


def claim_alone(lane: Lane, lease_id: str) -> Claim | None:
    """Lease one slice that has ended two workers, to be tried row by row."""
    return _take_first(ready_runs(lane, ALONE), lease_id, ALONE, 1)


def _take_first(runs: QuerySet[Run], lease_id: str, which: Q, room: int) -> Claim | None:
    for run in runs:
        if slices := _lease_slices(run, lease_id, which, room):
            return Claim(run, slices)
    return None


@transaction.atomic
def _lease_slices(run: Run, lease_id: str, which: Q, room: int) -> list[Slice]:
    """Lease free slices of a run that is still active to a worker that is still taken for alive.

    The run's row is locked first, as by everybody who changes a run and its slices, so that nobody waits in a circle.
    Slices that somebody is just closing are passed over.
    """
    active = Run.objects.select_for_update().filter(WITHIN_LIMITS, pk=run.pk, state=RunState.ACTIVE)
    found_active = active.only("limit_usd", "spent_usd").first()
    if not (found_active and alive().filter(pk=lease_id).exists()):
        return []
    left = affordable(found_active)
    room = room if left is None else min(room, left)
    free = Slice.objects.select_for_update(skip_locked=True).filter(FREE, which, run=run).order_by("id")
    chosen: list[Slice] = []
    for found in free[:MOST_SLICES]:
        if room <= 0:
            break
        chosen.append(found)
        room -= found.last_id - found.first_id + 1
    if chosen:
        Slice.objects.filter(pk__in=[found.pk for found in chosen]).update(lease=lease_id)
        active.update(served_at=Now())
    return chosen


def read_rows(claimed: Claim) -> list[Row]:
    """The pending rows of what was claimed, in order, with cases and outputs. One query, and no transaction."""
    is_asked = claimed.run.purpose == Purpose.ANSWERS
    columns = ASKED if is_asked else (*JUDGED, *BASELINE) if claimed.run.baseline_id else JUDGED
    sample_of = _asked if is_asked else _sample
    texts = [Cast(column, TextField()) for column in columns]
    last_ids = [part.last_id for part in claimed.slices]
    pending = Evaluation.objects.filter(_stretches(claimed.slices), run=claimed.run, **PENDING).order_by("id")
    return [
        Row(
            row_id,
            claimed.run.pk,
            claimed.slices[bisect_left(last_ids, row_id)].pk,
            sample_of(repeat, *map(_loaded, told)),
        )
        for row_id, repeat, *told in pending.values_list("id", "repeat", *texts)
    ]


def _loaded(text: str | None) -> Any:
    """What a JSON column holds. It is read as text because the field takes longer; orjson would make floats of integers
    beyond 64 bits and refuse half a surrogate pair."""
    return None if text is None else json.loads(text)


def _asked(attempt: int, inputs: Any, metadata: Any) -> Sample:
    """A case as a system sees it that has yet to answer."""
    return Sample(inputs=inputs, metadata=metadata, repeat=attempt)


def _sample(repeat: int, inputs: Any, expected: Any, metadata: Any, outputs: Any, steps: Any, *baseline: Any) -> Sample:
    sample = Sample(
        inputs=inputs, expected_outputs=expected, outputs=outputs, steps=steps, metadata=metadata, repeat=repeat
    )
    return compared(sample, *baseline) if baseline else sample


def _stretches(slices: list[Slice]) -> Q:
    """The rows of these slices, given in order; neighbours are one condition."""
    found: list[list[int]] = []
    for part in slices:
        if found and found[-1][1] + 1 == part.first_id:
            found[-1][1] = part.last_id
        else:
            found.append([part.first_id, part.last_id])
    return reduce(or_, (Q(id__gte=first, id__lte=last) for first, last in found))


def release(lease_id: str, slice_ids: Iterable[int] | None = None) -> int:
    """Give slices back without blame: these, or all that the lease holds."""
    held = Slice.objects.filter(lease=lease_id)
    return (held if slice_ids is None else held.filter(pk__in=list(slice_ids))).update(lease=None)
