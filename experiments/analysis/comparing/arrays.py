"""Pairs of outputs, and what was told about them, as arrays: an entry for each pair, ordered by case and attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import connection

from evaluators.core import Status
from evaluators.stats.estimate import SAME, Moments
from experiments.analysis.vectors import columns_of
from experiments.models import Experiment, Output, Run

if TYPE_CHECKING:
    from numpy import bool_, float32, float64, int64, uint8
    from numpy.typing import NDArray

ROWS = ("outputs", "cases", "attempts", "scores", "states")  # columns of a run's vector
Rows = Mapping[str, "NDArray[Any]"]

NOT_ASKED = 5  # beside the states of an evaluation: a pair that no row stands for
# What lacks a score follows the scored pairs in this order. A key up to 1 is a gain, a larger one says what is lacking.
KEYS = {Status.FAILED: 2.0, Status.UNSCORED: 3.0, Status.AWAITING: 4.0, Status.PENDING: 5.0, NOT_ASKED: 6.0}
SCORED_KEY = 9.0
EQUAL = 1e-6  # gains up to this are none


@dataclass(frozen=True, slots=True)
class Pairs:
    """The outputs that answer the same case in the same attempt, `alone` those of either side that have no partner."""

    outputs: NDArray[int64]  # of the compared result
    partners: NDArray[int64]  # of the baseline
    cases: NDArray[int64]
    has_error: NDArray[bool_]  # the system ended with an error, on either side
    alone: tuple[NDArray[int64], NDArray[int64]]

    def __len__(self) -> int:
        return len(self.outputs)


def pairs_of(experiment: Experiment, baseline: Experiment, runs: Sequence[Run], rows: Mapping[int, Rows]) -> Pairs:
    """Four queries where a run judged all outputs of a side; `rows` are those of the runs."""
    import numpy

    (mine, my_keys), (theirs, their_keys) = (_answers(each, runs, rows) for each in (experiment, baseline))
    _, at, there = numpy.intersect1d(my_keys, their_keys, assume_unique=True, return_indices=True)
    outputs, partners = mine["outputs"][at], theirs["outputs"][there]
    return Pairs(
        outputs,
        partners,
        mine["cases"][at],
        numpy.isin(outputs, _errors(experiment)) | numpy.isin(partners, _errors(baseline)),
        (numpy.delete(mine["outputs"], at), numpy.delete(theirs["outputs"], there)),
    )


def _answers(experiment: Experiment, runs: Sequence[Run], rows: Mapping[int, Rows]) -> tuple[Rows, NDArray[int64]]:
    """The outputs of an experiment with case and attempt, and one number for both; from a run that judged them all."""
    total = Output.objects.filter(experiment=experiment).count()
    whole = (
        rows[run.pk]
        for run in runs
        if run.experiment_id == experiment.pk and run.baseline_id is None and run.covers_all
    )
    found = next((each for each in whole if len(each["outputs"]) == total), None) or _read(experiment)
    return found, found["cases"].astype("i8") * 65536 + found["attempts"]


def _read(experiment: Experiment) -> Rows:
    import numpy

    with connection.cursor() as cursor:
        cursor.execute("SELECT id, case_id, attempt FROM experiments_output WHERE experiment_id = %s", [experiment.pk])
        table = numpy.array(cursor.fetchall(), dtype="i8").reshape(-1, 3)
    return dict(zip(("outputs", "cases", "attempts"), table.T, strict=True))


def _errors(experiment: Experiment) -> NDArray[int64]:
    import numpy

    failed = Output.objects.filter(experiment=experiment).exclude(error="").values_list("pk", flat=True)
    return numpy.fromiter(failed, dtype="i8")


def rows_of_runs(runs: Sequence[Run], more: Sequence[str] = ()) -> Mapping[int, Rows]:
    """The rows of runs, by the run's id. One query where all are kept."""
    return columns_of(runs, (*ROWS, *more))


# --- What a run told --------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Told:
    """What a run says of each of some outputs: the mean of its scores, NaN without any, and the state."""

    scores: NDArray[float64]
    states: NDArray[uint8]  # a Status, or NOT_ASKED


def told(outputs: NDArray[int64], rows: Rows) -> Told:
    import numpy

    if numpy.array_equal(rows["outputs"], outputs):
        return Told(rows["scores"], rows["states"])
    place, hit = places(outputs, rows["outputs"])
    states, scores = numpy.full(len(outputs), NOT_ASKED, "u1"), rows["scores"][hit]
    for state in (Status.PENDING, Status.AWAITING, Status.UNSCORED, Status.FAILED, Status.SCORED):
        states[place[rows["states"][hit] == state]] = state
    has_score = ~numpy.isnan(scores)
    sums = numpy.bincount(place[has_score], weights=scores[has_score], minlength=len(outputs))
    counts = numpy.bincount(place[has_score], minlength=len(outputs))
    with numpy.errstate(invalid="ignore"):
        return Told(sums / counts, states)


def places(among: NDArray[int64], wanted: NDArray[int64]) -> tuple[NDArray[int64], NDArray[bool_]]:
    """Where each of the wanted ids that is there stands, and which of them are there."""
    import numpy

    if not len(among):
        return numpy.empty(0, "i8"), numpy.zeros(len(wanted), bool)
    order = numpy.argsort(among, kind="stable")
    at = numpy.minimum(numpy.searchsorted(among, wanted, sorter=order), len(among) - 1)
    hit = among[order[at]] == wanted
    return order[at[hit]], hit


def keys_of(gains: NDArray[float64], *sides: Told) -> NDArray[float32]:
    """The gain of each pair that has a score from all sides, and for the others what is lacking.

    A pair that one side was not asked for is not asked for.
    """
    import numpy

    codes = numpy.full(NOT_ASKED + 1, SCORED_KEY, "f4")
    for state, key in KEYS.items():
        codes[state] = key
    lacks = numpy.minimum.reduce([codes[side.states] for side in sides])
    for side in sides:
        lacks[side.states == NOT_ASKED] = KEYS[NOT_ASKED]
    return numpy.where(lacks == SCORED_KEY, gains, lacks).astype("f4")


def moments(values: NDArray[float64], cases: NDArray[int64]) -> Moments:
    """The sums over cases from which a figure follows; cases come in order."""
    import numpy

    if not len(values):
        return Moments()
    starts = numpy.flatnonzero(numpy.diff(cases, prepend=cases[0] - 1))
    sizes = numpy.diff(starts, append=len(cases)).astype("f8")
    sums = numpy.add.reduceat(values, starts)  # sums of products below, since `@` would start threads
    return Moments(
        n=len(values),
        clusters=len(starts),
        total=float(values.sum()),
        squares=float((sums * sums).sum()),
        products=float((sizes * sums).sum()),
        sizes=float((sizes * sizes).sum()),
        least=float(values.min()),
        most=float(values.max()),
        is_binary=bool(((values == 0) | (values == 1)).all()),
        apart=int((numpy.abs(sums) > SAME).sum()),
    )
