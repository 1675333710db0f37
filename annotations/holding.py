"""Who holds what: items go to one person at a time, for a while."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, Max, OuterRef, Q
from django.utils import timezone

from annotations.models import Grade, Item, Queue, Reservation

HOLD = timedelta(minutes=15)  # how long an item waits for whoever opened it, from their last sign of life
RENEWED = timedelta(seconds=30)  # how often at most, so that quick graders do not write it every time
AT_HAND = 2  # items a person holds: the one they see and the next
LOOKED_AT = 8  # free seats tried before asking for more, so that fifty people at once find one each


def at_hand(queue: Queue, person: Any, number: int = AT_HAND) -> list[Reservation]:
    """Up to `number` seats for this person, those they hold already first; fewer where there is no more to grade."""
    if queue.closed_at is not None:
        return []
    now = timezone.now()
    mine = Reservation.objects.filter(queue=queue, person=person, is_done=0)
    held = list(mine.order_by("place", "pk")[:number])
    if any(seat.held_until and seat.held_until < now + HOLD - RENEWED for seat in held):
        mine.filter(held_until__isnull=False).update(held_until=now + HOLD)
        held = list(mine.order_by("place", "pk")[:number])  # without what somebody else has taken in the meantime
    while len(held) < number and (seat := _take(queue, person)):
        held.append(seat)
    return held


def _take(queue: Queue, person: Any) -> Reservation | None:
    """A free seat of the first item that this person has not seen, theirs from now on; None where there is none.

    A hidden second asking is for those who were asked the first time.
    """
    now = timezone.now()
    free = Q(person=None) | Q(held_until__lte=now)
    seen = Reservation.objects.filter(item=OuterRef("item"), person=person)
    graded = Grade.objects.filter(item=OuterRef("item"), person=person, is_current=True)
    first = Grade.objects.filter(item=OuterRef("item__repeats"), person=person, is_current=True)
    asked = Q(item__repeats=None) | Exists(first)
    seats = Reservation.objects.filter(free, asked, ~Exists(seen), ~Exists(graded), queue=queue, is_done=0)
    taken = {"person": person, "held_until": now + HOLD, "started_at": now, "draft": None}
    while candidates := list(seats.order_by("place", "pk")[:LOOKED_AT]):
        for seat in candidates:
            try:
                with transaction.atomic():
                    won = Reservation.objects.filter(free, pk=seat.pk, is_done=0).update(**taken)
            except IntegrityError:  # the same person, in another tab, holds another seat of this item now
                continue
            if won:
                for name, value in taken.items():
                    setattr(seat, name, value)
                return seat
    return None


def release(item: Item, person: Any) -> None:
    """The seat is free for somebody else."""
    Reservation.objects.filter(item=item, person=person, is_done=0).update(person=None, held_until=None, draft=None)


def keep_draft(item: Item, person: Any, draft: Mapping[str, Any]) -> bool:
    """What somebody has typed so far; a sign of life as well. False where they no longer hold the item."""
    mine = Reservation.objects.filter(item=item, person=person, is_done=0)
    mine.filter(held_until__isnull=False).update(held_until=timezone.now() + HOLD)
    return bool(mine.update(draft=dict(draft)))


def ask_another(tied: Iterable[int]) -> None:
    """Another person is asked about each of these items, on which people are split, unless somebody still is."""
    for item in Item.objects.filter(pk__in=tied).exclude(reservations__is_done=0):
        last = item.reservations.aggregate(last=Max("number"))["last"]
        Reservation.objects.create(item=item, queue_id=item.queue_id, place=item.place, number=(last or 0) + 1)
