"""The rows of a scale in the editor, and its buttons that add or remove one without JavaScript."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import zip_longest
from string import ascii_uppercase

from django.http import QueryDict

from evalstudio.web.foreign import id_in
from evaluators.core import FieldError

PARTS = ("option_label", "option_percentage", "option_description")


@dataclass(frozen=True, slots=True)
class OptionRow:
    """One option as typed, with its letter and what is wrong with it."""

    index: int
    letter: str
    label: str
    percentage: str
    description: str
    faults: list[FieldError] = field(default_factory=list)
    wrong: frozenset[str] = frozenset()  # the parts that are wrong: "label", "percentage", "description"

    @property
    def slot(self) -> str:
        """The name of the place for its faults."""
        return f"option-{self.index}"


def rows_of(typed: QueryDict, faults: dict[str, list[FieldError]]) -> list[OptionRow]:
    """The options as typed, at least two of them so that there is something to fill in."""
    columns = [typed.getlist(part) for part in PARTS]
    values = list(zip_longest(*columns, fillvalue=""))
    while len(values) < 2:
        values.append(("", "", ""))
    return [_row(index, texts, faults) for index, texts in enumerate(values)]


def blank_row() -> OptionRow:
    """The row that the page copies when an option is added."""
    return OptionRow(0, "", "", "", "")


def _row(index: int, texts: tuple[str, ...], faults: dict[str, list[FieldError]]) -> OptionRow:
    letter = ascii_uppercase[index] if index < len(ascii_uppercase) else ""
    found = {part: faults.get(f"{part}.{index}", []) for part in PARTS}
    wrong = frozenset(part.removeprefix("option_") for part, errors in found.items() if errors)
    label, percentage, description = texts
    errors = [error for errors in found.values() for error in errors]
    return OptionRow(index, letter, label, percentage, description, errors, wrong)


def pressed_row_button(typed: QueryDict) -> QueryDict | None:
    """The form after its button "add option" or "remove option" was pressed; None when another was."""
    act, _, row = typed.get("do", "").partition(":")
    if act not in ("add-option", "remove-option"):
        return None
    changed = typed.copy()
    for part in PARTS:
        values = changed.getlist(part)
        if act == "add-option":
            values.append("")
        elif (index := id_in(row)) is not None and index < len(values):
            del values[index]
        changed.setlist(part, values)
    return changed
