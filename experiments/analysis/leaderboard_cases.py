"""Where systems differ: the cases on which one loses points and another does not, system by system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from experiments.analysis.leaderboard_ranking import cases_of, reads, runs_of, sums_of
from experiments.analysis.slicing import Slice
from experiments.models import Output

SHOWN = 40  # cases
NOTHING: dict[str, Any] = {"runs": [], "cases": [], "scores": [], "outputs": [], "lost": 0}


def telling(run_ids: Sequence[int], measure: str, split: str, field: str, value: str) -> dict[str, Any]:
    """The cases on which the systems are furthest apart, of those where any is not at its best; the hardest first.

    `runs` are the rows of `scores` and of `outputs`, `cases` their columns; None where a system has no score or output.
    `lost` counts all cases where any is not at its best.
    """
    import numpy

    runs = runs_of(run_ids)
    if not runs:
        return NOTHING
    universe = cases_of(runs, Slice(split, field, value))
    if not len(universe):
        return NOTHING
    found = dict(sums_of(runs, measure, universe))
    means = numpy.stack([each.sums / numpy.where(each.counts, each.counts, numpy.nan) for each in found.values()])
    direction, _ = reads(runs[0], measure)
    losses = -means if direction == "higher" else means
    best = numpy.nanmin(losses) if not numpy.isnan(losses).all() else numpy.nan
    lost = (losses > best + 1e-9 * numpy.nanmax(abs(losses), initial=0.0)).any(0)
    there = ~numpy.isnan(losses)
    mean = numpy.where(there, losses, 0).sum(0) / numpy.maximum(there.sum(0), 1)
    spread = numpy.where(there, losses, -numpy.inf).max(0) - numpy.where(there, losses, numpy.inf).min(0)
    places = numpy.flatnonzero(lost)
    furthest = places[numpy.argsort(-spread[places], kind="stable")[:SHOWN]]
    places = furthest[numpy.argsort(-mean[furthest], kind="stable")]
    cases = universe[places].tolist()
    scores = means[:, places]
    return {
        "runs": list(found),
        "cases": cases,
        "scores": [[None if numpy.isnan(score) else float(f"{score:.6g}") for score in row] for row in scores],
        "outputs": _outputs([run.experiment_id for run in runs], cases),
        "lost": int(lost.sum()),
    }


def _outputs(experiments: Sequence[int], cases: Sequence[int]) -> list[list[int | None]]:
    """The first output of each experiment for each case."""
    outputs = Output.objects.filter(experiment__in=experiments, case__in=cases).order_by("-attempt", "-pk")
    first = {(experiment, case): pk for pk, experiment, case in outputs.values_list("pk", "experiment", "case")}
    return [[first.get((experiment, case)) for case in cases] for experiment in experiments]
