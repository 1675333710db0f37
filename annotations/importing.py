"""Grades from a file: rows are matched to the items of a queue, stored many at a time, and settle what they can.
Those of an evaluator are matched to outputs, and count for the latest queue that asks for them, if there is any.

A row that says what the person has said already changes nothing, so a file may be sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotations.models import Grade, Item, Queue, Reservation
from annotations.rows import Reader, SaidElsewhere
from annotations.settling import Pair, Terms, pair_of, settle_items
from annotations.subjects import SEVERAL, subjects_of
from annotations.tasks import flat
from evalstudio.projects.models import User
from evaluators.models import EvaluatorVersion
from experiments.ledger.outside import Fault, Taken

BATCH = 500  # rows a transaction
NEEDED = (  # of an item
    *("queue_id", "output_id", "baseline_output_id", "content_hash"),
    *("output__experiment_id", "output__attempt", "output__case__key", "baseline_output__experiment_id"),
)


def take(queue: Queue, rows: Iterable[tuple[int, Any]], by: User, taken: Taken) -> None:
    """Store the grades of rows, each with its line; those that are wrong are named, the others are kept.

    A row names its `case`, where there are several an `attempt` or the ids of `experiment` and `baseline`, and says a
    `label`, a `number` of the scale or a `score` from 0 to 1, by an `evaluator` and a `person` where there is a choice.
    Who is not known here becomes a person without access, whose name says who brought their grades.
    """
    reader = Reader(queue.asked, queue.project, by)
    _in_batches(reader, rows, taken, lambda batch: _store(queue, batch, by, taken))


def take_by(version: EvaluatorVersion, rows: Iterable[tuple[int, Any]], by: User, taken: Taken) -> None:
    """The same for one evaluator: a row names a case of any result of the project, its `experiment` where there are
    several, and the `baseline` of a pair."""
    project = version.evaluator.project
    reader = Reader([version], project, by)
    _in_batches(reader, rows, taken, lambda batch: _store_by(version, batch, by, taken))


def _in_batches(
    reader: Reader, rows: Iterable[tuple[int, Any]], taken: Taken, store: Callable[[list[SaidElsewhere]], None]
) -> None:
    said = reader.read(((place, one) for place, row in rows for one in flat(row)), taken)
    while batch := list(islice(said, BATCH)):
        with transaction.atomic():
            store(batch)
    taken.faults.sort(key=lambda fault: fault.place)


def _store(queue: Queue, batch: Sequence[SaidElsewhere], by: User, taken: Taken) -> None:
    items = _items(queue, batch)
    matched = []
    for row in batch:
        found = items.get((row.case, row.attempt), [])
        found = [item for item in found if row.experiment in (None, item.output.experiment_id)]
        found = [item for item in found if row.baseline is None or row.baseline == _baseline(item)]
        if len(found) == 1:
            matched.append((found[0], row))
        else:
            why = SEVERAL if found else "Not in this queue."
            taken.refuse(Fault(row.place, "experiment" if found else "case", row.case, why))
    _enter(Terms.of(queue), matched, by, taken)


def _store_by(version: EvaluatorVersion, batch: Sequence[SaidElsewhere], by: User, taken: Taken) -> None:
    by_queue: dict[Queue | None, list[tuple[Item, SaidElsewhere]]] = {}
    for item, row in subjects_of(version, batch, taken):
        by_queue.setdefault(item.queue if item.pk else None, []).append((item, row))
    for queue, matched in by_queue.items():
        _enter(Terms.of(queue) if queue else Terms([version]), matched, by, taken)


def _enter(terms: Terms, matched: Sequence[tuple[Item, SaidElsewhere]], by: User, taken: Taken) -> None:
    """Store what was matched; of several rows of one person for the same the last one counts."""
    fresh = {(pair_of(item), row.person.pk, row.version.pk): (item, row) for item, row in matched}
    changed = _keep(terms, list(fresh.values()), taken)
    _take_seats({(item.pk, row.person.pk): item for item, row in matched if item.pk})
    settle_items(terms, list(changed.values()), by)


def _items(queue: Queue, batch: Sequence[SaidElsewhere]) -> dict[tuple[str, int], list[Item]]:
    """The items that rows may mean, by case and attempt; nobody else grades them meanwhile."""
    found = Item.objects.filter(queue=queue, repeats=None, output__case__key__in={row.case for row in batch})
    locked = found.select_related("output__case", "baseline_output").only(*NEEDED).order_by("pk")
    items: dict[tuple[str, int], list[Item]] = {}
    for item in locked.select_for_update(of=("self",)):
        items.setdefault((item.output.case.key, item.output.attempt), []).append(item)
    return items


def _baseline(item: Item) -> int | None:
    return item.baseline_output.experiment_id if item.baseline_output else None


def _keep(terms: Terms, rows: Sequence[tuple[Item, SaidElsewhere]], taken: Taken) -> dict[Pair, Item]:
    """Grades for what is new; what a person had said otherwise gives way to it. The items that got any."""
    outputs = {item.output_id for item, _ in rows}
    current = Grade.objects.filter(output__in=outputs, is_current=True, is_decision=False, is_repeat=False).only(
        *("output_id", "baseline_output_id", "person_id", "version_id", "state", "label", "value", "comment")
    )
    known = {(each.output_id, each.baseline_output_id, each.person_id, each.version_id): each for each in current}
    former, fresh, changed = [], [], {}
    for item, row in rows:
        before = known.get((item.output_id, item.baseline_output_id, row.person.pk, row.version.pk))
        answer = row.answer
        said = (answer.state, answer.label, answer.value, answer.comment)
        if before and (before.state, before.label, before.value, before.comment) == said:
            taken.unchanged += 1
            continue
        if before:
            former.append(before.pk)
        changed[pair_of(item)] = item
        fresh.append(
            Grade(
                version=row.version,
                output_id=item.output_id,
                baseline_output_id=item.baseline_output_id,
                item_id=item.pk,
                person=row.person,
                state=answer.state,
                label=answer.label,
                value=answer.value,
                comment=answer.comment,
                content_hash=item.content_hash,
                instructions_version=terms.instructions_version,
                seconds=row.seconds,
                created_at=row.at,
            )
        )
    Grade.objects.filter(pk__in=former).update(is_current=False)
    Grade.objects.bulk_create(fresh)
    taken.accepted += len(fresh)
    return changed


def _take_seats(touched: Mapping[tuple[int, int], Item]) -> None:
    """Everybody's seat at their items is done; who has none takes one that is free, if there is any."""
    now = timezone.now()
    seats: dict[int, list[Reservation]] = {}
    known = Reservation.objects.filter(item__in={item for item, _ in touched}).order_by("number")
    for seat in known.only("item_id", "person_id", "is_done", "held_until"):
        seats.setdefault(seat.item_id, []).append(seat)
    by_person: dict[int, list[int]] = {}
    for item, person in touched:
        here = seats.get(item, [])
        mine = next((seat for seat in here if seat.person_id == person), None)
        free = (
            seat
            for seat in here
            if not seat.is_done and (seat.person_id is None or (seat.held_until is not None and seat.held_until <= now))
        )
        taken = mine or next(free, None)
        if taken:
            taken.person_id, taken.is_done = person, 1
            by_person.setdefault(person, []).append(taken.pk)
    for person, pks in by_person.items():
        Reservation.objects.filter(pk__in=pks).update(person=person, is_done=1, held_until=None, draft=None)
