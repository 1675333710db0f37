"""The means of what the evaluations of a run measure besides their score, each with its interval."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from evaluators.core import Measure, Status
from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.models import EvaluatorVersion
from evaluators.stats.estimate import Moments
from experiments.models import Purpose, Run

# How each database opens a JSON object: the function, what keeps the numbers, and a number as one.
OPENED = {
    "sqlite": ("json_each", "measure.type IN ('integer', 'real')", "measure.value"),
    "postgresql": ("jsonb_each", "jsonb_typeof(measure.value) = 'number'", "CAST(measure.value AS double precision)"),
}


def measures_of(version: EvaluatorVersion) -> tuple[Measure, ...]:
    """What a version measures besides its score; nothing where it cannot be read any more."""
    try:
        work = work_of(version)
    except BadConfig:
        return ()
    return work.kind.measures(work.config)


def measured(runs: Sequence[Run]) -> dict[int, dict[Measure, Moments]]:
    """The moments, over cases, of every measure of each run that has any. One query, none where no run measures."""
    declared = {run.pk: found for run in runs if run.purpose != Purpose.ANSWERS and (found := measures_of(run.version))}
    sums = _sums(list(declared)) if declared else {}
    return {
        pk: {measure: sums.get((pk, measure.name), Moments()) for measure in measures}
        for pk, measures in declared.items()
    }


def _sums(run_ids: Sequence[int]) -> dict[tuple[int, str], Moments]:
    opened, is_number, value = OPENED[connection.vendor]
    places = ", ".join(["%s"] * len(run_ids))
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT run_id, name, SUM(n), COUNT(*), SUM(total), SUM(total * total), SUM(n * total), SUM(n * n),
                       MIN(least), MAX(most), MIN(is_binary)
                FROM (SELECT evaluation.run_id, measure.key AS name, COUNT(*) AS n, SUM({value}) AS total,
                             MIN({value}) AS least, MAX({value}) AS most,
                             MIN(CASE WHEN {value} IN (0, 1) THEN 1 ELSE 0 END) AS is_binary
                      FROM experiments_evaluation AS evaluation
                      JOIN experiments_evaluationbody AS body ON body.evaluation_id = evaluation.id
                      JOIN experiments_output AS output ON output.id = evaluation.output_id
                      CROSS JOIN {opened}(body.measures) AS measure
                      WHERE evaluation.run_id IN ({places}) AND evaluation.state = %s AND {is_number}
                      GROUP BY evaluation.run_id, measure.key, output.case_id) AS by_case
                GROUP BY run_id, name""",  # noqa: S608 - words of ours only
            [*run_ids, int(Status.SCORED)],
        )
        return {(run_id, name): _moments(*sums) for run_id, name, *sums in cursor.fetchall()}


def _moments(n: int, clusters: int, *sums: float) -> Moments:
    total, squares, products, sizes, least, most, is_binary = map(float, sums)
    return Moments(int(n), clusters, total, squares, products, sizes, least, most, bool(is_binary))
