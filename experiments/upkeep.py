"""Looking after background work, so that none waits for somebody who will not come.

`begin` is for a process that starts workers, `look_after` for one that stays beside them, `sweep` for the queue.
"""

from __future__ import annotations

from django_q.models import Schedule

from experiments.datasets.importing import tasks as imports
from experiments.ledger import sweep as ledger
from experiments.ledger.turns import SWEEP


def begin() -> None:
    """Have the queue sweep every minute, and sweep now: what workers held that were killed goes on at once.

    Loads what calling takes, so that workers forked from here begin without delay and share the memory.
    """
    import evalstudio.calls.chat  # noqa: F401

    Schedule.objects.update_or_create(
        name="sweep", defaults={"func": SWEEP, "schedule_type": Schedule.MINUTES, "minutes": 1, "repeats": -1}
    )
    sweep()


def look_after() -> None:
    """Every few seconds: work of a worker that was killed, or that may go on after a pause, is given to another."""
    ledger.bury_the_dead()
    ledger.call_workers()


def sweep() -> None:
    """Everything. A scheduled task keeps this path: it must never move."""
    ledger.sweep()
    imports.resume_orphans()
    imports.drop_stale_uploads()
