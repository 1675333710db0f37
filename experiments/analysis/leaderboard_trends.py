"""How systems came along: every result of a data set by one version of an evaluator, over time.

Prompts of one title are one line, whatever their numbers and models; any other system is a line of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from evaluators.stats.estimate import Estimate
from experiments.analysis.leaderboard_columns import Judged
from experiments.analysis.summary import summaries
from experiments.models import Dataset, Experiment, Purpose, Run

NEWEST = 200  # results


@dataclass(frozen=True, slots=True)
class Point:
    experiment: Experiment
    run: Run
    figure: Estimate


def trends_of(dataset: Dataset, judged: Judged) -> dict[str, list[Point]]:
    """The lines with more than one result, by name, oldest result first. One query, and those of `summaries`."""
    runs = Run.objects.filter(
        experiment__dataset_version__dataset=dataset,
        version=judged.version,
        is_current=True,
        purpose=Purpose.RESULTS,
        baseline=None,
    ).select_related("experiment__system__prompt", "experiment__project", "experiment__dataset_version__dataset")
    newest = list(runs.order_by("-experiment")[:NEWEST])
    for run in newest:
        run.version = judged.version
    known = summaries(newest)
    lines: dict[str, list[Point]] = {}
    for run in reversed(newest):
        summary = known[run.pk]
        figure = summary.measures.get(judged.measure.name) if judged.measure else summary.estimate
        if figure is not None and figure.value is not None:
            lines.setdefault(_name(run.experiment), []).append(Point(run.experiment, run, figure))
    return {name: points for name, points in lines.items() if len(points) > 1}


def _name(experiment: Experiment) -> str:
    prompt = getattr(experiment.system, "prompt", None)
    return prompt.title if prompt else experiment.system.name
