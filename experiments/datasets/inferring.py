"""A JSON Schema that all given values fit: their types, the names they all have, and choices where there are few.

The same values in the same order always give the same schema.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from experiments.models import CaseSpan, Dataset

MOST_NAMES = 60  # an object with more names over all values is a map with keys of its own
MOST_DEPTH = 6
MOST_CHOICES = 8
LONGEST_CHOICE = 60  # characters
LEAST_REPEATED = 5  # times that each choice comes on average, or it is free text
TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")


def inferred(dataset: Dataset, number: int) -> dict[str, Any]:
    """The schemas of the inputs and the expected outputs of a version. It reads every case."""
    inputs, expected = Seen(), Seen()
    spans = CaseSpan.objects.filter(dataset=dataset).at(number).order_by("position", "pk")
    for one, other in spans.values_list("case__inputs", "case__expected_outputs").iterator(chunk_size=500):
        inputs.add(one)
        expected.add(other or {})
    found = {"inputs": inputs.schema(), "expected_outputs": expected.schema()}
    return {root: schema for root, schema in found.items() if schema.get("properties")}


def schema_of(values: Iterable[Any]) -> dict[str, Any]:
    seen = Seen()
    for value in values:
        seen.add(value)
    return seen.schema()


@dataclass(slots=True)
class Seen:
    """What was seen at one place of the values. Past MOST_CHOICES texts are no longer told apart."""

    depth: int = 0
    counts: dict[str, int] = field(default_factory=dict)  # of values by type
    texts: dict[str, int] = field(default_factory=dict)
    names: dict[str, Seen] = field(default_factory=dict)
    items: Seen | None = None

    def add(self, value: Any) -> None:
        kind = _type_of(value)
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if kind == "string":
            self._add_text(value)
        elif self.depth < MOST_DEPTH and kind == "object":
            for name, inner in value.items():
                if name in self.names or len(self.names) <= MOST_NAMES:
                    self.names.setdefault(name, Seen(self.depth + 1)).add(inner)
        elif self.depth < MOST_DEPTH and kind == "array":
            self.items = self.items or Seen(self.depth + 1)
            for inner in value:
                self.items.add(inner)

    def schema(self) -> dict[str, Any]:
        kinds = [kind for kind in TYPES if kind in self.counts]
        if "number" in kinds and "integer" in kinds:
            kinds.remove("integer")
        if not kinds:
            return {}
        found: dict[str, Any] = {"type": kinds[0] if len(kinds) == 1 else kinds}
        if self.names and len(self.names) <= MOST_NAMES:
            found["properties"] = {name: seen.schema() for name, seen in self.names.items()}
            always = [name for name, seen in self.names.items() if seen.total == self.counts["object"]]
            found |= {"required": always} if always else {}
        if self.items and (items := self.items.schema()):
            found["items"] = items
        if kinds == ["string"] and self._has_choices():
            found["enum"] = sorted(self.texts)
        return found

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def _add_text(self, text: str) -> None:
        if len(self.texts) <= MOST_CHOICES:
            self.texts[text] = self.texts.get(text, 0) + 1

    def _has_choices(self) -> bool:
        few = 1 < len(self.texts) <= MOST_CHOICES and max(map(len, self.texts)) <= LONGEST_CHOICE
        return few and self.counts["string"] >= LEAST_REPEATED * len(self.texts)


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    return "string" if isinstance(value, str) else "array" if isinstance(value, list) else "object"
