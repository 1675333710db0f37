"""An experiment with all its evaluations as CSV or JSONL, streamed: a few hundred outputs in memory at a time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from evaluators.core import Status
from experiments.models import Evaluation, Experiment, Output, Run, RunLabel

CHUNK = 500  # outputs
# A cell that begins like this would be run as a formula by a spreadsheet.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")

# What a record says of an output, and where it stands.
FIELDS = {
    "id": "pk",
    "key": "case__key",
    "attempt": "attempt",
    "inputs": "case__inputs",
    "expected_outputs": "case__expected_outputs",
    "metadata": "case__metadata",
    "outputs": "body__outputs",
    "steps": "body__steps",
    "error": "error",
    "latency_ms": "latency_ms",
    "cost_usd": "cost_usd",
    "tokens_in": "tokens_in",
    "tokens_out": "tokens_out",
}
STATES = {int(status): status.name.lower() for status in Status}

Record = dict[str, Any]
encode = json.JSONEncoder(ensure_ascii=False).encode


def record_page(outputs: Iterable[Output], runs: Sequence[Run]) -> list[Record]:
    """The records of some outputs of one experiment, in their order. Three queries."""
    ids = [output.pk for output in outputs]
    found = _records(list(Output.objects.filter(pk__in=ids).values_list(*FIELDS.values())), runs, _labels(runs))
    by_id = {record["id"]: record for record in found}
    return [by_id[pk] for pk in ids]


def _chunks(experiment: Experiment, runs: Sequence[Run]) -> Iterator[list[Record]]:
    """Every output in their order, one record each: its case, the answer, and one evaluation a run in `evaluations`."""
    labels, after = _labels(runs), 0
    rows = Output.objects.filter(experiment=experiment).order_by("pk").values_list(*FIELDS.values())
    while chunk := list(rows.filter(pk__gt=after)[:CHUNK]):
        after = chunk[-1][0]
        yield _records(chunk, runs, labels)


def _labels(runs: Sequence[Run]) -> dict[tuple[int, int], str]:
    rows = RunLabel.objects.filter(run__in=runs).values_list("run_id", "label_id", "label")
    return {(run_id, label_id): label for run_id, label_id, label in rows}


def _records(rows: list[tuple], runs: Sequence[Run], labels: dict[tuple[int, int], str]) -> list[Record]:
    evaluations = _evaluations([row[0] for row in rows], runs, labels) if rows else {}
    records = []
    for row in rows:
        record = dict(zip(FIELDS, row, strict=True))
        record["error"] = record["error"] or None
        found = (evaluations.get((row[0], run.pk)) for run in runs)
        record["evaluations"] = [evaluation for evaluation in found if evaluation]
        records.append(record)
    return records


def _evaluations(ids: list[int], runs: Sequence[Run], labels: dict[tuple[int, int], str]) -> dict[tuple, Record]:
    """The evaluations of some outputs, by output and run."""
    fields = (
        "output_id",
        "run_id",
        "state",
        "score",
        "label_id",
        "passed",
        "why",
        "body__reason",
        "latency_ms",
        "cost_usd",
    )
    found = Evaluation.objects.filter(run__in=runs, output_id__gte=min(ids), output_id__lte=max(ids), repeat=0)
    heads = {
        run.pk: {"evaluator": run.version.evaluator.name, "version": run.version.number, "rehearsal": run.is_rehearsal}
        for run in runs
    }
    return {
        (output_id, run_id): {
            **heads[run_id],
            "state": STATES[state],
            "score": score,
            "label": labels.get((run_id, label_id)),
            "passed": passed,
            "why": why or None,
            "reason": reason,
            "latency_ms": latency_ms,
            "cost_usd": cost_usd,
        }
        for output_id, run_id, state, score, label_id, passed, why, reason, latency_ms, cost_usd in found.values_list(
            *fields
        )
    }


def as_jsonl(experiment: Experiment, runs: Sequence[Run]) -> Iterator[str]:
    """One JSON object a line and output, in pieces of many lines."""
    for records in _chunks(experiment, runs):
        yield "".join([f"{encode(record)}\n" for record in records])


PLAIN = ("key", "attempt", "error", "latency_ms", "cost_usd", "tokens_in", "tokens_out")
NESTED = ("inputs", "expected_outputs", "metadata", "outputs")
VERDICT = ("state", "score", "label", "passed", "why", "reason")


verdict_of = itemgetter(*VERDICT)
NO_VERDICT = (None,) * len(VERDICT)


def as_csv(experiment: Experiment, runs: Sequence[Run]) -> Iterator[str]:
    """A header and one line per output; each run has its own columns, marked where its scores are a rehearsal's."""
    titles = [_title(run) for run in runs]
    names = [(run.version.evaluator.name, run.version.number) for run in runs]
    yield _lines([[*PLAIN, *NESTED, *(f"{title} {name}" for title in titles for name in VERDICT)]])
    for records in _chunks(experiment, runs):
        yield _lines(_cells(record, names) for record in records)


def _cells(record: Record, names: list[tuple[str, int]]) -> list[Any]:
    by_name = {(one["evaluator"], one["version"]): verdict_of(one) for one in record["evaluations"]}
    cells = [record[name] for name in PLAIN] + [_text(record[name]) for name in NESTED]
    for name in names:
        cells += by_name.get(name, NO_VERDICT)
    return cells


def _title(run: Run) -> str:
    return f"{run.version.evaluator.name} {run.version}{' (rehearsal)' if run.is_rehearsal else ''}"


def _text(value: Any) -> str | None:
    """A nested value as one cell: the text of a lone `value`, else JSON."""
    if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("value"), str):
        return value["value"]
    return None if value is None else encode(value)


def _lines(rows: Iterable[list[Any]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerows([_harmless(cell) if type(cell) is str else cell for cell in row] for row in rows)
    return buffer.getvalue()


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) else cell
