"""Which format a file has, and its rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from experiments.datasets.importing import csv, json, jsonl
from experiments.datasets.importing.files import CHUNK_BYTES, Source
from experiments.datasets.importing.rows import BadFile, Row, Rows


@dataclass(frozen=True, slots=True)
class Shape:
    """How the text of a file is laid out; `delimiter` only for CSV."""

    format: str  # csv, jsonl or json
    delimiter: str = ""

    @property
    def unit(self) -> str:
        """What a row's number counts."""
        return "item" if self.format == "json" else "line"

    @property
    def has_types(self) -> bool:
        """Whether values come with a type of their own; CSV has only text."""
        return self.format != "csv"


def recognise(source: Source, file_name: str) -> Shape:
    """The shape of a file by its first bytes, and by its name where they leave it open. Raises BadFile.

    Reads from the source, so that the rows need a fresh one.
    """
    head = source.read(CHUNK_BYTES)
    start = head.lstrip()
    named = PurePath(file_name.lower().removesuffix(".gz")).suffix
    if named in (".csv", ".tsv"):
        return _csv(head)
    if start.startswith(b"["):
        return Shape("json")
    if start.startswith(b"{"):
        return Shape("jsonl") if named in (".jsonl", ".ndjson") else _lines_of_objects(start)
    if named in (".json", ".jsonl", ".ndjson"):
        raise BadFile("This is not JSON: a list [ ] of objects, or one object { } a line, begins otherwise.")
    return _csv(head)


def rows(source: Source, shape: Shape) -> Rows:
    """The rows of a file from its start. Raises BadFile where the rest of it makes no sense."""
    if shape.format == "csv":
        return csv.read(source, shape.delimiter)
    return json.read(source) if shape.format == "json" else jsonl.read(source)


def _lines_of_objects(start: bytes) -> Shape:
    """Several objects can only be JSON Lines; one alone may be a wrapper around the rows, which we do not unwrap."""
    first, end, rest = start.partition(b"\n")
    second = rest.partition(b"\n")[0]
    if end and not any(isinstance(jsonl.parse(1, line), Row) for line in (first, second)):
        raise BadFile("The file is one JSON object. Give a list [ ] of objects, or one object { } a line.")
    return Shape("jsonl")


def _csv(head: bytes) -> Shape:
    if b"\r" in head and b"\n" not in head:
        raise BadFile("The lines end with a carriage return alone. Save the file with ordinary line ends.")
    text = head.decode(errors="ignore")  # the chunk may end within a character
    return Shape("csv", csv.sniff(text))
