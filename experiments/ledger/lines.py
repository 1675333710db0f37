"""What a worker has to do with each connection: rows at hand and in the air, and the share of the slots it may use."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalstudio.calls import sharing
from evalstudio.calls.leases import Heartbeat
from evalstudio.calls.sharing import Grant, Use
from evaluators.core import Lane
from evaluators.engine import Flight
from experiments.ledger.claim import ANY, Row, ready_runs

if TYPE_CHECKING:
    from evalstudio.calls.chat import Pressure

SPARE = 64  # rows in the air beyond the slots, so that a slot that falls free is taken at once
NOTHING = Grant(0)
UNSHARED_SLOTS = 16  # rows at once of kinds that call without a connection
LEAVE_ALONE_S = 30.0  # for an endpoint that put a row off


@dataclass
class Line:
    """One connection; None in its place stands for kinds that call without one."""

    wanted: int
    grant: Grant = NOTHING
    buffer: deque[Row] = field(default_factory=deque)
    in_the_air: int = 0
    dry_until: float = 0.0
    put_off: str = ""  # why the endpoint sent rows back

    @property
    def room(self) -> int:
        """Rows that may still be sent up: never more are in the air, or landed and unsettled, than slots + 64."""
        return self.grant.slots + self.spare - self.in_the_air

    @property
    def spare(self) -> int:
        """Rows that may wait for a slot in the air."""
        return min(self.grant.slots, SPARE)

    @property
    def is_short(self) -> bool:
        """There is room for more rows than are at hand, and some might be had."""
        return len(self.buffer) < self.room and time.monotonic() >= self.dry_until

    @property
    def has_rows(self) -> bool:
        return bool(self.buffer or self.in_the_air)

    @property
    def is_blocked_for_long(self) -> bool:
        return self.grant.blocked_for_s >= LEAVE_ALONE_S / 2

    def unload(self) -> list[Row]:
        """Take away what has not been sent up yet."""
        rows = list(self.buffer)
        self.buffer.clear()
        return rows


class Lines:
    """The lines of one worker. Its gates never let through more than the share that is written down for it."""

    def __init__(self, lane: Lane, lease_id: str, flight: Flight, heartbeat: Heartbeat) -> None:
        self._lane = lane
        self._lease_id = lease_id
        self._flight = flight
        self._heartbeat = heartbeat
        self._lines: dict[int | None, Line] = {}
        self.closing = False  # nothing more is wanted; what is in the air lands
        self.on_the_move = False  # slots were given up, or are waited for: sharing again soon hands them over sooner

    def __iter__(self) -> Iterator[Line]:
        return iter(self._lines.values())

    def items(self) -> list[tuple[int | None, Line]]:
        return list(self._lines.items())

    def to(self, connection_id: int | None) -> Line:
        return self._lines.setdefault(connection_id, Line(wanted=1))

    def share(self) -> None:
        """Say what is wanted of each connection, learn what is granted, and tell the gates."""
        self._note_what_is_wanted()
        pressure = self._flight.on_loop(lambda tools: tools.chat.pressure())
        uses = {each: _use(line, pressure.get(each)) for each, line in self._lines.items() if each is not None}
        grants = sharing.adjust(self._lease_id, uses)
        if not self._heartbeat.is_fresh:
            grants = dict.fromkeys(grants, NOTHING)  # others may soon take this worker for dead: start no call
        self.on_the_move = any(
            grant.slots < uses[each].slots or (uses[each].wanted and not grant.slots) for each, grant in grants.items()
        )
        for connection_id, grant in grants.items():
            self._lines[connection_id].grant = grant
        self._flight.on_loop(lambda tools: _tell_gates(tools, grants))

    def _note_what_is_wanted(self) -> None:
        """A line for every connection that a ready run calls; one that is idle and has no slots left is closed."""
        ready = {} if self.closing else self._ready_connections()
        for connection_id, most in ready.items():
            line = self.to(connection_id)
            line.wanted = most
            if connection_id is None:
                line.grant = Grant(most)
        for connection_id, line in self.items():
            if connection_id not in ready and not line.has_rows:
                line.wanted = 0
                if not line.grant.slots:
                    self._close(connection_id)

    def _ready_connections(self) -> dict[int | None, int]:
        """Connections that runs with free slices call, and the most calls at once that each allows."""
        ready = ready_runs(self._lane, ANY).order_by().distinct()
        rows = ready.values_list("connection", "connection__max_in_flight")
        return {connection_id: most or UNSHARED_SLOTS for connection_id, most in rows}

    def _close(self, connection_id: int | None) -> None:
        del self._lines[connection_id]
        if connection_id is not None:
            sharing.adjust(self._lease_id, {connection_id: Use(wanted=0)})


def _use(line: Line, seen: Pressure | None) -> Use:
    """What there is to tell of a line since it was last told."""
    put_off, line.put_off = line.put_off, ""
    blocked_for_s = LEAVE_ALONE_S if put_off else 0.0
    if seen is None:
        return Use(line.wanted, line.grant.slots, blocked_for_s=blocked_for_s, blocked_why=put_off)
    return Use(
        wanted=line.wanted,
        slots=line.grant.slots,
        in_flight=seen.in_flight,
        lowered=seen.lowered > 0,
        blocked_for_s=max(seen.blocked_for_s, blocked_for_s),
        blocked_why=put_off or seen.blocked_why,
    )


def _tell_gates(tools: Any, grants: dict[int, Grant]) -> None:
    for connection_id, grant in grants.items():
        tools.chat.set_slots(connection_id, grant.slots, grant.rpm, grant.blocked_for_s)
