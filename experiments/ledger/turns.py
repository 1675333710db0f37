"""Asking the queue for turns. A task says "work on this lane for a while": twice, late or never, it harms nothing."""

from __future__ import annotations

import os
from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from django_q.models import OrmQ
from django_q.tasks import async_task

from evalstudio.calls import leases
from evalstudio.calls.sharing import limit_of
from evaluators.core import Lane
from experiments.ledger.claim import lane_of, ready_runs
from experiments.ledger.finish import PENDING
from experiments.models import Evaluation, Run

WORK = "experiments.ledger.turn.work"  # a queued task keeps these paths: they must never move
SWEEP = "experiments.upkeep.sweep"
LANES: tuple[Lane, ...] = ("net", "cpu")
CALLS_A_PROCESS = 96  # at once: beyond that, one process is busier with its own overhead than with waiting
ROWS_A_CORE = 500  # below that, a second core is not worth waking
SETTLING_IN = timedelta(seconds=2)


def wanted_for(run: Run, rows: int) -> int:
    """How many turns `rows` pending rows of a run are worth."""
    if run.lane == "cpu":
        return 1 + rows // ROWS_A_CORE
    return 1 + (limit_of(run.connection) - 1) // CALLS_A_PROCESS if run.connection else 1


def ask_for_run(run: Run) -> int:
    """Queue as many turns as the pending rows of a run are worth, less those at work; returns how many were queued.

    What people grade needs none.
    """
    if run.lane not in LANES:
        return 0
    enough = ROWS_A_CORE * settings.WORKERS
    rows = Evaluation.objects.filter(run=run, **PENDING).order_by()[:enough].count()  # counting a million takes a while
    return ask_for_turns(lane_of(run), wanted_for(run, rows))


def room_on_this_host(lane: Lane) -> int:
    """How many turns of a lane may run here at once: for computing, one a core."""
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


def something_waits(lane: Lane) -> bool:
    """Whether a turn of this lane keeps others from working: another lane, or another kind of task.

    A task that a cluster has taken may be running or be waiting in its memory, so what counts is whether there are more
    tasks than workers. A cluster that was killed leaves tasks behind that look alike; then turns are merely shorter.
    """
    for other in LANES:
        if other != lane and not leases.alive().filter(lane=other).exists() and ready_runs(other).exists():
            return True
    settled_in = timezone.now() - SETTLING_IN
    tasks = sum(1 for row in OrmQ.objects.exclude(lock__gt=settled_in, lock__lte=timezone.now()) if _is_foreign(row))
    running = sum(leases.alive_here(each).count() for each in LANES)
    return tasks > 0 and tasks + running > settings.WORKERS


def _is_foreign(row: OrmQ) -> bool:
    return row.task.get("func") not in (WORK, SWEEP)


def _untaken(lane: Lane) -> list[OrmQ]:
    """A row's lock is the time it was queued, and lies in the future once a cluster has taken it."""
    rows = OrmQ.objects.filter(lock__lte=timezone.now())
    return [row for row in rows if row.task.get("func") == WORK and tuple(row.task.get("args", ())) == (lane,)]
