"""JSON Lines: one object a line."""

from __future__ import annotations

import orjson

from experiments.datasets.importing.files import Source
from experiments.datasets.importing.rows import MAX_ROW_BYTES, TOO_LONG, BadRow, Row, Rows


def read(source: Source) -> Rows:
    for number, line in enumerate(source.lines(), start=1):
        if len(line) > MAX_ROW_BYTES:
            yield BadRow(number, TOO_LONG)
        elif not line.isspace():
            yield parse(number, line)


def parse(number: int, line: bytes) -> Row | BadRow:
    """One line as a row; a line that is no JSON object says what it is instead."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return BadRow(number, f"This is not JSON: {error.msg} at column {error.colno}.")
    if not isinstance(value, dict):
        return BadRow(number, "This is not a JSON object in { }.")
    return Row(number, value)
