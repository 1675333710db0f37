"""Strengths of results from runs that compare them in pairs. Looks at every row, as an answer of `working_out`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from evaluators.stats.bradley_terry import bradley_terry
from evaluators.stats.ranking import rank
from experiments.analysis.pairing import names_of_each
from experiments.analysis.vectors import columns_of
from experiments.models import Experiment, Run

ROWS = ("cases", "scores")


def strengths(run_ids: Sequence[int], baseline_id: int) -> dict[str, Any]:
    """Bradley–Terry strengths relative to the baseline, by experiment id as text, with places; or why there are none.

    No run and its mirror may both be among the runs.
    """
    import numpy

    runs = list(Run.objects.select_related("version__evaluator").filter(pk__in=run_ids).order_by("pk"))
    ids = sorted({pk for run in runs for pk in (run.experiment_id, run.baseline_id) if pk})
    at = {pk: place for place, pk in enumerate(ids)}
    found = columns_of(runs, ROWS)
    sizes = [len(found[run.pk]["scores"]) for run in runs]
    cases, scores = (numpy.concatenate([found[run.pk][name] for run in runs]) for name in ROWS)
    del found  # as large as what is made of it
    told = bradley_terry(
        [str(pk) for pk in ids],
        cases,
        numpy.repeat(numpy.array([at[run.experiment_id] for run in runs], "i4"), sizes),
        numpy.repeat(numpy.array([at[run.baseline_id or 0] for run in runs], "i4"), sizes),
        scores,
        reference=str(baseline_id),
    )
    if told.refused:
        return {"refused": _named(told.refused, ids), "strengths": {}}
    values = {name: figure.value or 0.0 for name, figure in told.strengths.items()}
    places = {each.name: [each.rank_low, each.rank_high, list(each.tied_with)] for each in rank(values, told.gaps)}
    return {
        "refused": "",
        "strengths": {name: {"figure": asdict(each), "place": places[name]} for name, each in told.strengths.items()},
    }


def _named(sentence: str, ids: Sequence[int]) -> str:
    """The sentence with what results are called for their ids."""
    names = names_of_each(Experiment.objects.filter(pk__in=ids).select_related("system"))
    return re.sub(r"“(\d+)”", lambda found: f"“{names[int(found[1])]}”", sentence)
