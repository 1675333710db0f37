"""In which fields unsaved edits differ from what is saved, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest
from types import MappingProxyType

Typed = Mapping[str, Sequence[str]]  # a form as typed: field name → its values, in order

OPTIONS = {"option_label": ("option_label", "option_percentage", "option_description")}


def named_differences(
    typed: Typed, saved: Typed, names: Mapping[str, str], repeated: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> list[str]:
    """The differing fields by the names that people read, in the order of `names`: ["prompt", "2 options"].

    Line ends and surrounding blanks do not count. Rows, which the columns of a `repeated` field make together, are
    counted as one thing each, named after the field's first word; options of a scale always repeat.
    """
    rows = OPTIONS | dict(repeated)
    found = [
        name
        for field, name in names.items()
        if field not in rows and _plain(typed.get(field)) != _plain(saved.get(field))
    ]
    for field, columns in rows.items():
        count = sum(mine != theirs for mine, theirs in zip_longest(_rows(typed, columns), _rows(saved, columns)))
        if count:
            found.append(f"{count} {field.partition('_')[0]}{'s' * (count > 1)}")
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


def _rows(typed: Typed, columns: Sequence[str]) -> list[tuple[str, ...]]:
    rows = zip_longest(*(_column(typed, column) for column in columns), fillvalue="")
    return [row for row in rows if any(row)]


def _column(typed: Typed, field: str) -> list[str]:
    return [value.replace("\r\n", "\n").strip() for value in typed.get(field, ())]
