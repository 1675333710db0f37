"""The columns of a file, the types of their values, and how a value is read as a type."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import orjson

MAX_COLUMNS = 200
MAX_CHILDREN = 30  # an object with more names is a map with keys of its own, not a set of columns
MAX_NAME = 200
EXACT_DIGITS = 15  # a longer number is an identifier, and would lose digits as a float
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
READABLE = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,4})?", re.ASCII)
WHOLE = re.compile(r"[-+]?\d{1,18}", re.ASCII)  # longer ones would not fit into 64 bits
TRUE, FALSE = ("true", "yes"), ("false", "no")


class ColumnType(StrEnum):
    AS_IS = "as is"  # keeps the type that JSON gives it
    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "boolean"
    JSON = "json"


class Absent:
    """Stands where a row has no value for a column, which is not the same as null."""


ABSENT = Absent()


@dataclass(slots=True)
class Column:
    """One column of a file: a name of its rows, or one level below it, in an object.

    `found` says in a word what its values are; `is_object` that its names are columns of their own as well.
    """

    path: tuple[str, ...]
    found: str = "text"
    is_object: bool = False
    samples: list[Any] = field(default_factory=list)

    @property
    def name(self) -> str:
        return ".".join(self.path)

    def value_in(self, values: Mapping[str, Any]) -> Any:
        """The value of a row, or ABSENT."""
        return value_at(self.path, values)


def value_at(path: tuple[str, ...], values: Mapping[str, Any]) -> Any:
    """The value of a row at the path of a column, or ABSENT."""
    value = values.get(path[0], ABSENT)
    if len(path) == 1:
        return value
    return value.get(path[1], ABSENT) if isinstance(value, dict) else ABSENT


class BadValue(ValueError):
    """A value that is not of its column's type; the message ends the sentence "outputs.score: …"."""


def columns_of(rows: Iterable[Mapping[str, Any]], *, typed: bool) -> list[Column]:
    """The columns of some rows in the order they appear, each object before what is in it."""
    rows = list(rows)
    found: dict[tuple[str, ...], None] = {}
    for row in rows:
        for name in row:
            if is_name(name):
                found.setdefault((name,))
    columns = []
    for path in found:
        column = _column(path, rows, typed=typed)
        columns += [column, *_children(column, rows, {name for (name,) in found})]
    return columns[:MAX_COLUMNS]


def is_name(name: str) -> bool:
    """Whether a column can be called so; any other name is left out, and told of as one that nobody mapped."""
    return 0 < len(name) <= MAX_NAME and "\0" not in name


def _column(path: tuple[str, ...], rows: list[Mapping[str, Any]], *, typed: bool) -> Column:
    values = [value for row in rows if (value := value_at(path, row)) is not ABSENT]
    return Column(path, type_of(values) if typed else type_of_cells(values), samples=values)


def _children(parent: Column, rows: list[Mapping[str, Any]], taken: set[str]) -> list[Column]:
    names: dict[str, None] = {}
    for value in parent.samples:
        if isinstance(value, dict):
            names.update(dict.fromkeys(name for name in value if is_name(name)))
    parent.is_object = parent.found == "object" and 0 < len(names) <= MAX_CHILDREN
    if not parent.is_object:
        return []
    paths = [(parent.path[0], name) for name in names if f"{parent.path[0]}.{name}" not in taken]
    return [_column(path, rows, typed=True) for path in paths]


# --- Guessing ---------------------------------------------------------------------------------------------------------
def type_of(values: Iterable[Any]) -> str:
    """What the values of JSON are, in a word: text, number, boolean, object, list, mixed; empty where all are null."""
    words = {_word(value) for value in values if value is not None}
    return words.pop() if len(words) == 1 else "mixed" if words else "empty"


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "list" if isinstance(value, list) else "object"


def type_of_cells(cells: Iterable[str]) -> str:
    """The column type that all cells can be read as, text where only that will do; empty where none holds anything."""
    filled = [text for cell in cells if (text := cell.strip())]
    if not filled:
        return "empty"
    if all(_is_number(text) for text in filled):
        return ColumnType.NUMBER
    if all(text.lower() in TRUE + FALSE for text in filled):
        return ColumnType.BOOLEAN
    if all(text[0] in "[{" and _is_json(text) for text in filled):
        return ColumnType.JSON
    return ColumnType.TEXT


def _is_number(text: str) -> bool:
    digits = sum(character.isdigit() for character in text)
    return NUMBER.fullmatch(text) is not None and digits <= EXACT_DIGITS and math.isfinite(float(text))


def _is_json(text: str) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


# --- Reading ----------------------------------------------------------------------------------------------------------
def read_as(kind: ColumnType, value: Any) -> Any:
    """The value as the column's type. An empty cell is ABSENT where it is no text. Raises BadValue."""
    if kind is ColumnType.AS_IS or value is None:
        return value
    if kind is ColumnType.TEXT:
        return value if isinstance(value, str) else _spelled(value)
    if isinstance(value, str):
        text = value.strip()
        return READERS[kind](text) if text else ABSENT
    fits = kind is ColumnType.JSON or _word(value) == kind
    if not fits:
        raise BadValue(f"{shown(value)} is not a {kind}.")
    return value


def _number(text: str) -> int | float:
    number = float(text) if READABLE.fullmatch(text) else math.nan
    if not math.isfinite(number):
        raise BadValue(f"{shown(text)} is not a number.")
    return int(text) if WHOLE.fullmatch(text) else number


def _boolean(text: str) -> bool:
    word = text.lower()
    if word in (*TRUE, "1"):
        return True
    if word in (*FALSE, "0"):
        return False
    raise BadValue(f"{shown(text)} is neither true nor false.")


def _json(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadValue(f"{shown(text)} is not JSON: {error.msg}.") from error


READERS = {ColumnType.NUMBER: _number, ColumnType.BOOLEAN: _boolean, ColumnType.JSON: _json}


def shown(value: Any) -> str:
    """The start of a value in quotes, for a sentence."""
    return f"“{in_short(value, 40)}”"


def in_short(value: Any, length: int) -> str:
    """At most `length` characters of a value on one line, without characters that no database stores."""
    text = value if isinstance(value, str) else _spelled(value)
    line = " ".join(text[: 4 * length].replace("\0", "\N{REPLACEMENT CHARACTER}").split())
    return line if len(line) <= length else line[: length - 1] + "…"


def _spelled(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except (TypeError, RecursionError) as error:  # deeper than any content may be
        raise BadValue("This value is nested too deep.") from error
