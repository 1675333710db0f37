"""Asking the queue for turns. A task says "work on this lane for a while": twice, late or never, it harms nothing."""

from __future__ import annotations

import os
from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from django_q.models import OrmQ
from django_q.tasks import async_task

from evalstudio.calls import leases
from evaluators.core import Lane

WORK = "experiments.ledger.turn.work"  # a queued task keeps this path: it must never move


def room_on_this_host(lane: Lane) -> int:
    """How many turns of a lane may run here at once: one a core for computing, the workers there are for calling."""
    return min(settings.WORKERS, os.cpu_count() or 1) if lane == "cpu" else settings.WORKERS


def ask_for_turns(lane: Lane, wanted: int = 1) -> int:
    """Queue turns until `wanted` of the lane are running here or about to; returns how many were queued.

    Only tasks that no cluster has taken count as about to run: one that was taken may have died with its worker.
    """
    missing = min(wanted, room_on_this_host(lane)) - leases.alive_here(lane).count() - len(_untaken(lane))
    for _ in range(missing):
        async_task(WORK, lane, task_name=f"work on {lane}")
    return max(missing, 0)


def longest_unheard(lane: Lane) -> timedelta | None:
    """How long a queued turn of the lane has waited to be taken by a cluster; None when none waits."""
    now = timezone.now()
    return max((now - row.lock for row in _untaken(lane)), default=None)


def _untaken(lane: Lane) -> list[OrmQ]:
    """A row's lock is the time it was queued, and lies in the future once a cluster has taken it."""
    rows = OrmQ.objects.filter(lock__lte=timezone.now())
    return [row for row in rows if row.task.get("func") == WORK and tuple(row.task.get("args", ())) == (lane,)]
