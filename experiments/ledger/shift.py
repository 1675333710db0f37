"""How long a turn goes on: until others wait, until its time is over, or until somebody wants the worker back."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from evalstudio.calls import leases
from evalstudio.calls.leases import Heartbeat
from evaluators.core import Lane
from experiments.ledger import turns
from experiments.ledger.claim import ALONE, ready_runs

ONE_OF_SEVERAL_S = 2.0  # after so long, one of several turns of a lane makes room for whatever waits
ONLY_ONE_S = 60.0
LONGEST_S = 240.0
LOOK_S = 1.0  # how often a turn looks around: at shares, stopped runs, the end of its time
SOON_S = 0.25  # the same while shares are on the move
TOGETHER_S = 30.0  # after so long without a break, rows that have to be tried alone get their time
URGENT_LANDING_S = 10.0  # for calls in flight when the process has been told to end


@dataclass
class Shift:
    lane: Lane
    heartbeat: Heartbeat
    urgent: bool = False  # the process has been told to end
    _makes_room: bool = False
    _began: float = field(default_factory=time.monotonic)
    _looked: float = 0.0
    _alone_at: float = field(default_factory=time.monotonic)
    _parent: int = field(default_factory=os.getppid)

    @property
    def is_over(self) -> bool:
        """Whether the turn has to end although there may be work left."""
        return self.urgent or self._makes_room or self.heartbeat.is_lost

    def time_to_look(self) -> bool:
        """True at most once a second: then the turn should look around, as the shift itself has just done."""
        now = time.monotonic()
        if now - self._looked < LOOK_S:
            return False
        self._looked = now
        # Without its cluster, nobody would restart or stop this process.
        self.urgent = self.urgent or os.getppid() != self._parent
        self._makes_room = self._makes_room or self._should_make_room(now - self._began)
        return True

    def look_soon(self) -> None:
        """Have it time to look in a quarter of a second."""
        self._looked = time.monotonic() - LOOK_S + SOON_S

    def alone_is_due(self) -> bool:
        """Whether to interrupt other work for rows that must be tried alone: every thirty seconds, if there are any."""
        now = time.monotonic()
        if now - self._alone_at < TOGETHER_S:
            return False
        self._alone_at = now
        return ready_runs(self.lane, ALONE).exists()

    def _should_make_room(self, lasted: float) -> bool:
        if lasted < ONE_OF_SEVERAL_S:
            return False
        if lasted >= LONGEST_S:
            return True
        several = leases.alive_here(self.lane).count() > 1
        return lasted >= (ONE_OF_SEVERAL_S if several else ONLY_ONE_S) and turns.something_waits(self.lane)


@contextmanager
def ends_on_interrupt(shift: Shift) -> Iterator[None]:
    """Inside the block SIGINT ends the turn in order; background workers otherwise ignore it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def leave(*_: object) -> None:
        shift.urgent = True

    before = signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
