"""The gate of one connection: how many calls may be open, how many may start a minute, and what 429s mean. No Django.

Slots are granted from outside (`grant`) and never exceeded. Who waits is let in first come, first served, except that
an ask which had its turn and must try again goes before those that are new. Whoever waits for the clock holds no
slot.

A stray 429 is the business of the call that got it. Only when refusals are a large share of what is going on does the
gate itself draw back: it lowers its ceiling to 70 %, at most once a second, and lets nobody in until the endpoint's
Retry-After is over. Five seconds without lowering raise the ceiling by a tenth of the slots, so that it recovers from
anything within a minute while it approaches a limit it has just met in small steps. Where the endpoint wants to be left
alone for long, those who wait are sent back with NotNow: their work keeps better as rows than as sleepers.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass

from evalstudio.calls.replies import NotNow

LARGE_SHARE = 0.3
FEWEST_REFUSALS = 3
WINDOW_S = 1.0
LOWER_TO = 0.7
CLEAN_S = 5.0
RAISE_BY = 0.1
LONGEST_WAIT_S = 60.0  # who would have to wait longer for the endpoint is sent back instead


@dataclass(frozen=True, slots=True)
class Pressure:
    """What a gate has seen, for those who share the connection. Counts are since the last snapshot."""

    slots: int
    in_flight: int
    waiting: int
    started: int
    refused: int  # answers 429
    lowered: int  # times the ceiling was lowered
    ceiling: float | None  # calls at once that the endpoint seems to bear, None: as many as granted
    blocked_for_s: float  # how long the endpoint wants to be left alone from now on, 0: not at all
    blocked_why: str


def lower(ceiling: float) -> float:
    """The next ceiling after a run of refusals."""
    return max(1.0, ceiling * LOWER_TO)


def raise_(ceiling: float, slots: int, clean_s: float) -> float:
    """The ceiling after so many seconds without lowering, at most the slots."""
    return min(float(slots), ceiling + clean_s / CLEAN_S * max(1.0, slots * RAISE_BY))


class Gate:
    """Lives in one event loop; every method is called from there."""

    def __init__(self, slots: int, rpm: float | None = None) -> None:
        self.slots = slots
        self.in_flight = 0
        self.ceiling: float | None = None
        self._pace = Pace(rpm)
        self._first: deque[asyncio.Future[None]] = deque()
        self._new: deque[asyncio.Future[None]] = deque()
        self._recent: deque[tuple[float, bool]] = deque()  # when an answer came, and whether it was 429
        self._recent_refusals = 0
        self._changed_at = 0.0
        self._blocked_until = 0.0
        self._blocked_why = ""
        self._timer: asyncio.TimerHandle | None = None
        self._stopped: str | None = None
        self._started = self._refused = self._lowered = 0

    @property
    def limit(self) -> int:
        """Calls that may be open now."""
        return self.slots if self.ceiling is None else min(self.slots, max(1, int(self.ceiling)))

    @property
    def waiting(self) -> int:
        return len(self._first) + len(self._new)

    def grant(self, slots: int, rpm: float | None, blocked_for_s: float = 0.0) -> None:
        """Set the slots and starts per minute, and pass on what other workers heard of the endpoint."""
        self.slots = slots
        self._pace.set_rate(rpm)
        self._blocked_until = max(self._blocked_until, time.monotonic() + blocked_for_s)
        self._admit()

    def blocked_for(self) -> float:
        """Seconds until the gate may let anybody in again."""
        return max(0.0, self._blocked_until - time.monotonic())

    async def enter(self, *, again: bool) -> None:
        """Wait for a slot and take it; raises NotNow when there is none to come for long."""
        if (why := self._closed()) is not None:
            raise NotNow(why)
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        (self._first if again else self._new).append(place)
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled() and place.exception() is None:
                self.leave()  # it was let in at the very moment it gave up
            raise

    def leave(self, *, refused: bool = False, wait_s: float = 0.0) -> None:
        """Give the slot back; `refused` says that the answer was 429, `wait_s` what it asked for."""
        self.in_flight -= 1
        self._note(refused, wait_s)
        self._admit()

    def stop(self, why: str) -> None:
        """Refuse everybody who waits and everybody who comes; those inside are left to finish."""
        self._stopped = why
        self._send_back(why)
        self._set_timer(None)

    def snapshot(self) -> Pressure:
        """What there is to tell since the last snapshot."""
        blocked = self.blocked_for()
        seen = Pressure(
            self.slots, self.in_flight, self.waiting, self._started, self._refused, self._lowered, self.ceiling,
            blocked, self._blocked_why if blocked else "",
        )  # fmt: skip
        self._started = self._refused = self._lowered = 0
        return seen

    def _closed(self) -> str | None:
        """Why nobody gets in for long, or None."""
        if self._stopped is not None:
            return self._stopped
        if (wait := self.blocked_for()) > LONGEST_WAIT_S:
            return f"The endpoint asked to be left alone for {wait:.0f} s. {self._blocked_why}".rstrip()
        return None

    def _send_back(self, why: str) -> None:
        for place in (*self._first, *self._new):
            if not place.done():
                place.set_exception(NotNow(why))
        self._first.clear()
        self._new.clear()

    def _admit(self) -> None:
        """Let in as many as may go now and set the clock for the rest."""
        now = time.monotonic()
        self._recover(now)
        self._set_timer(None)
        if (why := self._closed()) is not None:
            self._send_back(why)
        while self.waiting and self.in_flight < self.limit:
            if (wait := max(self._blocked_until - now, self._pace.wait_s(now))) > 0:
                self._set_timer(wait)
                return
            place = (self._first or self._new).popleft()
            if place.done():  # cancelled while it waited
                continue
            self._pace.take()
            self.in_flight += 1
            self._started += 1
            place.set_result(None)

    def _set_timer(self, wait_s: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if wait_s is None else asyncio.get_running_loop().call_later(wait_s, self._admit)

    def _note(self, refused: bool, wait_s: float) -> None:
        now = time.monotonic()
        self._recent.append((now, refused))
        while self._recent[0][0] < now - WINDOW_S:
            self._recent_refusals -= self._recent.popleft()[1]
        if not refused:
            return
        self._refused += 1
        self._recent_refusals += 1
        # Refusals come back at once and replies take their time, so calls still open count as going well.
        going_on = len(self._recent) + self.in_flight
        if self._recent_refusals >= FEWEST_REFUSALS and self._recent_refusals >= LARGE_SHARE * going_on:
            self._draw_back(
                now, wait_s, f"It answered 429 to {self._recent_refusals} of {going_on} calls within a second."
            )

    def _draw_back(self, now: float, wait_s: float, why: str) -> None:
        self._blocked_until = max(self._blocked_until, now + wait_s)
        self._blocked_why = why
        if self._lowered_recently(now):
            return
        self.ceiling = lower(self.limit)
        self._changed_at = now
        self._lowered += 1

    def _lowered_recently(self, now: float) -> bool:
        return self.ceiling is not None and now - self._changed_at < WINDOW_S

    def _recover(self, now: float) -> None:
        if self.ceiling is None or (clean_s := now - self._changed_at) < CLEAN_S:
            return
        self.ceiling = raise_(self.ceiling, self.slots, clean_s)
        self._changed_at = now
        if self.ceiling >= self.slots:
            self.ceiling = None


class Pace:
    """Starts per minute, spread evenly: at most one second's worth may start at once."""

    def __init__(self, rpm: float | None) -> None:
        self._rate: float | None = None  # starts a second
        self._tokens = 0.0
        self._at = time.monotonic()
        self.set_rate(rpm)
        self._tokens = self._most

    @property
    def _most(self) -> float:
        return max(1.0, self._rate or 1.0)

    def set_rate(self, rpm: float | None) -> None:
        self._refill(time.monotonic())
        self._rate = None if rpm is None else rpm / 60

    def wait_s(self, now: float) -> float:
        """Seconds until one more may start."""
        if self._rate is None:
            return 0.0
        self._refill(now)
        return max(0.0, (1.0 - self._tokens) / self._rate) if self._rate else 60.0

    def take(self) -> None:
        if self._rate is not None:
            self._tokens -= 1.0

    def _refill(self, now: float) -> None:
        if self._rate is not None:
            self._tokens = min(self._most, self._tokens + (now - self._at) * self._rate)
        self._at = now
