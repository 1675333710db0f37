"""The work behind a comparison: every score of both results, paired, summed up and packed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evaluators.core import FLIPPED
from experiments.analysis.comparing import apart
from experiments.analysis.comparing.arrays import EQUAL, KEYS, Pairs, Rows, keys_of, pairs_of, rows_of_runs, told
from experiments.analysis.comparing.figures import Figure, corrected, of_two, of_verdicts
from experiments.analysis.comparing.judges import Subject
from experiments.analysis.comparing.names import (
    BEST,
    DISAGREES,
    FIGURES,
    FLAGS,
    FLIPS,
    HAS_ERROR,
    KEY,
    OUTPUTS,
    PARTNERS,
    SHAPES,
    SYSTEM_ERROR,
    WORST,
    kind_of,
)
from experiments.analysis.repeats import passing_of
from experiments.analysis.vectors import MEASURE
from experiments.models import Experiment

if TYPE_CHECKING:
    from numpy import bool_, float32, float64
    from numpy.typing import NDArray

FLIPPED_COLUMN = MEASURE + FLIPPED.name


def work_out(experiment: Experiment, baseline: Experiment, subjects: list[Subject]) -> dict[str, bytes]:
    """The figures and the columns over the pairs, packed."""
    import numpy

    runs = [run for subject in subjects for run in subject.runs]
    more = [FLIPPED_COLUMN] if any(subject.is_comparative for subject in subjects) else []
    rows = rows_of_runs(runs, more)
    pairs = pairs_of(experiment, baseline, runs, rows)
    columns: dict[str, NDArray[Any]] = {OUTPUTS: pairs.outputs, PARTNERS: pairs.partners}
    figures, every = [], []
    for subject in subjects:
        if subject.is_comparative:
            figure, keys, flips = _verdicts(pairs, rows[subject.run.pk])
            if flips.any():
                columns[f"{FLIPS}{subject.run.pk}"] = flips
        else:
            figure, keys = _both(pairs, subject, rows)
        figures.append(figure)
        every.append(keys)
        columns[f"{KEY}{subject.run.pk}"] = keys
    columns[WORST], columns[BEST] = _over_all(every, len(pairs))
    columns[FLAGS] = _flags(columns[WORST], columns[BEST], every, pairs.has_error)
    facts = {
        "outputs": len(pairs),
        "cases": len(numpy.unique(pairs.cases)),
        "alone": apart.sides(experiment, baseline, pairs.alone),
        "counts": _counts(columns, len(pairs)),
    }
    packed = {name: column.astype(SHAPES[kind_of(name)]).tobytes() for name, column in columns.items()}
    said = {"figures": [each.as_json() for each in corrected(figures)], "facts": facts}
    return {FIGURES: json.dumps(said).encode(), **packed}


def _both(pairs: Pairs, subject: Subject, rows: Mapping[int, Rows]) -> tuple[Figure, NDArray[float32]]:
    assert subject.baseline_run is not None
    direction = passing_of(subject.version).direction
    mine, theirs = told(pairs.outputs, rows[subject.run.pk]), told(pairs.partners, rows[subject.baseline_run.pk])
    sign = 1 if direction == "higher" else -1
    keys = keys_of(sign * (mine.scores - theirs.scores), mine, theirs)
    figure = of_two(pairs, mine, theirs, keys, direction)
    sides = {"only_experiment": rows[subject.run.pk], "only_baseline": rows[subject.baseline_run.pk]}
    lonely = {name: _scored(side) - figure.difference.n for name, side in sides.items()}
    return replace(figure, counts=figure.counts | lonely), keys


def _scored(rows: Rows) -> int:
    """How many outputs have a score; they come in order, several judgements of one beside one another."""
    import numpy

    return int((numpy.diff(rows["outputs"][~numpy.isnan(rows["scores"])], prepend=-1) != 0).sum())


def _verdicts(pairs: Pairs, rows: Rows) -> tuple[Figure, NDArray[float32], NDArray[bool_]]:
    said = told(pairs.outputs, rows)
    gains: NDArray[float64] = 2 * said.scores - 1
    keys = keys_of(gains, said)
    flips = told(pairs.outputs, {**rows, "scores": rows[FLIPPED_COLUMN]}).scores > 0
    return of_verdicts(pairs, gains, keys, flips), keys, flips


def _over_all(every: list[NDArray[float32]], n: int) -> tuple[NDArray[float32], NDArray[float32]]:
    """Of each pair the worst and the best gain by any evaluator; without any gain the first of what is lacking."""
    import numpy

    if not every:
        return (numpy.full(n, KEYS[max(KEYS)], "f4"),) * 2
    worst = numpy.minimum.reduce(every)
    best = numpy.maximum.reduce([numpy.where(keys <= 1, keys, -keys) for keys in every])
    return worst, numpy.where(best < -1, -best, best)


def _flags(
    worst: NDArray[float32], best: NDArray[float32], every: list[NDArray[float32]], of_system: NDArray[bool_]
) -> NDArray[Any]:
    import numpy

    disagrees = (worst < -EQUAL) & (best > EQUAL) & (best <= 1)
    has_error = of_system.copy()
    for keys in every:
        has_error |= (keys == 2) | (keys == 3)
    return (disagrees * DISAGREES | has_error * HAS_ERROR | of_system * SYSTEM_ERROR).astype(numpy.uint8)


def _counts(columns: Mapping[str, NDArray[Any]], n: int) -> dict[str, int]:
    worst, best, flags = columns[WORST], columns[BEST], columns[FLAGS]
    return {
        "all": n,
        "regressed": int((worst < -EQUAL).sum()),
        "improved": int(((best > EQUAL) & (best <= 1)).sum()),
        "same": int(((worst >= -EQUAL) & (worst <= 1) & (best <= EQUAL)).sum()),
        "disagree": int((flags & DISAGREES > 0).sum()),
        "errors": int((flags & HAS_ERROR > 0).sum()),
        "system_errors": int((flags & SYSTEM_ERROR > 0).sum()),
    }
