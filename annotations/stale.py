"""Grades given under older instructions of their queue, and asking the same people for them again."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotations.access import graders_of
from annotations.answers import draft_of
from annotations.models import Grade, GradeState, Item, ItemState, Queue, Reservation
from annotations.settling import Terms, settle_items
from evalstudio.projects.models import AuditEntry

BATCH = 500  # a transaction


def stale_grades(queue: Queue) -> QuerySet[Grade]:
    """The grades of a queue that count although its instructions have changed since."""
    given = Grade.objects.filter(item__queue=queue, is_current=True, is_decision=False, is_repeat=False)
    return given.exclude(state=GradeState.SKIPPED).filter(instructions_version__lt=queue.instructions_version)


def seats_to_open(queue: Queue) -> QuerySet[Reservation]:
    """The seats that are done by such a grade, of people who still grade in the queue."""
    mine = stale_grades(queue).filter(item=OuterRef("item"), person=OuterRef("person"))
    seats = Reservation.objects.filter(Exists(mine), queue=queue, is_done=1)
    seats = seats.filter(person__in=graders_of(queue.project).values("pk"))
    return seats.filter(person__in=queue.reviewers.values("pk")) if queue.reviewers.exists() else seats


def ask_anew(queue: Queue, by: Any) -> int:
    """Open those seats to the same people, what they said as their draft; how many. Old grades count until replaced."""
    opened = 0
    while some := _open_some(queue):
        opened += some
    AuditEntry.note(queue.project, by, "asked for stale grades again in", f"queue {queue.name}")
    return opened


@transaction.atomic
def _open_some(queue: Queue) -> int:
    ids = list(seats_to_open(queue).order_by("pk").values_list("item", flat=True)[:BATCH])
    items = Item.objects.select_for_update().in_bulk(ids)  # nobody grades them meanwhile
    said: dict[tuple[int | None, int], list[Grade]] = defaultdict(list)
    for grade in stale_grades(queue).filter(item__in=items).select_related("version__evaluator").order_by("pk"):
        said[grade.item_id, grade.person_id].append(grade)
    seats = list(seats_to_open(queue).filter(item__in=items))
    for seat in seats:
        seat.draft = draft_of(items[seat.item_id], said[seat.item_id, seat.person_id or 0])
        seat.is_done, seat.held_until = 0, None
    Reservation.objects.bulk_update(seats, ["draft", "is_done", "held_until"])
    return len(seats)


def give_up() -> int:
    """Close the seats that are asked again of people who grade there no more: what they said stays. How many."""
    closed = 0
    for queue in Queue.objects.filter(closed_at=None, instructions_version__gt=1).select_related("project"):
        while some := _give_up_some(queue):
            closed += some
    return closed


@transaction.atomic
def _give_up_some(queue: Queue) -> int:
    asked = Reservation.objects.filter(queue=queue, is_done=0, person__isnull=False, held_until=None)
    left = asked.exclude(person__in=graders_of(queue.project).values("pk"))
    if queue.reviewers.exists():
        left |= asked.exclude(person__in=queue.reviewers.values("pk"))
    seats = dict(left.order_by("pk").values_list("pk", "item")[:BATCH])
    if not seats:
        return 0
    items = Item.objects.filter(pk__in=seats.values()).select_related(
        "output__experiment", "baseline_output__experiment"
    )
    found = list(items.order_by("pk").select_for_update(of=("self",)))  # nobody grades them meanwhile
    closed = Reservation.objects.filter(pk__in=seats, is_done=0, held_until=None).update(is_done=1, draft=None)
    # What people are split about waited for these grades, and now for somebody else's.
    settle_items(Terms.of(queue), [item for item in found if item.state == ItemState.OPEN], None)
    return closed
