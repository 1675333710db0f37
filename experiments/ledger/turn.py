"""A turn: what a background worker does when the queue gives it the task "work on this lane".

Nothing depends on how often, when or where it is called. A turn that finds enough others at work returns at once; one
that ends leaves nothing behind that others would have to wait for; one that is killed is found out by the sweep.
"""

from __future__ import annotations

from django.db import IntegrityError, InterfaceError, OperationalError

from evalstudio.calls import leases
from evalstudio.calls.leases import Heartbeat
from evalstudio.calls.models import Lease
from evaluators.core import Lane
from evaluators.engine import Flight
from experiments.ledger import calling, computing, turns
from experiments.ledger.claim import ANY, ready_runs
from experiments.ledger.desk import Desk
from experiments.ledger.shift import Shift, ends_on_interrupt
from experiments.ledger.sweep import bury, bury_the_dead


def work(lane: Lane) -> None:
    """One turn on a lane. This path is stored in queued tasks and must never change."""
    bury_the_dead()
    if leases.alive_here(lane).count() >= turns.room_on_this_host(lane):
        return
    lease = leases.take(lane)
    try:
        with Heartbeat(lease.pk) as heartbeat:
            _serve(lane, lease, Shift(lane, heartbeat))
    except (OperationalError, InterfaceError, IntegrityError):
        bury(lease, blame=False)  # the database was out of reach, or the lease had been given away: no row is to blame
        raise
    except BaseException:
        bury(lease, blame=True)  # as if the process had ended, so that a row which does this every time is found
        raise
    leases.give_back(lease.pk)
    _call_successor(lane)


def _serve(lane: Lane, lease: Lease, shift: Shift) -> None:
    desk = Desk(lane, lease.pk)
    with ends_on_interrupt(shift):
        if lane == "net":
            with Flight(calling.worker_tools) as flight:
                calling.CallingTurn(desk, shift, flight).run()
        else:
            computing.ComputingTurn(desk, shift, computing.worker_tools()).run()
    desk.clear()


def _call_successor(lane: Lane) -> None:
    """Work that came while this turn was ending counted on it and called nobody: look once more, without a lease."""
    if ready_runs(lane, ANY).exists():
        turns.ask_for_turns(lane)
