"""The rows of a run as arrays, for whatever has to look at all of them at once.

A run's columns are kept packed beside it and hold as long as its revision. They are written without numpy, so that a
worker which writes them stays small.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from django.db import connection, transaction

from evaluators.core import Status
from experiments.analysis.label_scores import label_columns
from experiments.analysis.measured import OPENED, measures_of
from experiments.ledger.progress import is_under_way
from experiments.models import Run, RunVector

if TYPE_CHECKING:
    from numpy import float64, int8, int16, int32, int64, uint8
    from numpy.typing import NDArray

NAN = float("nan")
NONE = -1
MEASURE = "measure:"  # before the name of a measure, as the name of its column


class Shape(NamedTuple):
    """How a column is packed: the type code of Python's arrays, and that of numpy's."""

    code: str
    dtype: str


SHAPES = {
    "outputs": Shape("q", "<i8"),
    "cases": Shape("q", "<i8"),
    "attempts": Shape("h", "<i2"),
    "scores": Shape("d", "<f8"),
    "states": Shape("B", "<u1"),
    "passed": Shape("b", "<i1"),
    "labels": Shape("i", "<i4"),
    "expected": Shape("i", "<i4"),
}
NUMBERS = Shape("d", "<f8")  # of measures


@dataclass(frozen=True, slots=True)
class Vector:
    """The rows of a run, ordered by case, output and repeat: one entry each."""

    outputs: NDArray[int64]
    cases: NDArray[int64]
    attempts: NDArray[int16]
    scores: NDArray[float64]  # NaN unless scored
    states: NDArray[uint8]  # a Status
    passed: NDArray[int8]  # -1 unknown
    labels: NDArray[int32]  # a RunLabel.label_id, -1 none
    expected: NDArray[int32]  # likewise

    def __len__(self) -> int:
        return len(self.outputs)


def vector(run: Run) -> Vector:
    """All columns of a run. One query where they are kept, else those of `keep`."""
    return Vector(**columns_of([run], tuple(SHAPES))[run.pk])


def columns_of(runs: Sequence[Run], names: Sequence[str]) -> dict[int, dict[str, NDArray[Any]]]:
    """Some columns of several runs, by the run's id. One query, and those of `keep` for each run that lacks any.

    A measure that a run does not have comes as NaN for every row.
    """
    kept = _kept(runs, names)
    found: dict[int, dict[str, NDArray[Any]]] = {}
    for run in runs:
        stored = kept.get(run.pk, {})
        if "outputs" not in stored:  # of every run that has been kept at all
            stored = {each.name: each for each in (_pack(run) if is_under_way(run) else keep(run))}
        found[run.pk] = {name: _unpacked(stored, name) for name in names}
    return found


def keep(run: Run) -> list[RunVector]:
    """Read a run's rows and keep them packed; what was kept. Two queries to read, two to write."""
    packed = _pack(run)
    with transaction.atomic():
        RunVector.objects.bulk_create(
            packed,
            update_conflicts=True,
            unique_fields=["run", "name"],
            update_fields=["revision", "length", "data"],
        )
        RunVector.objects.filter(run=run).exclude(name__in=[each.name for each in packed]).delete()
    return packed


def is_kept(run: Run) -> bool:
    return RunVector.objects.filter(run=run, name="outputs", revision=run.revision).exists()


def _kept(runs: Sequence[Run], names: Sequence[str]) -> dict[int, dict[str, RunVector]]:
    revisions = {run.pk: run.revision for run in runs}
    found: dict[int, dict[str, RunVector]] = {}
    for each in RunVector.objects.filter(run__in=revisions, name__in={*names, "outputs"}):
        if each.revision == revisions[each.run_id]:
            found.setdefault(each.run_id, {})[each.name] = each
    return found


def _unpacked(stored: dict[str, RunVector], name: str) -> NDArray[Any]:
    import numpy

    length = stored["outputs"].length
    if name not in stored:
        return numpy.full(length, NAN)
    shape = SHAPES.get(name, NUMBERS)
    data = numpy.frombuffer(stored[name].data, dtype=shape.dtype)
    return data if len(data) == length else numpy.full(length, data[0], dtype=shape.dtype)


def _pack(run: Run) -> list[RunVector]:
    """The columns of a run's rows as they are now, under the revision that `run` carries: never under a later one."""
    rows = _rows(run)
    columns: dict[str, array[Any]] = {
        name: array(shape.code, _without_none(column) if name == "scores" else column)
        for (name, shape), column in zip(SHAPES.items(), _turned(rows), strict=True)
    }
    ids = [row[0] for row in rows]
    for measure in measures_of(run.version):
        numbers = dict(_numbers(run, measure.name))
        columns[MEASURE + measure.name] = array("d", (numbers.get(row_id, NAN) for row_id in ids))
    columns |= label_columns(run, ids)
    return [
        RunVector(run=run, name=name, revision=run.revision, length=len(ids), data=_bytes(column))
        for name, column in columns.items()
    ]


def _turned(rows: Sequence[tuple[Any, ...]]) -> Iterator[Iterable[Any]]:
    """The columns of the rows, without their ids."""
    return iter(list(zip(*rows, strict=True))[1:]) if rows else iter([()] * len(SHAPES))


def _without_none(numbers: Iterable[float | None]) -> Iterator[float]:
    return (NAN if number is None else number for number in numbers)


def _bytes(column: array[Any]) -> bytes:
    if sys.byteorder == "big":
        column.byteswap()
    data, width = column.tobytes(), column.itemsize
    one = data[:width]
    return one if one * len(column) == data else data


def _rows(run: Run) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT evaluation.id, evaluation.output_id, output.case_id, output.attempt,
                       evaluation.score, evaluation.state,
                       CASE WHEN evaluation.passed THEN 1 WHEN evaluation.passed IS NULL THEN {NONE} ELSE 0 END,
                       COALESCE(evaluation.label_id, {NONE}), COALESCE(evaluation.expected_id, {NONE})
                FROM experiments_evaluation AS evaluation
                JOIN experiments_output AS output ON output.id = evaluation.output_id
                WHERE evaluation.run_id = %s
                ORDER BY output.case_id, output.id, evaluation.repeat""",  # noqa: S608 - a number of ours
            [run.pk],
        )
        return cursor.fetchall()


def _numbers(run: Run, name: str) -> list[tuple[int, float]]:
    opened, is_number, value = OPENED[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT evaluation.id, {value}
                FROM experiments_evaluation AS evaluation
                JOIN experiments_evaluationbody AS body ON body.evaluation_id = evaluation.id
                CROSS JOIN {opened}(body.measures) AS measure
                WHERE evaluation.run_id = %s AND evaluation.state = %s AND measure.key = %s AND {is_number}""",  # noqa: S608 - words of ours only
            [run.pk, int(Status.SCORED), name],
        )
        return cursor.fetchall()
