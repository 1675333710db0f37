"""What there is to grade: outputs become items of a queue, with a seat for each grader."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import connection, transaction
from django.db.models import Max, QuerySet
from django.http import Http404

from annotations import ordering
from annotations.models import Item, Queue
from annotations.sides import can_exchange
from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.kinds.human import HumanConfig
from evaluators.models import EvaluatorVersion
from experiments.analysis.pairing import outputs_of
from experiments.datasets.contents import digest_of
from experiments.ledger.people import run_of_people
from experiments.models import Experiment, Output

BATCH = 1_000


class Unreadable(BadConfig, Http404):
    """A version whose configuration cannot be read any more: to pages that show it, it is not there."""


def config_of(version: EvaluatorVersion) -> HumanConfig:
    """What people read and choose from. Raises Unreadable, which is a BadConfig."""
    try:
        return work_of(version).config
    except BadConfig as error:
        raise Unreadable(str(error)) from error


def fill(queue: Queue, experiment: Experiment, baseline: Experiment | None, outputs: QuerySet[Output], by: Any) -> int:
    """Add items for these outputs of an experiment, and start the runs that their grades will settle; how many are new.

    Outputs that the queue has already are left alone, so it may be repeated. Raises CannotStart, BadConfig.
    """
    versions = list(queue.versions.select_related("evaluator"))
    for version in versions:
        run_of_people(version, experiment, baseline, by)
    exchanges = baseline is not None and can_exchange(config_of(version) for version in versions)
    before = queue.items.count()
    chosen = outputs.filter(pk__in=outputs_of(experiment, baseline).values("pk")).order_by("pk")
    ids = list(chosen.values_list("pk", flat=True))
    for start in range(0, len(ids), BATCH):
        some = ids[start : start + BATCH]
        partners = _partners(baseline, some)
        places = ordering.places(queue, experiment, baseline, some)
        found = Output.objects.filter(pk__in=some).select_related("case", "body")
        items = [
            _item(queue, output, partners.get((output.case_id, output.attempt)), places[output.pk], exchanges)
            for output in found
        ]
        with transaction.atomic():
            Item.objects.bulk_create(items, ignore_conflicts=True)
            _seat(queue)
    return queue.items.count() - before


def seen_of(output: Output, other: Output | None = None) -> str:
    """A digest of all that a grader sees of an output, or of a pair with the baseline's."""
    bodies = [each.body for each in (other, output) if each]
    seen = [output.case.inputs, output.case.expected_outputs, *((body.outputs, body.steps) for body in bodies)]
    return digest_of(seen)


def _partners(baseline: Experiment | None, ids: Sequence[int]) -> dict[tuple[int, int], Output]:
    """The baseline's outputs by case and attempt, of the cases that these outputs answer."""
    if baseline is None:
        return {}
    cases = Output.objects.filter(pk__in=ids).values("case")
    found = Output.objects.filter(experiment=baseline, case__in=cases).select_related("body")
    return {(output.case_id, output.attempt): output for output in found}


def _item(queue: Queue, output: Output, other: Output | None, place: ordering.Place, exchanges: bool) -> Item:
    return Item(
        queue=queue,
        output=output,
        baseline_output=other,
        is_flipped=exchanges and random.random() < 0.5,  # noqa: S311 - nobody gains by guessing
        content_hash=seen_of(output, other),
        place=place.at,
        weight=place.weight,
    )


def _seat(queue: Queue) -> None:
    """Seats for the items that have none: as many as the queue wants graders."""
    numbers = ", ".join(f"({number})" for number in range(queue.graders))
    with connection.cursor() as cursor:
        cursor.execute(
            f"""INSERT INTO annotations_reservation (item_id, queue_id, place, number, is_done)
                SELECT item.id, item.queue_id, item.place, seats.column1, 0
                FROM annotations_item AS item CROSS JOIN (VALUES {numbers}) AS seats
                WHERE item.queue_id = %s
                  AND NOT EXISTS (SELECT 1 FROM annotations_reservation AS taken WHERE taken.item_id = item.id)""",  # noqa: S608 - numbers of ours
            [queue.pk],
        )


def ask_again(queue: Queue, share: float) -> int:
    """Hidden repeats for a share of the items, so that a person's consistency shows; how many."""
    once = list(queue.items.filter(repeats=None, repeated_by=None))
    chosen = random.sample(once, min(len(once), math.ceil(share * len(once))))
    latest = queue.items.aggregate(last=Max("place"))["last"] or 0.0
    Item.objects.bulk_create(_repeats(chosen, latest))
    _seat(queue)
    return len(chosen)


def _repeats(items: Iterable[Item], latest: float) -> Iterator[Item]:
    for item in items:
        yield Item(
            queue_id=item.queue_id,
            output_id=item.output_id,
            baseline_output_id=item.baseline_output_id,
            is_flipped=item.is_flipped,
            content_hash=item.content_hash,
            place=random.uniform((item.place + latest) / 2, latest),  # noqa: S311 - a good while after the first time
            repeats=item,
        )
