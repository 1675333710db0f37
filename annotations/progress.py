"""How far queues are: what is graded, by whom, how long it takes and what is left."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.db.models import Avg, Count, Exists, Max, OuterRef, Q
from django.utils import timezone

from annotations.models import Grade, GradeState, Item, ItemState, Queue, Reservation
from evalstudio.projects.models import User

FEW = 20  # turns up to which the mean time follows each of them
MORE = 1.05


@dataclass(frozen=True, slots=True)
class Progress:
    """Of a queue. A turn is one person's grading of one item; a queue asks for items × graders of them.

    Hidden second askings are turns while anything else is left; those that nobody came back for are none after that.
    `seconds` is the mean time of a turn, None while none was timed.
    """

    items: int = 0
    settled: int = 0
    disputed: int = 0
    turns: int = 0
    done: int = 0
    mine: int = 0
    seconds: float | None = None

    @property
    def left(self) -> int:
        """Turns that nobody has finished."""
        return self.turns - self.done

    @property
    def turn_ms(self) -> float | None:
        """The mean time of a turn."""
        return None if self.seconds is None else self.seconds * 1000

    @property
    def left_ms(self) -> float | None:
        """What the turns that are left take, at the pace so far, if one person did them all."""
        return None if self.seconds is None else self.left * self.seconds * 1000

    @property
    def share(self) -> float:
        return self.done / self.turns if self.turns else 0.0

    @property
    def width(self) -> str:
        """The share as the width of a bar."""
        return f"{100 * self.share:.1f}%"


@dataclass(frozen=True, slots=True)
class Part:
    """What one person has done in a queue."""

    person: User
    done: int
    skipped: int
    holds: int
    turn_ms: float | None
    latest: datetime | None


def progress_of(queues: Sequence[Queue], person: Any) -> dict[int, Progress]:
    """How far each queue is, by its id. Up to four queries that read indexes alone, and at times one for the pace."""
    seats = Reservation.objects.filter(queue__in=queues).order_by()
    turns = {(queue, done): n for queue, done, n in seats.values_list("queue", "is_done").annotate(n=Count("pk"))}
    mine = dict(seats.filter(person=person, is_done=1).values_list("queue").annotate(n=Count("pk")))
    for queue in _with_repeats_alone(turns):
        turns[queue, 0] = 0
    items = Item.objects.filter(queue__in=queues).order_by()
    states = {(queue, state): n for queue, state, n in items.values_list("queue", "state").annotate(n=Count("pk"))}
    pace = _pace(queues, {queue.pk: turns.get((queue.pk, 1), 0) for queue in queues})
    return {
        queue.pk: Progress(
            items=sum(states.get((queue.pk, state), 0) for state in ItemState),
            settled=states.get((queue.pk, ItemState.DONE), 0),
            disputed=states.get((queue.pk, ItemState.DISPUTED), 0),
            turns=turns.get((queue.pk, 0), 0) + turns.get((queue.pk, 1), 0),
            done=turns.get((queue.pk, 1), 0),
            mine=mine.get(queue.pk, 0),
            seconds=pace.get(queue.pk),
        )
        for queue in queues
    }


def _with_repeats_alone(turns: Mapping[tuple[int, int], int]) -> list[int]:
    """Of the queues by their open and finished turns, those in which nothing but hidden second askings is open.

    An item has one such asking at most, so they are never more than half of all turns.
    """
    few = [queue for (queue, done), n in turns.items() if not done and 0 < n <= turns.get((queue, 1), 0)]
    if not few:
        return []
    ordinary = Reservation.objects.filter(queue=OuterRef("pk"), is_done=0, item__repeats=None)
    return list(Queue.objects.filter(~Exists(ordinary), pk__in=few).values_list("pk", flat=True))


def _pace(queues: Sequence[Queue], done: Mapping[int, int]) -> dict[int, float | None]:
    """The mean time of a turn by queue, worked out anew whenever a twentieth more is done."""
    steps = {pk: n if n < FEW else int(math.log(n, MORE)) for pk, n in done.items()}
    keys = {f"pace-of-queue:{each.pk}:{each.created_at.timestamp()}:{steps[each.pk]}": each.pk for each in queues}
    known = {keys[key]: mean for key, mean in cache.get_many(keys).items()}
    if missing := [pk for pk in keys.values() if pk not in known]:
        timed = Grade.objects.filter(item__queue__in=missing, seconds__isnull=False, is_current=True).order_by()
        means = dict(timed.values_list("item__queue").annotate(mean=Avg("seconds")))
        known |= {pk: means.get(pk) for pk in missing}
        cache.set_many({key: known[pk] for key, pk in keys.items() if pk in missing}, timeout=None)
    return known


def parts_of(queue: Queue) -> list[Part]:
    """What everybody has done who was asked or came, those with most first. Three queries."""
    seats = Reservation.objects.filter(queue=queue, person__isnull=False).order_by().values("person")
    held = seats.annotate(
        done=Count("pk", filter=Q(is_done=1)), holds=Count("pk", filter=Q(is_done=0, held_until__gt=timezone.now()))
    )
    said = Grade.objects.filter(item__queue=queue, is_current=True).order_by().values("person")
    told = said.annotate(
        skipped=Count("item", filter=Q(state=GradeState.SKIPPED), distinct=True),
        turn_ms=Avg("seconds") * 1000,
        latest=Max("created_at"),
    )
    nothing = {"done": 0, "holds": 0, "skipped": 0, "turn_ms": None, "latest": None}
    found: dict[int, dict[str, Any]] = {}
    for row in (*held, *told):
        found.setdefault(row["person"], dict(nothing)).update(row)
    asked = Q(pk__in=queue.reviewers.values("pk")) | Q(pk__in=list(found))
    parts = []
    for person in User.objects.filter(asked).order_by("username"):
        parts.append(Part(**{**found.get(person.pk, nothing), "person": person}))
    return sorted(parts, key=lambda part: -part.done)
