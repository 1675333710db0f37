"""Fields that repeat in rows, such as the variables of a judge: what was typed, and buttons that need no JavaScript.

A field repeats when its widget has `columns`, the names under which the parts of a row are posted. Faults of a row are
named after the column and the row's place: "variable_path.2".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from django.http import QueryDict

from evalstudio.web.foreign import id_in
from evaluators.core import FieldError


@dataclass(frozen=True, slots=True)
class TypedRow:
    """One row as typed: its texts by column, and what is wrong with it."""

    name: str  # of the field
    index: int
    texts: dict[str, str]
    faults: list[FieldError] = field(default_factory=list)
    wrong: frozenset[str] = frozenset()  # the columns that are wrong

    @property
    def slot(self) -> str:
        """The name of the place for its faults."""
        return f"{self.name}-{self.index}"

    @property
    def number(self) -> int:
        return self.index + 1


def repeated(form: Any) -> dict[str, tuple[str, ...]]:
    """The columns of each repeated field of a form."""
    widgets = {name: each.widget for name, each in form.base_fields.items()}
    return {name: tuple(widget.columns) for name, widget in widgets.items() if hasattr(widget, "columns")}


def typed_rows(form: Any, typed: QueryDict, faults: dict[str, list[FieldError]]) -> dict[str, list[TypedRow]]:
    """The rows of each repeated field as typed."""
    return {name: list(_rows(name, columns, typed, faults)) for name, columns in repeated(form).items()}


def blank_rows(form: Any) -> dict[str, TypedRow]:
    """The row of each repeated field that the page copies when one is added."""
    return {name: TypedRow(name, 0, dict.fromkeys(columns, "")) for name, columns in repeated(form).items()}


def _rows(name: str, columns: tuple[str, ...], typed: QueryDict, faults: dict[str, list[FieldError]]) -> Any:
    for index, texts in enumerate(zip_longest(*(typed.getlist(column) for column in columns), fillvalue="")):
        found = {column: faults.get(f"{column}.{index}", []) for column in columns}
        wrong = frozenset(column for column, errors in found.items() if errors)
        errors = [error for each in found.values() for error in each]
        yield TypedRow(name, index, dict(zip(columns, texts, strict=True)), errors, wrong)


def pressed_row(form: Any, typed: QueryDict) -> QueryDict | None:
    """The form after "add-row:<field>" or "remove-row:<field>:<index>" was pressed; None when another button was."""
    act, _, place = typed.get("do", "").partition(":")
    name, _, row = place.partition(":")
    columns = repeated(form).get(name)
    if act not in ("add-row", "remove-row") or columns is None:
        return None
    changed = typed.copy()
    for column in columns:
        values = changed.getlist(column)
        if act == "add-row":
            values.append("")
        elif (index := id_in(row)) is not None and index < len(values):
            del values[index]
        changed.setlist(column, values)
    return changed
