"""How systems came along: every result of a data set by one version of an evaluator, over time.

Prompts of one title are one line, whatever their numbers and models; any other system is a line of its own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from evaluators.stats.estimate import Estimate
from experiments.analysis.leaderboard_columns import Judged
from experiments.analysis.summary import summaries
from experiments.models import Dataset, Experiment, Purpose, Run

NEWEST = 200  # results
SHOWN = ("experiment__system__prompt", "experiment__project", "experiment__dataset_version__dataset")


@dataclass(frozen=True, slots=True)
class Point:
    experiment: Experiment
    run: Run
    figure: Estimate


def trends_of(dataset: Dataset, judged: Judged) -> dict[str, list[Point]]:
    """The lines with more than one result, by name, oldest result first. Two queries, and those of `summaries`."""
    runs = Run.objects.filter(
        experiment__dataset_version__dataset=dataset,
        version=judged.version,
        is_current=True,
        purpose=Purpose.RESULTS,
        baseline=None,
    )
    lines_of = runs.order_by("-experiment").values_list("pk", "experiment__system", "experiment__system__prompt__title")
    newest_of = {pk: title or system for pk, system, title in lines_of[:NEWEST]}
    counted = Counter(newest_of.values())
    several = [pk for pk, line in newest_of.items() if counted[line] > 1]
    if not several:
        return {}
    newest = list(runs.filter(pk__in=several).select_related(*SHOWN).order_by("-experiment"))
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
