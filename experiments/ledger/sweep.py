"""Looking after what nobody works on: dead workers' slices, half-prepared runs, forgotten ends, lanes without a turn.

The queue calls it every minute, a starting worker at once, and running turns now and then. It may run anywhere, at any
time and in any number: everything it does is a conditional update.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now

from evalstudio.calls import leases
from evalstudio.calls.models import Lease
from experiments.ledger import turns
from experiments.ledger.alone import fail_deadly_rows
from experiments.ledger.answers import close_answered
from experiments.ledger.claim import ANY, ready_runs
from experiments.ledger.finish import OPEN, finish_run, land_run
from experiments.ledger.limits import stop_at_limits
from experiments.ledger.start import prepare
from experiments.models import Run, RunState, Slice

PREPARING_LONG = timedelta(seconds=15)


def sweep() -> None:
    """All of it."""
    bury_the_dead()
    _go_on_preparing()
    _tie_up_ends()
    call_workers()


def bury_the_dead() -> bool:
    """Free what dead workers held and fail the rows that ended them; whether there were any."""
    dead = leases.dead()
    for lease in dead:
        bury(lease, blame=not leases.is_running(lease))
    if dead:
        fail_deadly_rows()
    return bool(dead)


@transaction.atomic
def bury(lease: Lease, *, blame: bool) -> None:
    """Free a worker's slices and end its lease. Blame counts against them: one of their rows may have ended it."""
    Slice.objects.filter(OPEN, lease=lease).update(lease=None, crashes=F("crashes") + int(blame))
    leases.give_back(lease.pk)


def _go_on_preparing() -> None:
    """Whoever was writing the rows of these runs has not finished; rows that are there are not written again."""
    for run_id in Run.objects.filter(state=RunState.PREPARING, created_at__lt=Now() - PREPARING_LONG).values_list(
        "pk", flat=True
    ):
        prepare(run_id)


def _tie_up_ends() -> None:
    stop_at_limits()
    for run_id, state in Run.objects.filter(state__in=(RunState.ACTIVE, RunState.STOPPING)).values_list("pk", "state"):
        finish_run(run_id) or (state == RunState.STOPPING and land_run(run_id))
    close_answered()


def call_workers() -> None:
    """Ask for turns where work is ready, such as that of an endpoint which no longer wants to be left alone."""
    for lane in turns.LANES:
        for run in ready_runs(lane, ANY)[:1]:
            turns.ask_for_run(run)
