"""A JSON list of objects, read item by item. Its rows count items, since a list need not keep to lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

import ijson

from experiments.datasets.importing.files import Source
from experiments.datasets.importing.rows import MAX_ROW_BYTES, TOO_LONG, BadFile, BadRow, Row, Rows

BUFFER_BYTES = 64 * 1024
MOST_DEPTH = 5_000  # the parser's memory grows with the square of the depth; what may be stored is far less deep
NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def read(source: Source) -> Rows:
    """Raises BadFile where the list breaks off: behind that point no item can be told from the next."""
    number = 0
    guarded = _LimitedItems(source)
    try:
        for number, item in enumerate(_items(guarded), start=1):
            guarded.item_begins()
            yield Row(number, item) if isinstance(item, dict) else BadRow(number, "This item is not an object in { }.")
    except ijson.JSONError as error:
        what = str(error).strip().split("\n")[0]
        raise BadFile(f"The JSON cannot be read after item {number}: {what}") from error


def _items(source: _LimitedItems) -> Iterator[Any]:
    return ijson.items(source, "item", use_float=True, buf_size=BUFFER_BYTES)


class _LimitedItems:
    """The source, for a parser that builds whole items in memory: ends an item that grows past the limits."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._since_item = 0
        self._depth = _Depth()

    def item_begins(self) -> None:
        self._since_item = 0

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(size)
        self._since_item += len(data)
        if self._since_item > MAX_ROW_BYTES + BUFFER_BYTES:
            raise BadFile(f"The list holds an item that is too long. {TOO_LONG}")
        if self._depth.deepest_in(data) > MOST_DEPTH:
            raise BadFile("The list holds an item that is nested too deeply.")
        return data


class _Depth:
    """How many brackets are open, followed through JSON text piece by piece; those in strings do not count."""

    def __init__(self) -> None:
        self._open = 0
        self._in_string = False
        self._escape = b""  # a backslash that ended the last piece

    def deepest_in(self, data: bytes) -> int:
        """The most brackets that are open at once in the next piece."""
        text = (self._escape + data).replace(b"\\\\", b"")
        self._escape = b"\\" if text.endswith(b"\\") else b""
        parts = text.replace(b'\\"', b"").split(b'"')
        outside = b"".join(parts[self._in_string :: 2])
        self._in_string ^= len(parts) % 2 == 0
        steps = map(STEPS.__getitem__, outside.translate(None, NO_BRACKETS))
        depths = list(accumulate(steps, initial=self._open))
        self._open = depths[-1]
        return max(depths)
