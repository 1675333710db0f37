"""What a leaderboard tells beside scores: what answers cost and how long they took, and by which slices cases fall.

Both look at many rows, so they answer questions of `working_out`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import fsum
from typing import Any

from django.db import connection
from django.db.models import Avg, Count, Max, Q

from experiments.analysis.working_out import Question
from experiments.models import DatasetVersion, Experiment, Output

MOST_VALUES = 12  # of a field, above which it is no way to slice
MOST_FIELDS = 12
LONGEST = 60  # characters of a value that names a slice

# How each database opens a JSON object: the function, what keeps texts, numbers and truths, and a value as text.
OPENED = {
    "sqlite": ("json_each", "field.type IN ('text', 'integer', 'real')", "CAST(field.value AS TEXT)"),
    "postgresql": ("jsonb_each", "jsonb_typeof(field.value) IN ('string', 'number')", "field.value #>> '{}'"),
}


def spending_of(experiments: Iterable[Experiment]) -> dict[int, Question]:
    """What to ask about the outputs of each experiment, by its id. One query where any is still open, else none."""
    experiments = list(experiments)
    still = [each.pk for each in experiments if each.is_open]
    counted = Output.objects.filter(experiment__in=still).order_by().values("experiment").annotate(last=Max("pk"))
    last = dict(counted.values_list("experiment", "last")) if still else {}
    return {
        each.pk: Question(
            "experiments.analysis.leaderboard_facts.spending",
            (each.pk,),
            f"{each.created_at.timestamp()}:{last.get(each.pk, '')}",
            each.dataset_version.n_cases,
        )
        for each in experiments
    }


def spending(experiment_id: int) -> dict[str, Any]:
    """Of an experiment's outputs: how many, for how many cases, mean cost (US dollars) and median latency (ms)."""
    outputs = Output.objects.filter(experiment=experiment_id)
    facts = outputs.aggregate(
        outputs=Count("pk"),
        cases=Count("case", distinct=True),
        errors=Count("pk", filter=~Q(error="")),
        cost_usd=Avg("cost_usd"),
        timed=Count("latency_ms"),
    )
    n = facts.pop("timed")
    timed = outputs.exclude(latency_ms=None).order_by("latency_ms").values_list("latency_ms", flat=True)
    middle = [each or 0.0 for each in timed[(n - 1) // 2 : n // 2 + 1]] if n else []
    return facts | {"latency_ms": fsum(middle) / len(middle) if middle else None}


def slices_question(version: DatasetVersion) -> Question:
    return Question("experiments.analysis.leaderboard_facts.slices", (version.pk,), "", version.n_cases)


def slices(version_id: int) -> dict[str, Any]:
    """How many cases of a version have which split, and which value of each field of their metadata that has a few."""
    version = DatasetVersion.objects.get(pk=version_id)
    opened, is_plain, text = OPENED[connection.vendor]
    members = """FROM experiments_casespan AS span JOIN experiments_case AS member ON member.id = span.case_id
                 WHERE span.dataset_id = %s AND span.added_in <= %s AND span.removed_in > %s"""
    at = [version.dataset_id, version.number, version.number]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT member.split, COUNT(*) {members} GROUP BY member.split", at)
        splits = {split: n for split, n in cursor.fetchall() if split}
        cursor.execute(
            f"""SELECT field.key, {text} AS said, COUNT(*)
                FROM (SELECT member.metadata AS metadata {members} AND member.metadata IS NOT NULL) AS one
                CROSS JOIN {opened}(one.metadata) AS field
                WHERE {is_plain} GROUP BY field.key, said ORDER BY field.key, COUNT(*) DESC, said""",  # noqa: S608
            at,
        )
        found: dict[str, list[list[Any]]] = {}
        for field, value, n in cursor.fetchall():
            found.setdefault(field, []).append([value, n])
    return {"splits": dict(sorted(splits.items())), "fields": _few(found)}


def _few(found: Mapping[str, list[list[Any]]]) -> dict[str, list[list[Any]]]:
    few = {
        field: values
        for field, values in sorted(found.items())
        if 1 < len(values) <= MOST_VALUES and all(0 < len(value) <= LONGEST for value, _ in values)
    }
    return dict(list(few.items())[:MOST_FIELDS])
