"""How far a run may go: what its calls may cost, and for how long it may go on.

The claim takes nothing of a run that has reached a limit, and whoever notices first stops it. Its open rows stay
pending and say so; with a higher limit it goes on. What is in flight when a limit is reached still lands and is paid.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from django.db.models import F, Q
from django.db.models.expressions import Combinable
from django.db.models.functions import Now
from django.utils import timezone

from evalstudio.web import numbers
from experiments.ledger.finish import finish_run, land_run, leased_slices
from experiments.models import Evaluation, Run, RunState, StopReason

HAS_SPENT = Q(limit_usd__isnull=False, spent_usd__isnull=False, spent_usd__gte=F("limit_usd"))
IS_OVERTIME = Q(ends_at__isnull=False, ends_at__lte=Now())
WITHIN_LIMITS = ~(HAS_SPENT | IS_OVERTIME)
HAS_LIMIT = Q(limit_usd__isnull=False) | Q(ends_at__isnull=False)


def stop_at_limits(run_ids: Collection[int] | None = None) -> set[int]:
    """Stop the active runs that have reached a limit, of these or of all; their ids."""
    active = Run.objects.filter(HAS_LIMIT, state=RunState.ACTIVE)
    if run_ids is not None:
        active = active.filter(pk__in=run_ids)
    stopped: set[int] = set()
    for reached, reason in ((HAS_SPENT, StopReason.SPEND), (IS_OVERTIME, StopReason.TIME)):
        for run_id in active.filter(reached).values_list("pk", flat=True):
            change = {"state": RunState.STOPPING, "stop_reason": reason, "revision": F("revision") + 1}
            if active.filter(reached, pk=run_id).update(**change):
                stopped.add(run_id)
                finish_run(run_id) or land_run(run_id)
    return stopped


def deadline(run: Run) -> Combinable | None:
    """The end of its time, for a run that goes on from now."""
    return Now() + timedelta(seconds=run.limit_s) if run.limit_s else None


def affordable(run: Run) -> int | None:
    """How many more rows may be taken before the run has spent what it may, at what a row has cost so far.

    What workers hold is reserved. None where nothing limits it, or no row tells yet what one costs. At least one slice
    may go while nobody holds any, so that a run comes to its limit. Up to three queries.
    """
    if run.limit_usd is None or not run.spent_usd:
        return None
    settled = Evaluation.objects.filter(run=run, settled_at__isnull=False).count()
    held = sum(part.pending for part in leased_slices([run]))
    left = int((run.limit_usd - run.spent_usd) * settled / run.spent_usd) - held
    return max(left, 0 if held else 1)


def said_of(run: Run) -> str:
    """The limit that stopped a run, as a sentence; empty where a person stopped it."""
    if run.stop_reason == StopReason.SPEND and run.limit_usd is not None:
        spent = f", and has spent {numbers.usd(run.spent_usd)}" if run.spent_usd else ""
        return f"It may spend {numbers.usd(run.limit_usd)}{spent}. It goes on when its limit is raised."
    if run.stop_reason == StopReason.TIME and run.limit_s is not None:
        return f"It may go on for {numbers.duration(run.limit_s * 1000)} at a time. It goes on when it is resumed."
    return ""


def reserves_all(run: Run) -> bool:
    """Whether what workers hold may use up the limit, so that nothing more is taken until it has landed."""
    return affordable(run) == 0


def has_spent(run: Run) -> bool:
    """Whether it can only go on with a higher limit."""
    return run.limit_usd is not None and run.spent_usd is not None and run.spent_usd >= run.limit_usd


def is_overtime(run: Run) -> bool:
    """Whether its time is over. By this host's clock, which only words depend on."""
    return run.ends_at is not None and run.ends_at <= timezone.now()
