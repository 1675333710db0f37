"""Where an output stands in a view: its number, the outputs beside it, and the next one that lacks a score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Min, Q

from evalstudio.web.pagination import Page, Place
from evaluators.core import Status
from experiments.analysis.grid import View, walk
from experiments.analysis.summary import Summary
from experiments.models import Evaluation, Experiment, Output, Run

ERRORS = (Status.UNSCORED, Status.FAILED)


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Ids of outputs, None where there is none. `number` counts from 1; it is None for an output outside the view."""

    number: int | None = None
    total: int | None = None
    previous: int | None = None
    next: int | None = None


def neighbours_of(
    experiment: Experiment, view: View, summary: Summary | None, output: Output, page: Page | None = None
) -> Neighbours:
    """The neighbours of an output in the order of the view.

    `summary` is that of the chosen run; `page` is one of the view that is at hand already.
    """
    rows = walk(experiment, view, summary)
    near = page.rows if page else []
    at = next((number for number, row in enumerate(near) if row.shown == output.pk), None)
    place = rows.place_of(shown=output.pk) if at is None else Place.of(near[at])
    if place is None:
        return Neighbours()
    before, after = (near[at - 1 : at] if at else [], near[at + 1 :]) if at is not None else ([], [])
    if not before and not (at == 0 and page and page.previous is None):
        before = rows.beyond(place, 1, backwards=True)
    if not after and not (at is not None and page and page.next is None):
        after = rows.beyond(place, 1)
    return Neighbours(rows.count_before(place) + 1, view.total(summary), _shown(before), _shown(after))


def _shown(rows: Sequence[Any]) -> int | None:
    return rows[0].shown if rows else None


def next_error(runs: list[Run], after: Output | None = None) -> int | None:
    """The next output, as they came, that some run could not score; from the last one on to the first. One query."""
    errors = Evaluation.objects.filter(run__in=runs, state__in=ERRORS)
    if after is None:
        return errors.aggregate(first=Min("output"))["first"]
    found = errors.exclude(output=after).aggregate(
        first=Min("output"), beyond=Min("output", filter=Q(output__gt=after))
    )
    return found["beyond"] or found["first"]
