"""A turn on the net lane: rows wait for models, many at once. This thread does everything that touches the ledger."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

from evaluators.core import Score
from evaluators.engine import Boarding, Flight, Landing
from evaluators.tools import Tools
from experiments.ledger.alone import try_alone
from experiments.ledger.claim import Row
from experiments.ledger.desk import Desk
from experiments.ledger.lines import Line, Lines
from experiments.ledger.shift import URGENT_LANDING_S, Shift

FLUSH_S = 0.1
DRY_S = 0.5  # how long not to look again for rows where there were none


@asynccontextmanager
async def worker_tools() -> AsyncIterator[Tools]:
    """Tools of a worker: its chat client sends nothing until slots are granted."""
    from evalstudio.calls.chat import open_chat

    async with open_chat(slots=0) as chat:
        yield Tools(chat=chat)


class CallingTurn:
    """Claims, evaluates and settles until its shift is over or there is nothing left to do."""

    def __init__(self, desk: Desk, shift: Shift, flight: Flight) -> None:
        self.desk = desk
        self.shift = shift
        self.flight = flight
        self.lines = Lines(desk.lane, desk.lease_id, flight, shift.heartbeat)

    def run(self) -> None:
        while not self.shift.is_over:
            ran_dry = self._serve_together()
            if self.shift.is_over:
                break
            self._empty_the_air()
            if not try_alone(self.desk, self.shift, self._one) and ran_dry:
                break
        self._leave()

    def _serve_together(self) -> bool:
        """Keep the air full; True when there is nothing left to do, False when something else is due."""
        while not (self.shift.is_over or self.shift.alone_is_due()):
            self._look()
            self._fill()
            if self._has_nothing_to_do():
                return True
            self._collect()
        return False

    def _has_nothing_to_do(self) -> bool:
        """No rows, and none that could be had if only there were slots."""
        return not any(line.has_rows or (line.wanted and not line.grant.slots) for line in self.lines)

    def _one(self, row: Row) -> Score | None:
        """One row with nothing else in the air; None when it has to be tried again later."""
        self._line_of(row).in_the_air += 1
        self.flight.admit([self._boarding(row)])
        while not (landings := self._landed()):
            self._look()
            if self.shift.urgent:
                return None  # it may still land while the turn ends
        if landings[0].not_now:
            self.lines.share()  # makes the reason known, or the next turn would ask again at once
        return landings[0].score

    def _empty_the_air(self) -> None:
        """Give back what has not begun and let the rest land."""
        for line in self.lines:
            self.desk.put_back(line.unload())
        give_up_at = time.monotonic() + URGENT_LANDING_S
        while self.flight.in_the_air and not (self.shift.urgent and time.monotonic() > give_up_at):
            self._look()
            self._collect()

    def _leave(self) -> None:
        """The end of the turn: whoever waits for a slot goes back, what is on the wire lands."""
        self.lines.closing = True
        self.flight.on_loop(lambda tools: tools.chat.stop())
        self._empty_the_air()

    def _look(self) -> None:
        """Once a second: shares, and runs that were stopped."""
        if self.shift.time_to_look():
            self.lines.share()
            if self.lines.on_the_move:
                self.shift.look_soon()
            for run_id in self.desk.halted():
                self._halt(run_id)

    def _halt(self, run_id: int) -> None:
        """Of a run that was stopped nothing new is sent; what is on the wire lands."""
        for line in self.lines:
            self.desk.put_back(row for row in line.buffer if row.run_id == run_id)
            line.buffer = deque(row for row in line.buffer if row.run_id != run_id)
        self.flight.call_back(run_id)

    def _fill(self) -> None:
        """Send rows up until every slot is taken and as many again, at most 64, are waiting for one."""
        for connection_id, line in self.lines.items():
            while line.is_short:
                rows = self.desk.take(line.room + line.grant.slots, connection_id)
                line.buffer.extend(rows)
                if not rows:
                    line.dry_until = time.monotonic() + DRY_S
            self.flight.admit([self._boarding(row) for row in self._going(line)])

    def _going(self, line: Line) -> Iterator[Row]:
        """The rows that may be sent up now.

        None of a run with a limit waits for a slot up there: it would be sent before what has landed was counted.
        """
        while line.buffer:
            is_limited = self.desk.runs[line.buffer[0].run_id].is_limited
            if line.room <= (line.spare if is_limited else 0):
                return
            line.in_the_air += 1
            yield line.buffer.popleft()

    def _collect(self) -> None:
        """Settle what has landed; rows that were put off go back to their slices."""
        landings = self._landed()
        scored = ((landing.ticket, landing.score) for landing in landings if landing.score)
        for run_id in self.desk.settle(scored):
            self._halt(run_id)
        put_off = [landing.ticket for landing in landings if not landing.score]
        if any(line.put_off for line in self.lines):
            self.lines.share()  # makes the reason known before anybody can claim the rows again
            put_off += [row for line in self.lines if line.is_blocked_for_long for row in line.unload()]
        self.desk.put_back(put_off)

    def _landed(self) -> list[Landing]:
        landings = self.flight.landed(FLUSH_S)
        for landing in landings:
            line = self._line_of(landing.ticket)
            line.in_the_air -= 1
            if not self.lines.closing:
                line.put_off = line.put_off or landing.not_now
        return landings

    def _boarding(self, row: Row) -> Boarding:
        return Boarding(ticket=row, group=row.run_id, work=self.desk.runs[row.run_id].work, sample=row.sample)

    def _line_of(self, row: Row) -> Line:
        return self.lines.to(self.desk.runs[row.run_id].connection_id)
