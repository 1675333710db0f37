"""The rows of a run for answers: one for every case that is asked and every attempt, where other runs have outputs."""

from __future__ import annotations

from django.db import connection
from django.db.models import Max, QuerySet

from evaluators.core import Status
from experiments.models import CaseSpan, DatasetVersion, Run


def asked_of(version: DatasetVersion) -> QuerySet[CaseSpan]:
    """The cases of a version, as they stand in it."""
    return CaseSpan.objects.filter(dataset=version.dataset_id).at(version.number)


def end_of_batch(run_id: int, after: int, batch: int) -> int | None:
    """The id of the last span of the next batch of cases, None when there are no more."""
    version = DatasetVersion.objects.get(experiment__runs=run_id)
    left = asked_of(version).filter(id__gt=after).order_by("id").values_list("id", flat=True)
    return left[batch - 1 : batch].first() or left.aggregate(last=Max("id"))["last"]


def insert_rows(run: Run, after: int, upto: int) -> int:
    """Rows for a stretch of cases, in the order of the data set; how many there were not yet.

    A sample holds ids of spans, since these have places in the data set.
    """
    version = run.experiment.dataset_version
    among = f"AND span.id IN ({', '.join(map(str, map(int, run.sample)))})" if run.sample is not None else ""
    split = (run.selection or {}).get("split")
    of_split = "JOIN experiments_case AS of_case ON of_case.id = span.case_id AND of_case.split = %s" if split else ""
    attempts = ", ".join(f"({number})" for number in range(run.repeats))
    if run.sample == []:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(
            f"""INSERT INTO experiments_evaluation (run_id, case_id, repeat, state, why)
                SELECT %s, span.case_id, times.column1, %s, ''
                FROM experiments_casespan AS span {of_split}
                CROSS JOIN (VALUES {attempts}) AS times
                WHERE span.dataset_id = %s AND span.added_in <= %s AND span.removed_in > %s
                  AND span.id > %s AND span.id <= %s {among}
                ORDER BY span.position, span.id, times.column1
                ON CONFLICT DO NOTHING""",  # noqa: S608 - numbers of ours only
            [
                *(run.pk, int(Status.PENDING)),
                *([split] if split else []),
                *(version.dataset_id, version.number, version.number, after, upto),
            ],
        )
        return cursor.rowcount
