"""Starting a run: a row for every output, durable before anybody is told that it started."""

from __future__ import annotations

from typing import Any

from django.db import connection, transaction
from django.db.models import F, Max

from evalstudio.calls.models import Connection
from evaluators.core import Needs
from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.models import EvaluatorVersion
from experiments.ledger import turns
from experiments.ledger.finish import OPEN, finish_run
from experiments.models import Experiment, Output, Run, RunState, Slice

BATCH = 20_000  # rows a transaction


class CannotStart(Exception):
    """This version cannot run here. The message is a sentence for the person who asked."""


def start(version: EvaluatorVersion, experiment: Experiment, started_by: Any = None) -> Run:
    """The current run of a version over an experiment, with a row for every output the experiment has now.

    Asked again, it returns the same run, adds rows for outputs that are new and goes on where it was stopped. Killed at
    any moment, it leaves a run that is still preparing, which the sweep completes. Raises CannotStart.
    """
    needs = _needs(version)
    run, _ = Run.objects.get_or_create(
        version=version,
        experiment=experiment,
        is_current=True,
        defaults={
            "lane": needs.lane,
            "connection": _connection(needs, experiment.project_id),
            "started_by": started_by,
        },
    )
    prepare(run.pk)
    run.refresh_from_db()
    return run


def prepare(run_id: int) -> None:
    """Write the rows and slices that a run lacks, then let it be worked on. Safe to repeat and to interrupt."""
    after, size = 0, None
    while (upto := _end_of_batch(run_id, after)) is not None:
        with transaction.atomic():
            run = Run.objects.select_for_update().get(pk=run_id)
            size = size or _slice_size(run)
            if _insert_rows(run, after, upto):
                _insert_slices(run, size)
                _reopen(run)
        after = upto
    with transaction.atomic():
        _activate(run_id)


def _needs(version: EvaluatorVersion) -> Needs:
    try:
        return work_of(version).needs
    except BadConfig as error:
        raise CannotStart(f"This version cannot be read any more. Edit it and save it again. ({error})") from error


def _connection(needs: Needs, project_id: int) -> Connection | None:
    if needs.connection_id is None:
        return None
    connection = Connection.objects.filter(pk=needs.connection_id, project_id=project_id).first()
    if connection is None:
        raise CannotStart("This version calls a connection that its project no longer has. Choose another and save.")
    if connection.archived_at:
        raise CannotStart(f"The connection “{connection.name}” is archived. Choose another and save a new version.")
    return connection


def _end_of_batch(run_id: int, after: int) -> int | None:
    """The id of the last output of the next batch, None when there are no more."""
    left = Output.objects.filter(experiment__runs=run_id, id__gt=after).order_by("id").values_list("id", flat=True)
    return left[BATCH - 1 : BATCH].first() or left.aggregate(last=Max("id"))["last"]


def _slice_size(run: Run) -> int:
    """Rows a slice: small runs are cut so that all workers get some, large ones so that slices stay few."""
    rows = Output.objects.filter(experiment=run.experiment_id).count()
    return max(8, min(rows // 64, 64 if run.connection_id else 256))


def _insert_rows(run: Run, after: int, upto: int) -> int:
    """Rows for a stretch of outputs; how many there were not yet."""
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO experiments_evaluation (run_id, output_id, repeat, state, why)
               SELECT %s, id, 0, 0, '' FROM experiments_output
               WHERE experiment_id = %s AND id > %s AND id <= %s ORDER BY id
               ON CONFLICT DO NOTHING""",
            [run.pk, run.experiment_id, after, upto],
        )
        return cursor.rowcount


def _insert_slices(run: Run, size: int) -> None:
    """Slices over the rows that have come after the last slice; rows of one run get their ids under its lock."""
    last = Slice.objects.filter(run=run).aggregate(last=Max("last_id"))["last"] or 0
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO experiments_slice (run_id, first_id, last_id, done, crashes)
               SELECT %s, MIN(id), MAX(id), FALSE, 0
               FROM (SELECT id, (ROW_NUMBER() OVER (ORDER BY id) - 1) / %s AS part FROM experiments_evaluation
                     WHERE run_id = %s AND state = 0 AND score IS NULL AND id > %s) AS fresh
               GROUP BY part ORDER BY part""",
            [run.pk, size, run.pk, last],
        )


def _reopen(run: Run) -> None:
    """A finished run that gets new rows is preparing again, so that they are not forgotten if this process ends."""
    if run.state == RunState.FINISHED:
        Run.objects.filter(pk=run.pk).update(state=RunState.PREPARING, finished_at=None)


def _activate(run_id: int) -> None:
    run = Run.objects.select_for_update().get(pk=run_id)
    if run.state == RunState.PREPARING or Slice.objects.filter(OPEN, run=run).exists():
        Run.objects.filter(pk=run_id).update(state=RunState.ACTIVE, finished_at=None, revision=F("revision") + 1)
        if not finish_run(run_id):
            transaction.on_commit(lambda: turns.ask_for_run(run))
