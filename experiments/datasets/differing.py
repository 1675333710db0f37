"""What differs between two versions of a dataset, or between two contents of one case."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from django.db.models import Q

from evaluators import textdiff
from experiments.analysis.reading import pretty
from experiments.datasets.contents import TAGS, Content
from experiments.datasets.versions import contents
from experiments.models import CaseSpan, Dataset

ROOTS = {"inputs": "Input", "expected_outputs": "Expected", "metadata": "Metadata"}
Sort = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class Differing:
    """A key whose case is not the same in both versions; None where one has no such case."""

    key: str
    old: int | None
    new: int | None

    @property
    def sort(self) -> Sort:
        return "added" if self.old is None else "removed" if self.new is None else "changed"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One named part of a case in which two contents differ, line by line."""

    label: str
    lines: list[textdiff.Line]


def between(dataset: Dataset, old: int, new: int) -> list[Differing]:
    """The keys that differ from one version to another, in the order of the dataset. Two queries over narrow rows."""
    spans = CaseSpan.objects.filter(dataset=dataset).order_by("position", "pk")
    before, after = (
        {key: (case, place) for key, case, place in these.values_list("key", "case_id", "position")}
        for these in (spans.at(old).exclude(_in(new)), spans.at(new).exclude(_in(old)))
    )
    none = (None, 0)
    differing = [
        (after.get(key, before.get(key, none))[1], Differing(key, before.get(key, none)[0], after.get(key, none)[0]))
        for key in {**before, **after}
        if before.get(key, none)[0] != after.get(key, none)[0]
    ]
    return [each for _, each in sorted(differing, key=lambda pair: (pair[0], pair[1].key))]


def with_changes(found: list[Differing]) -> list[tuple[Differing, list[FieldChange]]]:
    """Each with what differs in it. One query."""
    known = contents([case for each in found for case in (each.old, each.new) if case])
    return [(each, changes(known.get(each.old or 0), known.get(each.new or 0))) for each in found]


def changes(old: Content | None, new: Content | None) -> list[FieldChange]:
    """In which parts two contents of a case differ; None is no content at all."""
    before, after = dict(_parts(old)), dict(_parts(new))
    return [
        FieldChange(label, textdiff.lines(before.get(label, ""), after.get(label, "")))
        for label in {**before, **after}
        if before.get(label) != after.get(label)
    ]


def _parts(content: Content | None) -> Iterator[tuple[str, str]]:
    """The named texts that a content is made of: "Input question", "Metadata tags", "Split"."""
    if content is None:
        return
    for root, title in ROOTS.items():
        for name, value in (getattr(content, root) or {}).items():
            is_tags = root == "metadata" and name == TAGS and bool(content.tags)
            yield ("Tags", ", ".join(content.tags)) if is_tags else (f"{title} {name}", _text(value))
    if content.split:
        yield "Split", content.split


def _text(value: Any) -> str:
    return value if isinstance(value, str) else pretty(value)


def _in(number: int) -> Q:
    return Q(added_in__lte=number, removed_in__gt=number)
