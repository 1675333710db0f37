"""The order of a queue: drawn at random, likelier what tells more, worst first or oldest first."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Avg, Exists, Max, Min, OuterRef

from annotations.models import Grade, GradeState, ItemState, Order, Queue
from evaluators.stats import drawing
from experiments.models import Evaluation, Experiment


@dataclass(frozen=True, slots=True)
class Place:
    """Where an item stands; drawn at random it has a weight."""

    at: float
    weight: float | None = None

    @classmethod
    def drawn(cls, weight: float = 1.0) -> Place:
        return cls(drawing.place(weight, random.random()), weight)  # noqa: S311 - nobody gains by guessing


def places(
    queue: Queue, experiment: Experiment, baseline: Experiment | None, ids: Sequence[int]
) -> Mapping[int, Place]:
    """The place of each of these outputs."""
    if queue.order == Order.RANDOM:
        return {pk: Place.drawn() for pk in ids}
    if queue.order == Order.OLDEST:
        return {pk: Place(float(pk)) for pk in ids}
    judged = _judged(experiment, baseline, ids)
    if queue.order == Order.WORST:
        return {pk: Place(judged[pk][0] if pk in judged else -1.0) for pk in ids}
    return {pk: Place.drawn(_worth(*judged[pk]) if pk in judged else 1.0) for pk in ids}


def _judged(
    experiment: Experiment, baseline: Experiment | None, ids: Sequence[int]
) -> dict[int, tuple[float, float, float]]:
    """By output: mean, lowest and highest of what those who judge by themselves made of it."""
    runs = experiment.runs.filter(is_current=True, baseline=baseline).exclude(lane="people")
    rows = Evaluation.objects.filter(run__in=runs, output__in=ids, score__isnull=False).values("output")
    told = rows.annotate(mean=Avg("score"), low=Min("score"), high=Max("score"))
    return {pk: (mean, low, high) for pk, mean, low, high in told.values_list("output", "mean", "low", "high")}


def _worth(mean: float, low: float, high: float) -> float:
    return drawing.worth(mean, high - low)


@dataclass(frozen=True, slots=True)
class Chance:
    """With which probability an item came to be settled in its turn, and whether it was."""

    share: float
    is_settled: bool


def inclusion(queue: Queue) -> dict[int, Chance]:
    """The chance of every item of a queue; empty where the order was not drawn.

    It is the probability to stand before the first item that is still to be settled, given where the others stand: what
    waits for another grader, or for a decision, waits because people differ, so leaving it out would tell another
    story. What was skipped by whoever saw it is left out.
    """
    items = queue.items.filter(weight__isnull=False, repeats=None)
    grades = Grade.objects.filter(item=OuterRef("pk"), is_current=True)
    was_skipped = Exists(grades.filter(state=GradeState.SKIPPED)) & ~Exists(grades.exclude(state=GradeState.SKIPPED))
    unsettled = items.filter(~was_skipped).exclude(state=ItemState.DONE)
    until = unsettled.aggregate(until=Min("place"))["until"]
    if until is None:
        return dict.fromkeys(items.values_list("pk", flat=True), Chance(1.0, True))
    last = items.filter(place__lt=until).aggregate(last=Max("place"))["last"] or 0.0
    return {
        pk: Chance(drawing.inclusion(weight or 0.0, until if place < until else last), place < until)
        for pk, weight, place in items.values_list("pk", "weight", "place")
    }
