"""What people would say where a judge spoke: the correction that stands beside a run's own figure."""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.stats.estimate import Estimate
from experiments.models import Calibration, Run


def corrected_of(runs: Iterable[Run]) -> dict[int, Estimate]:
    """The corrections that hold, by the run's id; refused ones are left out. One query."""
    by_id = {run.pk: run for run in runs}
    kept = Calibration.objects.filter(run__in=by_id)
    figures = {each.run_id: Estimate(**each.figure) for each in kept if each.revision == by_id[each.run_id].revision}
    return {pk: figure for pk, figure in figures.items() if figure.refused is None}
