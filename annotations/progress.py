"""How far queues are: what is graded, by whom, how long it takes and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Avg, Count, Max, Q
from django.utils import timezone

from annotations.models import Grade, GradeState, Item, ItemState, Queue, Reservation
from evalstudio.projects.models import User


@dataclass(frozen=True, slots=True)
class Progress:
    """Of a queue. A turn is one person's grading of one item; a queue asks for items × graders of them.

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
    """How far each queue is, by its id. Three queries."""
    seats = Reservation.objects.filter(queue__in=queues).order_by().values("queue")
    seats = seats.annotate(
        n=Count("pk"), done=Count("pk", filter=Q(is_done=1)), mine=Count("pk", filter=Q(is_done=1, person=person))
    )
    items = Item.objects.filter(queue__in=queues).order_by().values("queue")
    items = items.annotate(
        n=Count("pk"),
        settled=Count("pk", filter=Q(state=ItemState.DONE)),
        disputed=Count("pk", filter=Q(state=ItemState.DISPUTED)),
    )
    timed = Grade.objects.filter(item__queue__in=queues, seconds__isnull=False, is_current=True).order_by()
    pace = dict(timed.values_list("item__queue").annotate(mean=Avg("seconds")))
    turns = {row["queue"]: row for row in seats}
    nothing = {"n": 0, "done": 0, "mine": 0}
    found = {}
    for row in items:
        pk, here = row["queue"], turns.get(row["queue"], nothing)
        found[pk] = Progress(
            *(row["n"], row["settled"], row["disputed"]), here["n"], here["done"], here["mine"], pace.get(pk)
        )
    return {queue.pk: found.get(queue.pk, Progress()) for queue in queues}


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
