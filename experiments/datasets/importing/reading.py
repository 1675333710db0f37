"""Reading a file in batches of drafts, from the row on that comes after the last committed one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO

from experiments.datasets.importing import formats
from experiments.datasets.importing.columns import shown
from experiments.datasets.importing.files import Source
from experiments.datasets.importing.formats import Shape
from experiments.datasets.importing.mapping import Draft, Mapping
from experiments.datasets.importing.rows import BadFile, BadRow, Row
from experiments.datasets.importing.strangers import Strangers

BATCH_ROWS = 500
BATCH_BYTES = 4 * 1024 * 1024
BEAT_ROWS = 2000
MAX_ROWS = 1_000_000


@dataclass(slots=True)
class Batch:
    """Some rows of the file. `last_row` counts all rows so far from 1, `stored_read` the bytes of the file."""

    drafts: list[Draft] = field(default_factory=list)
    bad: list[BadRow] = field(default_factory=list)
    last_row: int = 0
    stored_read: int = 0


class Reading:
    """One pass through a stored file."""

    def __init__(self, stored: IO[bytes], shape: Shape, mapping: Mapping) -> None:
        self.source = Source(stored)
        self.strangers = Strangers(mapping)
        self._rows = formats.rows(self.source, shape)
        self.mapping = mapping
        self._seen: set[int] = set()  # hashes of keys: a tenth of the memory of the keys themselves

    def batches(self, after_row: int = 0, beat: Callable[[], None] = lambda: None) -> Iterator[Batch]:
        """The rows after `after_row`; those before are read all the same, to know their keys. Raises BadFile.

        `beat` is called now and then on the way to `after_row`, which can be far.
        """
        batch, began_at = Batch(), 0
        for number, row in enumerate(self._rows, start=1):
            if number > MAX_ROWS:
                raise BadFile(f"The file has more than {MAX_ROWS:,} rows. Split it into several.")
            draft = self._draft(row)
            if number <= after_row:
                began_at = self.source.text_read
                if number % BEAT_ROWS == 0:
                    beat()
                continue
            batch.bad.append(draft) if isinstance(draft, BadRow) else batch.drafts.append(draft)
            batch.last_row = number
            full = len(batch.drafts) + len(batch.bad) >= BATCH_ROWS
            if full or self.source.text_read - began_at >= BATCH_BYTES:
                yield self._closed(batch)
                batch, began_at = Batch(), self.source.text_read
        if batch.last_row:
            yield self._closed(batch)

    def _closed(self, batch: Batch) -> Batch:
        batch.stored_read = self.source.stored_read
        return batch

    def _draft(self, row: Row | BadRow) -> Draft | BadRow:
        if isinstance(row, BadRow):
            return row
        self.strangers.look_at(row)
        draft = self.mapping.draft(row)
        if isinstance(draft, BadRow):
            return draft
        mark = hash(draft.key)
        if mark in self._seen:
            same = f"the key {shown(draft.key)}" if self.mapping.key_column else "the same inputs"
            return BadRow(draft.line, f"An earlier row has {same} already.", self.mapping.key_column)
        self._seen.add(mark)
        return draft
