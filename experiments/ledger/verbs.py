"""What people can ask of a run: stop, resume, retry. Each is safe to repeat.

Rows that people grade never become pending: nobody would take them. Stopped, they are not offered for grading.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Exists, F

from evaluators.core import Status
from experiments.ledger import turns
from experiments.ledger.asked import Asked
from experiments.ledger.finish import land_run, pending_rows_of_slice
from experiments.ledger.limits import deadline
from experiments.ledger.start import STOPPED, check_options, check_spent, first_state, prepare, set_bounds
from experiments.models import Evaluation, EvaluationBody, Run, RunState, Slice

BATCH = 5_000  # rows a transaction


def stop(run: Run) -> None:
    """Start nothing more of it. What is in flight lands within the time of one call; then the run is stopped."""
    if run.state == RunState.PREPARING:
        prepare(run.pk)  # so that a stopped run, too, has a row for everything that was asked for
    active = Run.objects.filter(pk=run.pk, state=RunState.ACTIVE)
    active.update(state=RunState.STOPPING, stop_reason="", revision=F("revision") + 1)
    land_run(run.pk)
    run.refresh_from_db()


def resume(run: Run) -> None:
    """Go on with a run that was stopped or is stopping, and take up outputs that came meanwhile.

    Killed at any moment, it leaves a run that is still preparing, which the sweep completes. Raises CannotStart where
    it has spent what it may.
    """
    run.refresh_from_db()
    if run.state not in STOPPED:
        return
    check_spent(run)
    Run.objects.filter(pk=run.pk, state__in=STOPPED).update(state=RunState.PREPARING)
    prepare(run.pk)
    run.refresh_from_db()


def bound(run: Run, changes: Mapping[str, Any]) -> None:
    """Change bounds of a run, as in `Asked.bounds`; None lifts a limit. With another limit, one that a limit had
    stopped goes on.

    Raises CannotStart.
    """
    changed = {name: value for name, value in changes.items() if getattr(run, name) != value}
    is_limited_otherwise = not changed.keys() <= {"priority"}
    check_options(run.lane, run.connection, Asked(**changed))
    with transaction.atomic():
        set_bounds(run, changed)
        if is_limited_otherwise:
            check_spent(run)
    if "limit_s" in changed:
        Run.objects.filter(pk=run.pk, state=RunState.ACTIVE).update(ends_at=deadline(run))
    if run.stop_reason and is_limited_otherwise:
        resume(run)


def retry(run: Run, *, failed_only: bool = False) -> int:
    """Ask again for what has no score: failed rows and, unless `failed_only`, unscored ones. Returns how many.

    A stop that comes before all are put back wins: the others stay as they are. Raises CannotStart where the run has
    spent what it may.
    """
    check_spent(run)
    states = (Status.FAILED,) if failed_only else (Status.UNSCORED, Status.FAILED)
    total = 0
    for state in states:
        after = 0
        while ids := _next_rows(run, state, after):  # by id, so that one which fails again meanwhile is not taken twice
            after = ids[-1]
            total += _reopen_rows(run, state, ids[0], after, wakes=not total)
    run.refresh_from_db()
    return total


def _next_rows(run: Run, state: Status, after: int) -> list[int]:
    rows = Evaluation.objects.filter(run=run, state=state, score__isnull=True, id__gt=after).order_by("id")
    return list(rows.values_list("id", flat=True)[:BATCH])


@transaction.atomic
def _reopen_rows(run: Run, state: Status, first: int, last: int, *, wakes: bool) -> int:
    """Put rows back to where they began, with their slices and the run: a kill leaves nothing half asked for.

    A run that was stopped only goes on if this `wakes` it.
    """
    if Run.objects.select_for_update().get(pk=run.pk).state in STOPPED and not wakes:
        return 0
    rows = Evaluation.objects.filter(run=run, state=state, score__isnull=True, id__gte=first, id__lte=last)
    EvaluationBody.objects.filter(evaluation__in=rows).delete()
    reopened = rows.update(
        state=first_state(run.lane),
        label_id=None,
        expected_id=None,
        passed=None,
        why="",
        latency_ms=None,
        cost_usd=None,
        settled_at=None,
    )
    slices = Slice.objects.filter(Exists(pending_rows_of_slice()), run=run)
    slices.filter(done=True).update(done=False, crashes=0)
    slices.update(done=False)  # whoever is about to close one of the open ones has to wait, and then sees these rows
    goes_on = {"state": RunState.ACTIVE, "stop_reason": "", "ends_at": deadline(run), "finished_at": None}
    Run.objects.filter(pk=run.pk).update(**goes_on, revision=F("revision") + 1)
    transaction.on_commit(lambda: turns.ask_for_run(run))
    return reopened
