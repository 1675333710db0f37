"""CSV and its kin: comma, semicolon, tab or bar; quoted cells may hold line ends."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from typing import Any

from experiments.datasets.importing.files import Source
from experiments.datasets.importing.rows import MAX_ROW_BYTES, TOO_LONG, BadFile, BadRow, Row, Rows

DELIMITERS = ",;\t|"
SNIFFED_RECORDS = 20
MAX_COLUMNS = 200


def read(source: Source, delimiter: str) -> Rows:
    """Raises BadFile where the header cannot be read."""
    lines = _Lines(source)
    records = _reader(lines, delimiter)
    try:
        names = header(next(filter(None, records), []))
    except csv.Error as error:
        raise BadFile(f"The header cannot be read. {_in_words(error)}") from error
    while True:
        lines.has_long = False
        line = records.line_num + 1
        try:
            cells = next(records)
        except StopIteration:
            return
        except csv.Error as error:
            yield BadRow(line, _in_words(error))
            continue
        if lines.has_long:
            yield BadRow(line, TOO_LONG)
        elif cells and len(cells) != len(names):
            yield BadRow(line, f"This row has {len(cells)} cells, the header has {len(names)}.")
        elif any(cells):
            yield Row(line, dict(zip(names, cells, strict=True)))


def header(cells: list[str]) -> list[str]:
    """The names of the columns. Raises BadFile where two are the same; a column without a name gets its number."""
    if len(cells) > MAX_COLUMNS:
        raise BadFile(f"The file has {len(cells)} columns; {MAX_COLUMNS} are the most.")
    names = [cell.strip() or f"column {number}" for number, cell in enumerate(cells, start=1)]
    for name in names:
        if names.count(name) > 1:
            raise BadFile(f"Two columns are called “{name}”. Rename one of them.")
    return names


def sniff(head: str) -> str:
    """The delimiter that cuts the first records most evenly into more than one cell; a comma where none does."""

    lines = head.lstrip("\r\n").splitlines(keepends=True)

    def evenness(delimiter: str) -> tuple[int, int]:
        try:
            records = list(islice(csv.reader(lines, delimiter=delimiter), SNIFFED_RECORDS))
        except csv.Error:
            return 0, 0
        width = len(records[0]) if records else 0
        return (sum(len(record) == width for record in records), width) if width > 1 else (0, 0)

    return max(DELIMITERS, key=evenness)


class _Lines(Iterator[str]):
    """Decoded lines; a line past the limit is left out and noted, so that it costs its record and no other."""

    def __init__(self, source: Source) -> None:
        self._lines = source.lines()
        self.has_long = False

    def __next__(self) -> str:
        line = next(self._lines)
        if len(line) > MAX_ROW_BYTES:
            self.has_long = True
            return "\n"
        return line.decode()


def _reader(lines: Iterator[str], delimiter: str) -> Any:
    csv.field_size_limit(MAX_ROW_BYTES)  # process-wide; the default of 128 kB is less than a long document
    return csv.reader(lines, delimiter=delimiter, strict=True)


def _in_words(error: csv.Error) -> str:
    text = str(error)
    if "unexpected end of data" in text or "field larger" in text:
        return "A quoted cell that begins here is never closed."
    if "expected after" in text:
        return "A quoted cell is followed by more text. Double the quotes inside a cell."
    return f"This row cannot be read: {text}."
