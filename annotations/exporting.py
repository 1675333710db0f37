"""Grades as files: CSV and JSONL with a row for each grade, the JSON of Label Studio with a task for each output."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from django.db.models import Case, F, QuerySet, When

from annotations.models import Grade, GradeState
from annotations.queueing import config_of
from evaluators.models import EvaluatorVersion
from evaluators.scoring import PercentageScoring
from experiments.analysis.exporting import harmless

BATCH = 1_000
SAID = {GradeState.GRADED: "graded", GradeState.CANNOT_JUDGE: "cannot judge", GradeState.SKIPPED: "skipped"}
COLUMNS = {
    "case": "output__case__key",
    "attempt": "output__attempt",
    "experiment": "output__experiment",
    "system": "output__experiment__system__name",
    "baseline": "baseline_output__experiment",
    "evaluator": "version__evaluator__name",
    "version": "version__number",
    "person": "person__username",
    "said": "state",
    "label": "label",
    "score": "value",
    "comment": "comment",
    "seconds": "seconds",
    "instructions_version": "instructions_version",
    "is_stale": "stale",
    "is_current": "is_current",
    "is_decision": "is_decision",
    "is_repeat": "is_repeat",
    "content_hash": "content_hash",
    "created_at": "created_at",
}


OLDER = "given under older instructions"
STALE = Case(When(instructions_version__lt=F("item__queue__instructions_version"), then=True), default=False)
Names = Mapping[str, str]  # what people are called instead, where a reader must not know who they are


def as_jsonl(grades: QuerySet[Grade], names: Names) -> Iterator[str]:
    for record in _records(grades, names):
        yield json.dumps(record, ensure_ascii=False) + "\n"


def as_csv(grades: QuerySet[Grade], names: Names) -> Iterator[str]:
    yield ",".join(COLUMNS) + "\r\n"
    buffer = io.StringIO()
    table = csv.writer(buffer)
    for record in _records(grades, names):
        table.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in record.values()])
        if buffer.tell() > 60_000:
            yield _emptied(buffer)
    yield _emptied(buffer)


def as_tasks(grades: QuerySet[Grade], names: Names) -> Iterator[str]:
    """One JSON list; only the grades that count, since Label Studio keeps no history of its own."""
    versions = EvaluatorVersion.objects.filter(pk__in=grades.order_by().values("version")).select_related("evaluator")
    ranges = {version.pk: config_of(version).scoring for version in versions}
    rows = in_order(grades.filter(is_current=True, is_decision=False, is_repeat=False))
    rows = rows.select_related(
        "version__evaluator", "output__case", "output__body", "person", "baseline_output__body", "item__queue"
    )
    before = "["
    subjects = groupby(rows.iterator(chunk_size=BATCH), key=lambda grade: (grade.output_id, grade.baseline_output_id))
    for _, said in subjects:
        yield before + json.dumps(_task(list(said), ranges, names), ensure_ascii=False)
        before = ",\n"
    yield "]\n" if before != "[" else "[]\n"


def in_order(grades: QuerySet[Grade]) -> QuerySet[Grade]:
    """Output by output, and of each what was said first first."""
    return grades.order_by("output", "baseline_output", "pk")


def _records(grades: QuerySet[Grade], names: Names) -> Iterator[dict[str, Any]]:
    for row in in_order(grades.annotate(stale=STALE)).values_list(*COLUMNS.values()).iterator(chunk_size=BATCH):
        record = dict(zip(COLUMNS, row, strict=True))
        record["person"] = names.get(record["person"], record["person"])
        record["said"] = SAID[GradeState(record["said"])]
        record["created_at"] = record["created_at"].isoformat(timespec="seconds")
        yield record


def _task(grades: list[Grade], ranges: dict[int, Any], names: Names) -> dict[str, Any]:
    """An output with what every person said of it, as one annotation each."""
    output, other = grades[0].output, grades[0].baseline_output
    data = {
        "case": output.case.key,
        "attempt": output.attempt,
        "experiment": output.experiment_id,
        "inputs": output.case.inputs,
        "outputs": output.body.outputs,
    }
    if other:
        data |= {"baseline": other.experiment_id, "baseline_outputs": other.body.outputs}
    by_person: dict[int, list[Grade]] = {}
    for grade in grades:
        by_person.setdefault(grade.person_id, []).append(grade)
    annotations = [_annotation(said, ranges, names) for said in by_person.values()]
    return {"id": output.pk, "data": data, "annotations": annotations}


def _annotation(grades: list[Grade], ranges: dict[int, Any], names: Names) -> dict[str, Any]:
    first = grades[0]
    result = [_result(grade, ranges.get(grade.version_id)) for grade in grades if grade.state == GradeState.GRADED]
    if first.comment:
        result.append(_region("comment", "textarea", {"text": [first.comment]}))
    return {
        "id": first.pk,
        "completed_by": {"username": names.get(first.person.username, first.person.username)},
        "was_cancelled": first.state != GradeState.GRADED,
        "lead_time": first.seconds,
        "created_at": first.created_at.isoformat(),
        "result": result,
    }


def _result(grade: Grade, scoring: Any) -> dict[str, Any]:
    region = _said(grade.version.evaluator.name, grade.label, grade.value or 0.0, scoring)
    return region | {"meta": {"text": [OLDER]}} if grade.is_stale else region


def _said(name: str, label: str, score: float, scoring: Any) -> dict[str, Any]:
    if label:
        return _region(name, "choices", {"choices": [label]})
    number = scoring.low + score * (scoring.high - scoring.low) if isinstance(scoring, PercentageScoring) else score
    return _region(name, "number", {"number": number})


def _region(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "output", "type": kind, "value": value}


def _emptied(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
