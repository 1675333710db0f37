"""What people would say where a judge spoke: the correction that stands beside a run's own figure."""

from __future__ import annotations

from collections.abc import Iterable

from evaluators.stats.estimate import Estimate
from experiments.models import Calibration, Run


def corrected_of(runs: Iterable[Run]) -> dict[int, Estimate]:
    """The corrections that hold, by the run's id; refused ones are left out.

    No query for runs that come with their `calibration`, one for all others together.
    """
    by_id = {run.pk: run for run in runs}
    field = Run._meta.get_field("calibration")
    bare = [pk for pk, run in by_id.items() if not field.is_cached(run)]
    kept = list(Calibration.objects.filter(run__in=bare)) if bare else []
    kept += [run.calibration for run in by_id.values() if field.is_cached(run) and hasattr(run, "calibration")]
    figures = {each.run_id: Estimate(**each.figure) for each in kept if each.holds_for(by_id[each.run_id])}
    return {pk: figure for pk, figure in figures.items() if figure.refused is None}
