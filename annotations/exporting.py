"""Grades as files: CSV and JSONL with a row for each grade, the JSON of Label Studio with a task for each output."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django.db.models import QuerySet

from annotations.models import Grade, GradeState, Queue
from annotations.queueing import config_of
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
    "is_current": "is_current",
    "is_decision": "is_decision",
    "is_repeat": "is_repeat",
    "content_hash": "content_hash",
    "created_at": "created_at",
}


def grades_of(queue: Queue) -> QuerySet[Grade]:
    """All grades of a queue, those that were replaced or taken back as well, output by output."""
    return Grade.objects.filter(item__queue=queue).order_by("output", "pk")


def as_jsonl(queue: Queue) -> Iterator[str]:
    for record in _records(queue):
        yield json.dumps(record, ensure_ascii=False) + "\n"


def as_csv(queue: Queue) -> Iterator[str]:
    yield ",".join(COLUMNS) + "\r\n"
    buffer = io.StringIO()
    table = csv.writer(buffer)
    for record in _records(queue):
        table.writerow([harmless(cell) if isinstance(cell, str) else cell for cell in record.values()])
        if buffer.tell() > 60_000:
            yield _emptied(buffer)
    yield _emptied(buffer)


def as_tasks(queue: Queue) -> Iterator[str]:
    """One JSON list; only the grades that count, since Label Studio keeps no history of its own."""
    ranges = {version.pk: config_of(version).scoring for version in queue.versions.select_related("evaluator")}
    rows = grades_of(queue).filter(is_current=True, is_decision=False, is_repeat=False)
    rows = rows.select_related("version__evaluator", "output__case", "output__body", "person", "baseline_output__body")
    before = "["
    for _, grades in groupby(rows.iterator(chunk_size=BATCH), key=lambda grade: grade.output_id):
        yield before + json.dumps(_task(list(grades), ranges), ensure_ascii=False)
        before = ",\n"
    yield "]\n" if before != "[" else "[]\n"


def _records(queue: Queue) -> Iterator[dict[str, Any]]:
    for row in grades_of(queue).values_list(*COLUMNS.values()).iterator(chunk_size=BATCH):
        record = dict(zip(COLUMNS, row, strict=True))
        record["said"] = SAID[GradeState(record["said"])]
        record["created_at"] = record["created_at"].isoformat(timespec="seconds")
        yield record


def _task(grades: list[Grade], ranges: dict[int, Any]) -> dict[str, Any]:
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
        data["baseline_outputs"] = other.body.outputs
    by_person: dict[int, list[Grade]] = {}
    for grade in grades:
        by_person.setdefault(grade.person_id, []).append(grade)
    annotations = [_annotation(said, ranges) for said in by_person.values()]
    return {"id": output.pk, "data": data, "annotations": annotations}


def _annotation(grades: list[Grade], ranges: dict[int, Any]) -> dict[str, Any]:
    first = grades[0]
    result = [_result(grade, ranges.get(grade.version_id)) for grade in grades if grade.state == GradeState.GRADED]
    if first.comment:
        result.append(_region("comment", "textarea", {"text": [first.comment]}))
    return {
        "id": first.pk,
        "completed_by": {"username": first.person.username},
        "was_cancelled": first.state != GradeState.GRADED,
        "lead_time": first.seconds,
        "created_at": first.created_at.isoformat(),
        "result": result,
    }


def _result(grade: Grade, scoring: Any) -> dict[str, Any]:
    name = grade.version.evaluator.name
    if grade.label:
        return _region(name, "choices", {"choices": [grade.label]})
    share = grade.value or 0.0
    number = scoring.low + share * (scoring.high - scoring.low) if isinstance(scoring, PercentageScoring) else share
    return _region(name, "number", {"number": number})


def _region(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "output", "type": kind, "value": value}


def _emptied(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
