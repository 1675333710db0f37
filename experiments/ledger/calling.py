"""A turn on the net lane: rows wait for models, many at once. This thread does everything that touches the database."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalstudio.calls import sharing
from evalstudio.calls.sharing import Grant, Use
from evaluators.core import Score
from evaluators.engine import Boarding, Flight, Landing
from evaluators.tools import Tools
from experiments.ledger.alone import try_alone
from experiments.ledger.claim import ANY, Row, ready_runs
from experiments.ledger.desk import Desk
from experiments.ledger.shift import URGENT_LANDING_S, Shift

if TYPE_CHECKING:
    from evalstudio.calls.chat import Pressure

SPARE = 64  # rows in the air beyond the slots, so that a slot that falls free is taken at once
FLUSH_S = 0.1
NOTHING = Grant(0)
UNSHARED_SLOTS = 16  # rows at once of kinds that call without a connection
DRY_S = 0.5  # how long not to look again for rows where there were none
LEAVE_ALONE_S = 30.0  # an endpoint that put a row off without saying for how long


@asynccontextmanager
async def worker_tools() -> AsyncIterator[Tools]:
    """Tools of a worker: its chat client sends nothing until slots are granted."""
    from evalstudio.calls.chat import open_chat

    async with open_chat(slots=0) as chat:
        yield Tools(chat=chat)


@dataclass
class Line:
    """What this worker has to do with one connection; None stands for kinds that call without one."""

    wanted: int
    grant: Grant = NOTHING
    buffer: deque[Row] = field(default_factory=deque)
    in_the_air: int = 0
    dry_until: float = 0.0
    put_off: str = ""  # why the endpoint sent rows back

    @property
    def room(self) -> int:
        """Rows that may still be sent up: never more are in the air, or landed and unsettled, than slots + 64."""
        return self.grant.slots + min(self.grant.slots, SPARE) - self.in_the_air

    @property
    def is_short(self) -> bool:
        """There is room for more rows than are at hand, and some might be had."""
        return len(self.buffer) < self.room and time.monotonic() >= self.dry_until


class CallingTurn:
    """Claims, evaluates and settles until its shift is over or there is nothing left to do."""

    def __init__(self, desk: Desk, shift: Shift, flight: Flight) -> None:
        self.desk = desk
        self.shift = shift
        self.flight = flight
        self.lines: dict[int | None, Line] = {}
        self._leaving = False

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
        lines = self.lines.values()
        waits_for_slots = any(line.wanted and not line.grant.slots for line in lines)
        return not (self.flight.in_the_air or waits_for_slots or any(line.buffer for line in lines))

    def _one(self, row: Row) -> Score | None:
        """One row with nothing else in the air; None when it has to be tried again later."""
        self.lines.setdefault(self._connection_of(row), Line(wanted=1)).in_the_air += 1
        self.flight.admit([self._boarding(row)])
        while not (landings := self._landed()):
            self._look()
        return landings[0].score

    def _empty_the_air(self) -> None:
        """Give back what has not begun and let the rest land."""
        for line in self.lines.values():
            self.desk.put_back(line.buffer)
            line.buffer.clear()
        give_up_at = time.monotonic() + URGENT_LANDING_S
        while self.flight.in_the_air and not (self.shift.urgent and time.monotonic() > give_up_at):
            self._look()
            self._collect()

    def _leave(self) -> None:
        """The end of the turn: whoever waits for a slot goes back, what is on the wire lands."""
        self._leaving = True
        self.flight.on_loop(lambda tools: tools.chat.stop())
        self._empty_the_air()

    # --- looking around -----------------------------------------------------------------------------------------------
    def _look(self) -> None:
        """Once a second: shares, and runs that were stopped."""
        if self.shift.time_to_look():
            self._share()
            self._drop_halted()

    def _share(self) -> None:
        """Say what is wanted of each connection, learn what is granted, and tell the gates."""
        self._note_what_is_wanted()
        pressure = self.flight.on_loop(lambda tools: tools.chat.pressure())
        uses = {
            connection_id: self._use(line, pressure.get(connection_id))
            for connection_id, line in self.lines.items()
            if connection_id is not None
        }
        grants = sharing.adjust(self.desk.lease_id, uses)
        if not self.shift.heartbeat.is_fresh:
            grants = dict.fromkeys(grants, NOTHING)  # others may soon take this worker for dead: start no call
        for connection_id, grant in grants.items():
            self.lines[connection_id].grant = grant
        self.flight.on_loop(lambda tools: _tell_gates(tools, grants))

    def _use(self, line: Line, seen: Pressure | None) -> Use:
        put_off, line.put_off = line.put_off, ""
        blocked_for_s = LEAVE_ALONE_S if put_off else 0.0
        if seen is None:
            return Use(line.wanted, line.grant.slots, 0, False, blocked_for_s, put_off)
        return Use(
            wanted=line.wanted,
            slots=line.grant.slots,
            in_flight=seen.in_flight,
            lowered=seen.lowered > 0,
            blocked_for_s=max(seen.blocked_for_s, blocked_for_s),
            blocked_why=put_off or seen.blocked_why,
        )

    def _note_what_is_wanted(self) -> None:
        """A line for every connection that a ready run calls; one that is idle and has no slots left is closed."""
        ready = {} if self._leaving else dict(self._ready_connections())
        for connection_id, most in ready.items():
            line = self.lines.setdefault(connection_id, Line(wanted=0))
            line.wanted = most
            if connection_id is None:
                line.grant = Grant(most)
        for connection_id, line in list(self.lines.items()):
            if connection_id in ready or line.buffer or line.in_the_air:
                continue
            line.wanted = 0
            if not line.grant.slots:
                self._close_line(connection_id)

    def _ready_connections(self) -> list[tuple[int | None, int]]:
        rows = (
            ready_runs(self.desk.lane, ANY).order_by().values_list("connection", "connection__max_in_flight").distinct()
        )
        return [(connection_id, most or UNSHARED_SLOTS) for connection_id, most in rows]

    def _close_line(self, connection_id: int | None) -> None:
        del self.lines[connection_id]
        if connection_id is not None:
            sharing.adjust(self.desk.lease_id, {connection_id: Use(wanted=0)})

    def _drop_halted(self) -> None:
        """Of runs that were stopped nothing new is sent; what is on the wire lands."""
        for run_id in self.desk.halted():
            for line in self.lines.values():
                dropped = [row for row in line.buffer if row.run_id == run_id]
                line.buffer = deque(row for row in line.buffer if row.run_id != run_id)
                self.desk.put_back(dropped)
            self.flight.call_back(run_id)

    # --- rows up and down ---------------------------------------------------------------------------------------------
    def _fill(self) -> None:
        """Send rows up until every slot is taken and as many again, at most 64, are waiting for one."""
        for connection_id, line in self.lines.items():
            while line.is_short:
                rows = self.desk.take(line.room + line.grant.slots, connection_id)
                line.buffer.extend(rows)
                if not rows:
                    line.dry_until = time.monotonic() + DRY_S
            going = [line.buffer.popleft() for _ in range(min(line.room, len(line.buffer)))]
            line.in_the_air += len(going)
            self.flight.admit(self._boarding(row) for row in going)

    def _boarding(self, row: Row) -> Boarding:
        return Boarding(ticket=row, group=row.run_id, work=self.desk.runs[row.run_id].work, sample=row.sample)

    def _connection_of(self, row: Row) -> int | None:
        return self.desk.runs[row.run_id].connection_id

    def _landed(self) -> list[Landing]:
        landings = self.flight.landed(FLUSH_S)
        for landing in landings:
            line = self.lines[self._connection_of(landing.ticket)]
            line.in_the_air -= 1
            if not self._leaving:
                line.put_off = line.put_off or landing.not_now
        return landings

    def _collect(self) -> None:
        """Settle what has landed; rows that were put off go back to their slices."""
        landings = self._landed()
        self.desk.settle((landing.ticket, landing.score) for landing in landings if landing.score)
        put_off = [landing.ticket for landing in landings if not landing.score]
        if any(line.put_off for line in self.lines.values()):
            self._share()  # makes the reason known before anybody can claim the rows again
            put_off += self._unload_blocked()
        self.desk.put_back(put_off)

    def _unload_blocked(self) -> list[Row]:
        """Rows not sent yet to endpoints that want to be left alone for long."""
        blocked = [line for line in self.lines.values() if line.grant.blocked_for_s >= LEAVE_ALONE_S / 2]
        rows = [row for line in blocked for row in line.buffer]
        for line in blocked:
            line.buffer.clear()
        return rows


def _tell_gates(tools: Any, grants: dict[int, Grant]) -> None:
    for connection_id, grant in grants.items():
        tools.chat.set_slots(connection_id, grant.slots, grant.rpm, grant.blocked_for_s)
