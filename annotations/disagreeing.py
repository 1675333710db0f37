"""Where people disagree: the items on which they said different things, furthest apart first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotations.agreeing import counted
from annotations.models import Grade, Item, Queue
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


def differing(version: EvaluatorVersion, queue: Queue | None = None) -> QuerySet[Grade]:
    """A grade of each item on which people differ, with the `spread` of all of them; page it by that."""
    grades = counted(version, queue).order_by()
    items = grades.values("output", "baseline_output").annotate(
        anchor=Min("pk"), apart=Max("value") - Min("value"), labels=Count("label", distinct=True)
    )
    anchors = items.filter(Q(apart__gt=0) | Q(labels__gt=1)).values("anchor")
    same = grades.annotate(other=Coalesce("baseline_output", 0)).filter(
        output=OuterRef("output"), other=Coalesce(OuterRef("baseline_output"), 0)
    )
    spread = same.values("output").annotate(spread=Max("value") - Min("value")).values("spread")
    return Grade.objects.filter(pk__in=anchors).annotate(spread=Subquery(spread))


def told(anchors: Sequence[Grade], version: EvaluatorVersion, queue: Queue | None = None) -> list[Differing]:
    """The items of some anchors, with everything that was said of them. Two queries."""
    outputs = Output.objects.select_related("case", "experiment__system").in_bulk(
        {pk for one in anchors for pk in (one.output_id, one.baseline_output_id) if pk}
    )
    said: dict[tuple[int, int | None], list[Grade]] = {}
    grades = counted(version, queue).filter(output__in={one.output_id for one in anchors})
    for grade in grades.select_related("person").order_by("pk"):
        said.setdefault((grade.output_id, grade.baseline_output_id), []).append(grade)
    return [
        Differing(
            outputs[one.output_id],
            outputs[one.baseline_output_id] if one.baseline_output_id else None,
            said[one.output_id, one.baseline_output_id],
            one.spread,  # type: ignore[attr-defined]
        )
        for one in anchors
    ]


def of_subject(grade: Grade) -> QuerySet[Grade]:
    """All that counts of what was said by one evaluator of the same output or pair, a decision last."""
    same = Grade.objects.filter(
        version=grade.version_id, output=grade.output_id, baseline_output=grade.baseline_output_id
    )
    return same.filter(is_current=True, is_repeat=False).select_related("person").order_by("is_decision", "pk")


def items_of(grade: Grade) -> QuerySet[Item]:
    """The items of queues that ask for the same by the same evaluator, the latest first."""
    same = Item.objects.filter(output=grade.output_id, baseline_output=grade.baseline_output_id, repeats=None)
    return same.filter(queue__versions=grade.version_id).order_by("-pk")
