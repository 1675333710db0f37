"""How an experiment gets its answers, where a prompt is run for it."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.analysis.columns import RunProgress
from experiments.ledger.progress import progress
from experiments.models import Experiment, Purpose, Run, Source
from experiments.outputs.prompting import Recipe


@dataclass(frozen=True)
class Answered:
    """The run that asks, and what it asks."""

    run: Run
    recipe: Recipe
    progress: RunProgress
    is_open: bool

    @property
    def is_going(self) -> bool:
        """Whether answers come, or those that came are yet to be passed on to who judges them."""
        return not self.progress.now.is_over or (self.is_open and self.progress.now.scored > 0)


def answered(experiment: Experiment) -> Answered | None:
    """None for an experiment whose outputs were made elsewhere. At most four queries."""
    if experiment.source != Source.PROMPT:
        return None
    runs = Run.objects.filter(experiment=experiment, purpose=Purpose.ANSWERS)
    run = runs.select_related("connection", "experiment__system__prompt", "experiment__project").first()
    if run is None:
        return None
    recipe = Recipe.of(run.experiment.system.prompt.config)
    return Answered(run, recipe, RunProgress(progress(run)), experiment.is_open)
