"""An experiment with all its evaluations as CSV or JSONL, streamed: a few hundred outputs in memory at a time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from evaluators.core import Status
from experiments.models import Evaluation, Experiment, Output, Run, RunLabel

CHUNK = 500
# A cell that begins like this would be run as a formula by a spreadsheet.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def records(experiment: Experiment, runs: list[Run]) -> Iterator[dict[str, Any]]:
    """One record per output in their order: its case, the answer, and one evaluation per run under `evaluations`."""
    labels = _labels(runs)
    after = 0
    rows = Output.objects.filter(experiment=experiment).select_related("case", "body").order_by("pk")
    while outputs := list(rows.filter(pk__gt=after)[:CHUNK]):
        after = outputs[-1].pk
        evaluations = _evaluations(outputs, runs, labels)
        for output in outputs:
            yield _record(output, runs, evaluations)


def record_page(outputs: list[Output], runs: list[Run]) -> list[dict[str, Any]]:
    """The records of some outputs, which come with their case and body."""
    evaluations = _evaluations(outputs, runs, _labels(runs)) if outputs else {}
    return [_record(output, runs, evaluations) for output in outputs]


def _labels(runs: list[Run]) -> dict[tuple[int, int], str]:
    rows = RunLabel.objects.filter(run__in=runs).values_list("run_id", "label_id", "label")
    return {(run_id, label_id): label for run_id, label_id, label in rows}


def _evaluations(outputs: list[Output], runs: list[Run], labels: dict[tuple[int, int], str]) -> dict[tuple, dict]:
    fields = (
        "output_id",
        "run_id",
        "state",
        "score",
        "label_id",
        "passed",
        "why",
        "latency_ms",
        "cost_usd",
        "body__reason",
    )
    found = Evaluation.objects.filter(
        run__in=runs, output_id__gte=outputs[0].pk, output_id__lte=outputs[-1].pk, repeat=0
    ).values_list(*fields)
    return {
        (output_id, run_id): {
            "state": Status(state).name.lower(),
            "score": score,
            "label": labels.get((run_id, label_id)),
            "passed": passed,
            "why": why or None,
            "reason": reason,
            "latency_ms": latency_ms,
            "cost_usd": cost_usd,
        }
        for output_id, run_id, state, score, label_id, passed, why, latency_ms, cost_usd, reason in found
    }


def _record(output: Output, runs: list[Run], evaluations: dict[tuple, dict]) -> dict[str, Any]:
    case, body = output.case, output.body
    return {
        "id": output.pk,
        "key": case.key,
        "attempt": output.attempt,
        "inputs": case.inputs,
        "expected_outputs": case.expected_outputs,
        "metadata": case.metadata,
        "outputs": body.outputs,
        "steps": body.steps,
        "error": output.error or None,
        "latency_ms": output.latency_ms,
        "cost_usd": output.cost_usd,
        "tokens_in": output.tokens_in,
        "tokens_out": output.tokens_out,
        "evaluations": [
            {"evaluator": run.version.evaluator.name, "version": run.version.number, "rehearsal": run.is_rehearsal}
            | evaluations[output.pk, run.pk]
            for run in runs
            if (output.pk, run.pk) in evaluations
        ],
    }


def as_jsonl(experiment: Experiment, runs: list[Run]) -> Iterator[str]:
    for record in records(experiment, runs):
        yield json.dumps(record, ensure_ascii=False) + "\n"


PLAIN = ("key", "attempt", "error", "latency_ms", "cost_usd", "tokens_in", "tokens_out")
NESTED = ("inputs", "expected_outputs", "metadata", "outputs")
VERDICT = ("state", "score", "label", "passed", "why", "reason")


def as_csv(experiment: Experiment, runs: list[Run]) -> Iterator[str]:
    """A header and one line per output; each run has its own columns, marked where its scores are a rehearsal's."""
    titles = [_title(run) for run in runs]
    yield _line([*PLAIN, *NESTED, *(f"{title} {name}" for title in titles for name in VERDICT)])
    for record in records(experiment, runs):
        by_run = {(one["evaluator"], one["version"]): one for one in record["evaluations"]}
        cells: list[Any] = [record[name] for name in PLAIN] + [_text(record[name]) for name in NESTED]
        for run in runs:
            one = by_run.get((run.version.evaluator.name, run.version.number), {})
            cells += [one.get(name) for name in VERDICT]
        yield _line(cells)


def _title(run: Run) -> str:
    return f"{run.version.evaluator.name} {run.version}{' (rehearsal)' if run.is_rehearsal else ''}"


def _text(value: Any) -> str | None:
    """A nested value as one cell: the text of a lone `value`, else JSON."""
    if isinstance(value, dict) and list(value) == ["value"] and isinstance(value["value"], str):
        return value["value"]
    return None if value is None else json.dumps(value, ensure_ascii=False)


def _line(cells: list[Any]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerow([_harmless(cell) for cell in cells])
    return buffer.getvalue()


def _harmless(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell
