"""What the readers of all formats give: rows, and rows that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_ROW_BYTES = 10 * 1024 * 1024
TOO_LONG = f"This row is longer than {MAX_ROW_BYTES // 1024 // 1024} MB."


@dataclass(frozen=True, slots=True)
class Row:
    """One row as it stands in the file. `line` counts lines from 1, or items where the format has no lines."""

    line: int
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that does not go in, and why; `field` is the column at fault, if it is one."""

    line: int
    reason: str
    field: str = ""


Rows = Iterator[Row | BadRow]


class BadFile(Exception):
    """The file as a whole cannot be read; the message says where and what to do."""
