"""A turn on the cpu lane: batches of rows, one after another, in this process and without an event loop."""

from __future__ import annotations

import gc
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from evaluators.core import Score
from evaluators.engine import Computation
from evaluators.tools import Tools, javascript
from experiments.ledger.alone import try_alone
from experiments.ledger.claim import Row
from experiments.ledger.desk import Desk
from experiments.ledger.settle import MOST_ROWS
from experiments.ledger.shift import Shift

AT_HAND = 1024  # rows claimed at a time
MOST_IN_BATCH = MOST_ROWS // 2  # so that batches fill a transaction
FLUSH_S = 0.1
BATCH_S = 0.05  # what a batch should take: a stop is noticed between batches
COLLECTED_AFTER = 50_000  # more objects than the rows at hand are made of


def worker_tools() -> Tools:
    return Tools(javascript=javascript())


@contextmanager
def collected_seldom() -> Iterator[None]:
    """Rows come and go without cycles, by the thousand: at its usual pace the collector would look through all that the
    worker holds ten times a second and find nothing. It still comes where cycles do gather."""
    usual = gc.get_threshold()
    gc.set_threshold(COLLECTED_AFTER, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


class ComputingTurn:
    """Claims, evaluates and settles until its shift is over or there is nothing left to do."""

    def __init__(self, desk: Desk, shift: Shift, tools: Tools) -> None:
        self.desk = desk
        self.shift = shift
        self.tools = tools
        self.rows: deque[Row] = deque()
        self.scored: list[tuple[Row, Score]] = []
        self._computations: dict[int, Computation] = {}
        self._batch = 8
        self._flushed = time.monotonic()

    @collected_seldom()
    def run(self) -> None:
        while not self.shift.is_over:
            ran_dry = self._serve_together()
            self._flush()
            self.desk.put_back(self.rows)
            self.rows.clear()
            if not try_alone(self.desk, self.shift, self._one) and ran_dry:
                break

    def _serve_together(self) -> bool:
        """Batch after batch; True when there is nothing left to do, False when something else is due."""
        while not (self.shift.is_over or self.shift.alone_is_due()):
            if not self._has_rows():
                return True
            if self.shift.time_to_look():
                self._drop_halted()
            self._evaluate_batch()
            if len(self.scored) >= MOST_ROWS or time.monotonic() - self._flushed >= FLUSH_S:
                self._flush()
        return False

    def _has_rows(self) -> bool:
        if not self.rows:
            self.rows.extend(self.desk.take(AT_HAND))
        return bool(self.rows)

    def _one(self, row: Row) -> Score:
        self.shift.time_to_look()
        return self._computation(row.run_id).scores([row.sample])[0]

    def _evaluate_batch(self) -> None:
        """The next rows of one run, about as many as take the time of a batch."""
        batch: list[Row] = []
        while self.rows and len(batch) < self._batch and self.rows[0].run_id == (batch or self.rows)[0].run_id:
            batch.append(self.rows.popleft())
        if not batch:
            return
        began = time.monotonic()
        scores = self._computation(batch[0].run_id).scores([row.sample for row in batch])
        self.scored += zip(batch, scores, strict=True)
        self._fit_batch(time.monotonic() - began)

    def _fit_batch(self, took_s: float) -> None:
        if took_s > BATCH_S:
            self._batch = max(1, self._batch // 2)
        elif took_s < BATCH_S / 2:
            self._batch = min(MOST_IN_BATCH, self._batch * 2)

    def _computation(self, run_id: int) -> Computation:
        if run_id not in self._computations:
            self._computations[run_id] = Computation(self.desk.runs[run_id].work, self.tools)
        return self._computations[run_id]

    def _drop_halted(self) -> None:
        halted = self.desk.halted()
        dropped = [row for row in self.rows if row.run_id in halted]
        self.rows = deque(row for row in self.rows if row.run_id not in halted)
        self.desk.put_back(dropped)

    def _flush(self) -> None:
        self.desk.settle(self.scored)
        self.scored.clear()
        self._flushed = time.monotonic()
