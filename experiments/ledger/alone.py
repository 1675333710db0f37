"""Trying rows one at a time, for a slice that has ended two workers without getting on.

Before a row is tried, the slice's cursor is set to it and committed, with nothing else in the worker's hands. So if the
worker ends again, the row at the cursor did it. It is tried twice more, since a worker may also be killed from outside;
then the sweep fails it, and the slice goes on with the next row.
"""

from __future__ import annotations

from collections.abc import Callable

from django.db.models import Q

from evaluators.core import Score, Why
from experiments.ledger.claim import CRASHES, FREE, Row, claim_alone
from experiments.ledger.desk import Desk
from experiments.ledger.settle import Book, settle
from experiments.ledger.shift import Shift
from experiments.models import Slice

TRIES = 3  # of a row alone
ENDED = "It ended the process that evaluated it, three times while nothing else went on there. The other rows went on."


def try_alone(desk: Desk, shift: Shift, evaluate: Callable[[Row], Score | None]) -> bool:
    """Take one such slice and try its rows; False when there is none, or no more time."""
    if shift.is_over or not (claimed := claim_alone(desk.lane, desk.lease_id)):
        return False
    rows = desk.lay_out(claimed)
    for place, row in enumerate(rows):
        _set_cursor(row)
        score = None if shift.is_over or desk.halted() else evaluate(row)
        if score is None:
            desk.put_back(rows[place:])
            return False
        desk.settle([(row, score)])
    return True


def fail_deadly_rows() -> None:
    """Fail the rows at which a worker ended as often as they may be tried; part of the sweep."""
    found = Slice.objects.filter(FREE, cursor_id__isnull=False, crashes__gte=CRASHES + TRIES)
    for slice_id, run_id, row_id, keeps_details in found.values_list("pk", "run", "cursor_id", "run__keeps_details"):
        assert row_id is not None
        settle(Book(run_id, keeps_details), [(row_id, Score.failed(Why.ENDED_WORKER, ENDED))])
        Slice.objects.filter(pk=slice_id, cursor_id=row_id).update(cursor_id=None, crashes=CRASHES)


def _set_cursor(row: Row) -> None:
    """A new cursor starts with a clean record; one that is there already keeps the crashes it has caused."""
    elsewhere = ~Q(cursor_id=row.id) | Q(cursor_id=None)
    Slice.objects.filter(elsewhere, pk=row.slice_id).update(cursor_id=row.id, crashes=CRASHES)
