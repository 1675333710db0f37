"""Who may use how many of a connection's calls at once, across every worker and host.

A share is a row: the slots its holder may use at this moment. The rows of one connection never add up to more than its
limit, because slots are granted under the connection's lock and only from what is free. Growing writes the row before
the slots are used; shrinking uses fewer first and writes the row when the calls above it have landed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models.functions import Now

from evalstudio.calls import leases
from evalstudio.calls.models import Connection, ConnectionShare
from evalstudio.calls.replies import NotNow

LOWER_EVERY = timedelta(seconds=1)
CLEAN = timedelta(seconds=5)
A_LITTLE = timedelta(seconds=0.5)


@dataclass(frozen=True, slots=True)
class Use:
    """How a worker uses a connection: the slots its gate is set to, the calls open now, the most it could use.

    `lowered` and `blocked_for_s` pass on what its calls were told since the last adjustment: that the endpoint bears
    less, and for how long it wants to be left alone.
    """

    wanted: int
    slots: int = 0
    in_flight: int = 0
    lowered: bool = False
    blocked_for_s: float = 0.0
    blocked_why: str = ""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a worker may use from now on: calls at once, starts per minute, seconds to leave the endpoint alone."""

    slots: int
    rpm: float | None = None
    blocked_for_s: float = 0.0


def adjust(lease_id: str, uses: Mapping[int, Use]) -> dict[int, Grant]:
    """Fit a worker's shares to what it wants and to what others hold, by connection id.

    A share that is wanted no more and has nothing in flight is dropped, and its grant is zero slots.
    """
    return {connection_id: _adjust_one(lease_id, connection_id, use) for connection_id, use in sorted(uses.items())}


@contextmanager
def borrow(connection: Connection, slots: int = 1, *, patience_s: float = 5.0) -> Iterator[Grant]:
    """A share for the time of a request, as the test bench needs one: small wishes are granted before large ones.

    Raises NotNow when nothing comes free in time.
    """
    lease = leases.take("bench")
    try:
        yield _wait_for(lease.pk, connection, slots, patience_s)
    finally:
        leases.give_back(lease.pk)


def fair(limit: int, wants: Iterable[int]) -> list[int]:
    """Divide `limit` among wishes so that none gets more than it wants and the smallest are served whole first.

    fair(10, [1, 20, 20]) is [1, 5, 4]: what is left over goes to those who come first.
    """
    wanted = list(wants)
    shares = [0] * len(wanted)
    left = limit
    order = sorted(range(len(wanted)), key=lambda place: (wanted[place], place))
    for done, place in enumerate(order):
        waiting = len(order) - done
        shares[place] = min(wanted[place], -(-left // waiting))
        left -= shares[place]
    return shares


def _wait_for(lease_id: str, connection: Connection, slots: int, patience_s: float) -> Grant:
    give_up_at = time.monotonic() + patience_s
    while True:
        grant = _adjust_one(lease_id, connection.pk, Use(wanted=slots))
        if grant.slots >= min(slots, limit_of(connection)):
            return grant
        if time.monotonic() >= give_up_at:
            raise NotNow(f"All calls at once that “{connection.name}” allows are in use. Try again in a moment.")
        time.sleep(0.1)


@transaction.atomic
def _adjust_one(lease_id: str, connection_id: int, use: Use) -> Grant:
    # Whoever holds the connection's row decides alone; its clock is the database's.
    connection = Connection.objects.select_for_update().annotate(now=Now()).get(pk=connection_id)
    _note_what_it_bears(connection, use)
    shares = list(ConnectionShare.objects.filter(connection=connection, lease__in=leases.alive()).order_by("pk"))
    own = next((share for share in shares if share.lease_id == lease_id), None)
    if not (use.wanted or use.slots or use.in_flight):
        if own is not None:
            own.delete()
        return Grant(0)
    if not leases.alive().filter(pk=lease_id).exists():
        return Grant(0)  # it was taken for dead, and others use its slots
    if own is None:
        own = ConnectionShare(connection=connection, lease_id=lease_id, slots=0)
        shares.append(own)
    granted = _slots_for(own, use, shares, limit_of(connection))
    return Grant(granted, _rpm(connection, granted), _blocked_for_s(connection))


def _slots_for(own: ConnectionShare, use: Use, shares: list[ConnectionShare], limit: int) -> int:
    """What `own` may use now. Its row keeps what is still in use above that, so that nobody else counts on it yet."""
    due = fair(limit, [use.wanted if share is own else share.wanted for share in shares])[shares.index(own)]
    held_by_others = sum(share.slots for share in shares if share is not own)
    granted = min(due, max(limit - held_by_others, 0))
    still_used = min(own.slots, max(use.slots, use.in_flight))
    row = (use.wanted, max(granted, still_used))
    if own.pk is None or (own.wanted, own.slots) != row:
        own.wanted, own.slots = row
        own.save()
    return granted


def limit_of(connection: Connection) -> int:
    """Calls that may be open at once now: what people allow, or less where the endpoint was found to bear less."""
    if connection.ceiling is None:
        return connection.max_in_flight
    return min(connection.max_in_flight, max(1, int(connection.ceiling)))


def _note_what_it_bears(connection: Connection, use: Use) -> None:
    """Lower the ceiling for all, at most once a second, or raise it after five clean ones; keep the longest block."""
    from evalstudio.calls.chat.gate import lower, raise_

    now: datetime = connection.now  # type: ignore[attr-defined]
    since = now - connection.ceiling_changed_at if connection.ceiling_changed_at else CLEAN
    before = (connection.ceiling, connection.blocked_until)
    if use.lowered and since >= LOWER_EVERY:
        connection.ceiling, connection.ceiling_changed_at = lower(limit_of(connection)), now
    elif connection.ceiling is not None and since >= CLEAN:
        raised = raise_(connection.ceiling, connection.max_in_flight, since.total_seconds())
        connection.ceiling = raised if raised < connection.max_in_flight else None
        connection.ceiling_changed_at = now
    until = now + timedelta(seconds=use.blocked_for_s)
    known = connection.blocked_until or now
    if until > known + A_LITTLE:  # a worker also reports what it was told by this very row
        connection.blocked_until, connection.blocked_why = until, use.blocked_why[:200]
    if before != (connection.ceiling, connection.blocked_until):
        connection.save(update_fields=["ceiling", "ceiling_changed_at", "blocked_until", "blocked_why"])


def _rpm(connection: Connection, slots: int) -> float | None:
    """Starts per minute go with the slots."""
    if connection.requests_per_minute is None:
        return None
    return connection.requests_per_minute * slots / limit_of(connection)


def _blocked_for_s(connection: Connection) -> float:
    now: datetime = connection.now  # type: ignore[attr-defined]
    return max(0.0, (connection.blocked_until - now).total_seconds()) if connection.blocked_until else 0.0
