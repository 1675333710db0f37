"""In which fields unsaved edits differ from what is saved, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

Typed = Mapping[str, Sequence[str]]  # a form as typed: field name → its values, in order

OPTION = "option_"  # the fields that together make one row of a scale


def named_differences(typed: Typed, saved: Typed, names: Mapping[str, str]) -> list[str]:
    """The differing fields by the names that people read, in the order of `names`: ["prompt", "2 options"].

    Line ends and surrounding blanks do not count. Rows of options are counted as one thing each.
    """
    found = [
        name
        for field, name in names.items()
        if not field.startswith(OPTION) and _plain(typed.get(field)) != _plain(saved.get(field))
    ]
    rows = sum(1 for mine, theirs in zip_longest(_rows(typed), _rows(saved)) if mine != theirs)
    if rows:
        found.append("1 option" if rows == 1 else f"{rows} options")
    return found


def as_sentence(names: Sequence[str], saved_as: str) -> str:
    """ "Prompt and 2 options differ from v7." """
    if not names:
        return f"Nothing differs from {saved_as}."
    *first, last = names
    words = f"{', '.join(first)} and {last}" if first else last
    plural = len(names) > 1 or (last[0].isdigit() and not last.startswith("1 "))
    return f"{words[0].upper()}{words[1:]} {'differ' if plural else 'differs'} from {saved_as}."


def _plain(values: Sequence[str] | None) -> list[str]:
    plain = [value.replace("\r\n", "\n").strip() for value in values or ()]
    return [value for value in plain if value] if len(plain) < 2 else plain


def _rows(typed: Typed) -> list[tuple[str, ...]]:
    columns = [_column(typed, f"{OPTION}{part}") for part in ("label", "percentage", "description")]
    return [row for row in zip_longest(*columns, fillvalue="") if any(row)]


def _column(typed: Typed, field: str) -> list[str]:
    return [value.replace("\r\n", "\n").strip() for value in typed.get(field, ())]
