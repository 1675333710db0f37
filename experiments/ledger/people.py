"""The one door through which what people settle on becomes scores of their runs."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import F

from evaluators.core import Score, Status
from evaluators.models import EvaluatorVersion
from experiments.ledger.finish import finish_run
from experiments.ledger.settle import Book, settle
from experiments.ledger.start import start
from experiments.models import Evaluation, EvaluationBody, Experiment, Output, Purpose, Run, RunState


def run_of_people(version: EvaluatorVersion, experiment: Experiment, baseline: Experiment | None, by: Any) -> Run:
    """The current run of a human evaluator, started where there is none. Raises CannotStart."""
    return Run.objects.filter(
        version=version, experiment=experiment, baseline=baseline, is_current=True, purpose=Purpose.RESULTS
    ).first() or start(version, experiment, by, baseline=baseline)


@transaction.atomic
def settle_by_people(run: Run, output: Output, score: Score | None) -> None:
    """Settle the row of an output as people did, again if they changed their minds; None makes it await them again.

    A run without a row for the output, because it was asked about others, stays as it is.
    """
    row = Evaluation.objects.select_for_update().filter(run=run, output=output).order_by("repeat").first()
    if row is None:
        return
    if row.state != Status.AWAITING:
        EvaluationBody.objects.filter(evaluation=row).delete()
        Evaluation.objects.filter(pk=row.pk).update(
            state=Status.AWAITING, score=None, label_id=None, passed=None, why="", settled_at=None
        )
        Run.objects.filter(pk=run.pk).update(revision=F("revision") + 1)
    if score is None:
        Run.objects.filter(pk=run.pk, state=RunState.FINISHED).update(state=RunState.ACTIVE, finished_at=None)
        return
    settle(Book(run.pk, run.keeps_details), [(row.pk, score)])
    finish_run(run.pk)
