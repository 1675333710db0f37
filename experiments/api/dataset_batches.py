"""A batch of edits as the API takes it, read into edits; whatever is wrong is told by its place in the batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evalstudio.web.foreign import is_storable
from experiments.datasets import versions
from experiments.datasets.committing import Edit, Fault, own_key
from experiments.datasets.contents import BadContent, Content
from experiments.datasets.importing import fields
from experiments.datasets.importing.columns import ABSENT, BadValue, shown
from experiments.datasets.versions import in_steps
from experiments.models import CaseSpan, Dataset

PARTS = ("inputs", "expected_outputs", "metadata")
NAMES = ("key", *PARTS, "split")


class BatchWrong(Exception):
    """Rows that cannot be edits: {field, case, message} each."""

    def __init__(self, errors: list[dict[str, str]]) -> None:
        self.errors = errors
        super().__init__(f"{len(errors)} errors")


class _Wrong(ValueError):
    def __init__(self, said: str, name: str = "") -> None:
        self.name = name
        super().__init__(said)


@dataclass(slots=True)
class Batch:
    """Edits against a version of a data set, `base`, or against the latest one where that is None."""

    dataset: Dataset
    base: int | None
    places: dict[str, str] = field(default_factory=dict)  # key → its place in the batch
    errors: list[dict[str, str]] = field(default_factory=list)

    def edits(self, add: Sequence[Any], change: Sequence[Any], remove: Sequence[str]) -> list[Edit]:
        """Raises BatchWrong with everything that is wrong."""
        keys = [str(row.get("key", "")) for row in change if isinstance(row, dict)]
        known = self._known([*keys, *remove])
        contents = versions.contents(list(known.values()))
        found: list[Edit | None] = [
            *(self._read(f"add[{at}]", row, known, None) for at, row in enumerate(add)),
            *(self._read(f"change[{at}]", row, known, contents) for at, row in enumerate(change)),
            *(self._removal(f"remove[{at}]", key, known) for at, key in enumerate(remove)),
        ]
        if self.errors:
            raise BatchWrong(self.errors)
        return [edit for edit in found if edit]

    def place_of(self, key: str) -> str:
        return self.places.get(key, "")

    def told(self, fault: Fault) -> dict[str, str]:
        """A fault that the data set found, by its place in the batch."""
        path = fault.field.replace("expectedOutputs", "expected_outputs", 1)
        place = self.place_of(fault.key)
        return {"field": f"{place}.{path}" if path else place, "case": fault.key, "message": fault.reason}

    def _known(self, keys: Sequence[str]) -> dict[str, int]:
        """The cases that have these keys in the base version."""
        number = self.dataset.latest_version if self.base is None else self.base
        spans = CaseSpan.objects.filter(dataset=self.dataset).at(number)
        found: dict[str, int] = {}
        for step in in_steps(list(filter(is_storable, keys))):
            found |= dict(spans.filter(key__in=step).values_list("key", "case_id"))
        return found

    def _read(self, place: str, row: Any, known: dict[str, int], contents: dict[int, Content] | None) -> Edit | None:
        """The edit of a row; a new case where there are no `contents` to change."""
        key = str(row.get("key", ""))[: fields.MAX_KEY] if isinstance(row, dict) else ""
        try:
            named = _checked(row)
            if contents is None:
                content = replace(Content({}), **named)
                if not content.inputs:
                    raise _Wrong("A case needs an input.", "inputs")
                key, base = _key(row) or own_key(content), None
            else:
                key, base = _key(row), known.get(_key(row))
                if base is None:
                    raise _Wrong(f"There is no case with the key {shown(key)} to change.", "key")
                content = replace(contents[base], **named)
            content.digest()
            self._place(key, place)
        except (_Wrong, BadContent) as error:
            said = f"This case {error}." if isinstance(error, BadContent) else str(error)
            self._error(place, key, said, getattr(error, "name", ""))
            return None
        return Edit(key, content, base)

    def _removal(self, place: str, key: str, known: dict[str, int]) -> Edit | None:
        try:
            self._place(key, place)
        except _Wrong as error:
            self._error(place, key, str(error), "")
            return None
        if key not in known:
            self._error(place, key, f"There is no case with the key {shown(key)} to remove.", "")
            return None
        return Edit(key, None, known[key])

    def _place(self, key: str, place: str) -> None:
        if key in self.places:
            raise _Wrong(f"{self.places[key]} has the key {shown(key)} already.", "key")
        self.places[key] = place

    def _error(self, place: str, key: str, said: str, name: str) -> None:
        self.errors.append({"field": f"{place}.{name}" if name else place, "case": key, "message": said})


def _checked(row: Any) -> dict[str, Any]:
    """The named parts of a row as a content takes them. Raises _Wrong."""
    if not isinstance(row, dict):
        raise _Wrong("An edit is a JSON object.")
    if unknown := sorted(set(row) - set(NAMES)):
        raise _Wrong(f"There is no field {shown(unknown[0])}. There are {', '.join(NAMES)}.")
    found: dict[str, Any] = {}
    for part in PARTS:
        if part in row:
            value = row[part]
            if not (isinstance(value, dict) or (value is None and part != "inputs")):
                raise _Wrong(f'This is no object such as {{"question": "Why?"}}: {shown(value)}.', part)
            found[part] = value or ({} if part == "inputs" else None)
    if "split" in row:
        if not isinstance(row["split"], str | None):
            raise _Wrong("A split is text.", "split")
        try:
            split = fields.read("split", row["split"])
        except BadValue as error:
            raise _Wrong(str(error), "split") from None
        found["split"] = "" if split is ABSENT else split
    if found.get("inputs") == {}:
        raise _Wrong("A case needs an input.", "inputs")
    return found


def _key(row: dict[str, Any]) -> str:
    try:
        key = fields.read("key", row.get("key"))
    except BadValue as error:
        raise _Wrong(str(error), "key") from None
    return "" if key is ABSENT else str(key)
