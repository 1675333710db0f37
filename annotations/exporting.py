"""Grades as files, CSV and JSONL, with a row for each grade; tasks of Label Studio are in `exporting_tasks`."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import Case, F, QuerySet, When

from annotations.models import Grade, GradeState
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


def _emptied(buffer: io.StringIO) -> str:
    text = buffer.getvalue()
    buffer.seek(0)
    buffer.truncate()
    return text
