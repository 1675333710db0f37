"""What pages read of a run that has finished, ready before the first of them asks. A task of the queue does it."""

from __future__ import annotations

from experiments.analysis.curves import keep_areas
from experiments.analysis.leaderboard_facts import spending_of
from experiments.analysis.summary import summaries
from experiments.analysis.vectors import is_kept, keep
from experiments.analysis.working_out import work_out
from experiments.models import Run, RunState


def ready(run_id: int) -> None:
    """Its summary, its rows as arrays, what its outputs cost, and the areas under its curves. Safe to repeat.

    A queued task keeps this path: it must never move.
    """
    runs = Run.objects.select_related("version__evaluator", "experiment__dataset_version")
    run = runs.filter(pk=run_id, state=RunState.FINISHED).first()
    if run is None:
        return
    summaries([run])
    if not is_kept(run):
        keep(run)
    for question in spending_of([run.experiment]).values():
        work_out(run.experiment.project_id, question.topic, question.about, question.made_from)
    keep_areas(run)
