"""Leases: a worker's sign of life, renewed every five seconds by a thread of its own.

What a dead worker held is free again when its lease has expired, or at once when this host can see that its process is
gone. Times are the database's, so that hosts whose clocks differ agree on what has expired.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
import uuid
from datetime import timedelta
from functools import cache
from pathlib import Path

from django.db import DatabaseError, connections
from django.db.models import QuerySet
from django.db.models.functions import Now

from evalstudio.calls.models import Lease

LEASE = timedelta(seconds=30)
BEAT_S = 5.0
STALE_S = 20.0  # without a successful beat for so long, a worker starts no call: its lease may soon be somebody else's

log = logging.getLogger(__name__)


def take(lane: str) -> Lease:
    """A lease of this process, good for thirty seconds."""
    return Lease.objects.create(
        id=uuid.uuid4().hex,
        lane=lane,
        host=_host(),
        boot_id=_boot(),
        pid=os.getpid(),
        pid_start=_start_of(os.getpid()),
        expires_at=Now() + LEASE,
    )


def give_back(lease_id: str) -> None:
    """End a lease; its shares of connections go with it."""
    Lease.objects.filter(pk=lease_id).delete()


def renew(lease_id: str) -> bool:
    """Another thirty seconds; False when the lease is gone, because others took its holder for dead."""
    return bool(Lease.objects.filter(pk=lease_id, expires_at__gt=Now()).update(expires_at=Now() + LEASE))


def alive() -> QuerySet[Lease]:
    return Lease.objects.filter(expires_at__gt=Now())


def alive_here(lane: str) -> QuerySet[Lease]:
    """Unexpired leases of a lane held by processes of this host."""
    return alive().filter(lane=lane, host=_host(), boot_id=_boot())


def dead() -> list[Lease]:
    """Leases whose holders are gone: expired ones, and those of processes that this host knows to have ended."""
    expired = list(Lease.objects.filter(expires_at__lte=Now()))
    here = alive().filter(host=_host(), boot_id=_boot())
    return expired + [lease for lease in here if is_gone(lease)]


def is_gone(lease: Lease) -> bool:
    """Whether this host knows that the holder has ended; False about other hosts."""
    return (lease.host, lease.boot_id) == (_host(), _boot()) and _start_of(lease.pid) != lease.pid_start


def is_running(lease: Lease) -> bool:
    """Whether this host sees the holder run, however late its heartbeat; False about other hosts."""
    return (lease.host, lease.boot_id) == (_host(), _boot()) and _start_of(lease.pid) == lease.pid_start


class Heartbeat:
    """A thread that renews a lease; `is_fresh` says whether the last renewal is recent enough to start calls."""

    def __init__(self, lease_id: str, *, every_s: float = BEAT_S) -> None:
        self._lease_id = lease_id
        self._every_s = every_s
        self._beaten_at = time.monotonic()
        self._stop = threading.Event()
        self.is_lost = False
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    @property
    def is_fresh(self) -> bool:
        return not self.is_lost and time.monotonic() - self._beaten_at < STALE_S

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _beat(self) -> None:
        try:
            while not self._stop.wait(self._every_s) and not self.is_lost:
                self._beat_once()
        finally:
            connections.close_all()  # this thread's own

    def _beat_once(self) -> None:
        asked_at = time.monotonic()
        try:
            self.is_lost = not renew(self._lease_id)
        except DatabaseError:
            log.warning("A heartbeat failed; no new calls are started until one succeeds.", exc_info=True)
            connections.close_all()
        else:
            self._beaten_at = asked_at


def _host() -> str:
    return socket.gethostname()[:200]


@cache
def _boot() -> str:
    """This start of this machine, and the space its process ids are counted in; empty where Linux is not."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _start_of(pid: int) -> str:
    """When a process of this host started, in clock ticks: tells it from a later one with the same id. "" when gone.

    A zombie is gone once no other of its threads is left: until then, calls that it has open are open.
    """
    if not _boot():
        return "unknown"
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    state, *fields = stat.rpartition(")")[2].split()
    threads = int(fields[16])
    return "" if state == "X" or (state == "Z" and threads <= 1) else fields[18]
