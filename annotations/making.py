"""Making queues and changing them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from annotations.chosen import Chosen
from annotations.models import Item, ItemState, Queue, Rule
from annotations.queueing import ask_again, fill
from annotations.settling import Terms, settle_items
from evalstudio.projects.models import AuditEntry, User
from evaluators.models import EvaluatorVersion

BATCH = 500  # a transaction


class NameTaken(Exception):
    """The project has a queue of that name."""


@transaction.atomic
def make(
    queue: Queue,
    versions: Iterable[EvaluatorVersion],
    reviewers: Iterable[User],
    by: Any,
    *,
    chosen: Chosen | None = None,
    repeated: float = 0.0,
) -> Queue:
    """Store a new queue and fill it with what was chosen; one with an intake is filled as new outputs come.

    `repeated` is the share of items that come a second time. Raises NameTaken, and what `fill` raises.
    """
    queue.author = by
    try:
        with transaction.atomic():
            queue.save()
    except IntegrityError as error:
        raise NameTaken(queue.name) from error
    queue.versions.set(versions)
    queue.reviewers.set(reviewers)
    if chosen:
        fill(queue, chosen.experiment, chosen.baseline, chosen.outputs, by)
        if repeated:
            ask_again(queue, repeated)
    AuditEntry.note(queue.project, by, "made", f"queue {queue.name}")
    return queue


def change(queue: Queue, by: Any, instructions_before: str) -> None:
    """Save the changed columns of a queue; other instructions count as a new version of them, so grades get stale.

    What waited for a decision is settled by a rule under which nobody decides.
    """
    fields = ["name", "rule", "adjudicator", "is_blind"]
    queue.save(update_fields=fields)
    if queue.instructions != instructions_before:
        Queue.objects.filter(pk=queue.pk).update(
            instructions=queue.instructions, instructions_version=F("instructions_version") + 1
        )
        AuditEntry.note(queue.project, by, "changed instructions of", f"queue {queue.name}")
    while queue.rule != Rule.ADJUDICATION and _settle_disputes(queue, by):
        pass


@transaction.atomic
def _settle_disputes(queue: Queue, by: Any) -> int:
    disputed = Item.objects.filter(queue=queue, state=ItemState.DISPUTED).order_by("pk")
    disputed = disputed.select_related("output__experiment", "baseline_output__experiment")
    items = list(disputed.select_for_update(of=("self",))[:BATCH])
    settle_items(Terms.of(queue), items, by)
    return len(items)


def close(queue: Queue, by: Any) -> None:
    """Nothing more is handed out or taken in. What was graded stays and counts."""
    if Queue.objects.filter(pk=queue.pk, closed_at=None).update(closed_at=timezone.now()):
        AuditEntry.note(queue.project, by, "closed", f"queue {queue.name}")


def reopen(queue: Queue, by: Any) -> None:
    if Queue.objects.filter(pk=queue.pk, closed_at__isnull=False).update(closed_at=None):
        AuditEntry.note(queue.project, by, "opened again", f"queue {queue.name}")
