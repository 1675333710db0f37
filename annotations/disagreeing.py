"""Where people disagree: the items on which they said different things, furthest apart first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from annotations.agreeing import Said, Subject, counted
from annotations.models import Grade, Item, Queue
from evalstudio.web.foreign import id_in
from evalstudio.web.pagination import PAGE_SIZE, Page
from evaluators.models import EvaluatorVersion
from experiments.models import Output


@dataclass(frozen=True, slots=True)
class Differing:
    """An item with what was said of it, in the order in which it was. `spread` is that of the values."""

    output: Output
    baseline_output: Output | None
    grades: list[Grade]
    spread: float

    @property
    def first(self) -> Grade:
        return self.grades[0]


def differing(said: Sequence[Said]) -> list[tuple[float, int]]:
    """The items on which people differ: how far apart, and the first grade of it; the furthest apart first."""
    by_item: dict[Subject, list[Said]] = defaultdict(list)
    for one in said:
        by_item[one.item].append(one)
    apart = [(_spread(group), group[0].pk) for group in by_item.values() if _differ(group)]
    return sorted(apart, key=lambda found: (-found[0], found[1]))


def _differ(group: Sequence[Said]) -> bool:
    first = group[0]
    return any((one.label, one.value) != (first.label, first.value) for one in group)


def _spread(group: Sequence[Said]) -> float:
    values = [one.value for one in group]
    return max(values) - min(values)


def page_of(found: Sequence[tuple[float, int]], query: Mapping[str, str], size: int = PAGE_SIZE) -> Page:
    """One page of them, after or before the item of the grade that `after` or `before` names; else the first."""
    places = {pk: place for place, (_, pk) in enumerate(found)}
    start = 0
    if (after := id_in(query.get("after", ""))) in places:
        start = places[after] + 1
    elif (before := id_in(query.get("before", ""))) in places:
        start = max(0, places[before] - size)
    rows = list(found[start : start + size])
    more = start + size < len(found)
    return Page(rows, str(rows[0][1]) if start and rows else None, str(rows[-1][1]) if more else None)


def told(rows: Sequence[tuple[float, int]], version: EvaluatorVersion, queue: Queue | None = None) -> list[Differing]:
    """The items of some rows, with everything that was said of them. Three queries."""
    anchors = Grade.objects.only("output", "baseline_output").in_bulk([pk for _, pk in rows])
    ids = {pk for one in anchors.values() for pk in (one.output_id, one.baseline_output_id) if pk}
    outputs = Output.objects.select_related("case", "experiment__system").in_bulk(ids)
    said: dict[Subject, list[Grade]] = defaultdict(list)
    grades = counted(version, queue).filter(output__in={one.output_id for one in anchors.values()})
    for grade in grades.select_related("person", "item__queue").order_by("pk"):
        said[grade.output_id, grade.baseline_output_id].append(grade)
    found = []
    for spread, pk in rows:
        output, other = anchors[pk].output_id, anchors[pk].baseline_output_id
        found.append(Differing(outputs[output], outputs[other] if other else None, said[output, other], spread))
    return found


def of_subject(grade: Grade) -> QuerySet[Grade]:
    """All that counts of what was said by one evaluator of the same output or pair, a decision last."""
    same = Grade.objects.filter(
        version=grade.version_id, output=grade.output_id, baseline_output=grade.baseline_output_id
    )
    return (
        same.filter(is_current=True, is_repeat=False)
        .select_related("person", "item__queue")
        .order_by("is_decision", "pk")
    )


def items_of(grade: Grade) -> QuerySet[Item]:
    """The items of queues that ask for the same by the same evaluator, the latest first."""
    same = Item.objects.filter(output=grade.output_id, baseline_output=grade.baseline_output_id, repeats=None)
    return same.filter(queue__versions=grade.version_id).order_by("-pk")
