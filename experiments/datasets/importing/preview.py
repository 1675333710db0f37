"""A first look at a file: its shape, its columns and its first rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import IO, Any

from experiments.datasets.importing import formats
from experiments.datasets.importing.columns import ABSENT, BadValue, Column, ColumnType, columns_of, in_short
from experiments.datasets.importing.files import Source
from experiments.datasets.importing.formats import Shape
from experiments.datasets.importing.rows import BadFile, Row

LOOKED_AT_ROWS = 200
LOOKED_AT_BYTES = 2 * 1024 * 1024
SHOWN_ROWS = 10
SHOWN_CHARACTERS = 160


@dataclass(frozen=True, slots=True)
class Look:
    """`rows` are the first ones, each as (line, cells), the cells clipped and None where there is no value."""

    shape: Shape
    columns: list[Column]
    rows: list[tuple[int, list[str | None]]]

    def stored(self) -> dict[str, Any]:
        """As the options of an import keep it."""
        columns = [
            {"path": column.path, "found": column.found, "is_object": column.is_object} for column in self.columns
        ]
        return {"delimiter": self.shape.delimiter, "columns": columns, "rows": self.rows}


def look(stored: IO[bytes], file_name: str) -> Look:
    """Look at the first rows of a file that was checked. Raises BadFile where it has none."""
    shape = formats.recognise(Source(stored), file_name)
    rows = _first_rows(stored, shape)
    columns = columns_of([row.values for row in rows], typed=shape.has_types)
    shown = [(row.line, [_cell(column.value_in(row.values)) for column in columns]) for row in rows[:SHOWN_ROWS]]
    return Look(shape, columns, shown)


def stored_columns(options: dict[str, Any]) -> list[Column]:
    return [Column(tuple(one["path"]), one["found"], one["is_object"]) for one in options["columns"]]


def first_type(column: Column, shape: Shape) -> ColumnType:
    """The type that a column is read as unless a person says otherwise."""
    if shape.has_types:
        return ColumnType.AS_IS
    return ColumnType.TEXT if column.found == "empty" else ColumnType(column.found)


def _first_rows(stored: IO[bytes], shape: Shape) -> list[Row]:
    source, good, problem = Source(stored), [], ""
    for row in formats.rows(source, shape):
        if isinstance(row, Row):
            good.append(row)
        else:
            problem = problem or f"{shape.unit.title()} {row.line}: {row.reason}"
        if len(good) >= LOOKED_AT_ROWS or source.text_read > LOOKED_AT_BYTES:
            break
    if not any(row.values for row in good):
        raise BadFile(f"No row can be read. {problem}" if problem else "The file has no rows.")
    return good


def _cell(value: Any) -> str | None:
    if value is ABSENT:
        return None
    try:
        return in_short(value, SHOWN_CHARACTERS)
    except BadValue as error:
        return str(error)
