"""Runs that get answers: a prompt is asked about the cases of a data set, and what it answers is judged as it comes.

Such a run goes the way of all others. What differs: its rows are about cases, settling a row also stores an output, and
the runs that judge the experiment are told of new outputs now and then, and once more when it is over. Until then the
experiment is open. It is opened again by the next answer, after a resumption or a retry, so that a kill at any moment
leaves either an open experiment, which the sweep looks after, or nothing to do.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from experiments.ledger.asked import Asked
from experiments.ledger.cases import asked_of
from experiments.ledger.defaults import limited
from experiments.ledger.progress import OVER
from experiments.ledger.start import CannotStart, check_options, follow, prepare
from experiments.models import DatasetVersion, Experiment, PromptVersion, Purpose, Run, Source
from experiments.outputs.judging import Judge, begin_judging

LEAST_PAUSE_S = 1.0
SHARE = 0.05  # of a worker's time that telling may take


@transaction.atomic
def open_experiment(
    prompt: PromptVersion,
    version: DatasetVersion,
    author: Any = None,
    *,
    asked: Asked,
    judges: Sequence[Judge] = (),
    client_key: str | None = None,
) -> Run:
    """A new experiment with the run that is to answer it, still without rows: `prepare` writes them.

    `judges` judge the answers as they come. Raises CannotStart, and then leaves nothing.
    """
    connection = prompt.connection
    if connection.archived_at:
        raise CannotStart(f"The connection “{connection.name}” is archived. Choose another.")
    check_options("net", connection, asked)
    asked = limited(asked, "net", connection, prompt.project_id)
    experiment = Experiment.objects.create(
        project_id=prompt.project_id,
        system_id=prompt.system_id,
        dataset_version=version,
        source=Source.PROMPT,
        is_open=True,
        client_key=client_key,
        author=author,
    )
    sample = asked.sample(asked_of(version), "position")
    run = Run.objects.create(
        experiment=experiment,
        purpose=Purpose.ANSWERS,
        is_current=False,
        lane="net",
        connection=connection,
        selection=asked.selection,
        sample=sample,
        repeats=asked.repeats,
        started_by=author,
        **{name: value for name, value in asked.bounds.items() if value is not None},
    )
    begin_judging(experiment, judges, author)
    return run


def begin(run: Run) -> None:
    """Write its rows and let it go."""
    prepare(run.pk)
    run.refresh_from_db()


@dataclass
class Following:
    """Tells the runs that judge an experiment of its new outputs, rarely enough that it costs little."""

    experiment_id: int
    due: float = 0.0

    def pass_on(self) -> None:
        began = time.monotonic()
        if began < self.due:
            return
        follow(Experiment.objects.get(pk=self.experiment_id))
        ended = time.monotonic()
        self.due = ended + max(LEAST_PAUSE_S, (ended - began) / SHARE)


def close_answered() -> None:
    """Have the last answers of runs that are over judged, and close their experiments. Safe at any time, by anybody."""
    over = Run.objects.filter(purpose=Purpose.ANSWERS, state__in=OVER, experiment__is_open=True)
    for run in over.select_related("experiment"):
        follow(run.experiment)
        _close(run)


@transaction.atomic
def _close(run: Run) -> None:
    """Close the experiment of a run unless the run has changed since it was read."""
    unchanged = Run.objects.select_for_update().filter(pk=run.pk, revision=run.revision, state__in=OVER)
    if unchanged.values_list("pk").first():
        Experiment.objects.filter(pk=run.experiment_id).update(is_open=False)
