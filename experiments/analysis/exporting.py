"""An experiment with all its evaluations as CSV or JSONL, streamed: a thousand outputs in memory at a time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from django.db.models import F, OuterRef, QuerySet, Subquery, TextField, Value

from evaluators.core import FLIPPED, Status
from evaluators.models import EvaluatorVersion
from experiments.analysis.pairing import outputs_of
from experiments.analysis.repeats import Cell, together
from experiments.models import Evaluation, Experiment, Output, OutputBody, Run, RunLabel

CHUNK = 1000  # outputs
# A cell that begins like this would be run as a formula by a spreadsheet.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # the last ones are full width

# What a record says of an output, and where it stands.
OUTPUT = {
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
# The fields that readers of the API may ask for by group; what is in none is always told.
GROUPS = {
    "case": ("inputs", "expected_outputs", "metadata"),
    "outputs": ("outputs", "baseline_outputs"),
    "steps": ("steps",),
    "figures": ("error", "latency_ms", "cost_usd", "tokens_in", "tokens_out"),
    "scores": ("evaluations",),
    "reasons": ("evaluations", "evaluations.reason"),
}
EVERYTHING = frozenset(GROUPS)
UNREAD = Value(None, TextField())
EVALUATION = ("state", "score", "label", "passed", "why", "reason", "latency_ms", "cost_usd")
# What comes last of each where two experiments are compared.
OUTPUT_OF_PAIR, EVALUATION_OF_PAIR = "baseline_outputs", "flipped"
STATES = {int(status): status.name.lower() for status in Status}

Record = dict[str, Any]
Labels = dict[tuple[int, int | None], str]  # by run and label id
encode = json.JSONEncoder(ensure_ascii=False).encode


class Line(NamedTuple):
    """The values of OUTPUT, and for each run those of EVALUATION, once for each time that it judges the output.

    Those of a pair have one value more each.
    """

    output: tuple[Any, ...]
    evaluations: list[list[tuple[Any, ...]]]


def _pieces(experiment: Experiment, runs: Sequence[Run], baseline: Experiment | None) -> Iterator[list[Line]]:
    """Every output in their order, a thousand at a time. Two queries a piece."""
    rows = _rows(outputs_of(experiment, baseline).order_by("pk"), baseline)
    labels, after = _labels(runs), 0
    while piece := list(rows.filter(pk__gt=after)[:CHUNK]):
        after = piece[-1][0]
        yield _lines_of(piece, runs, labels, of_pair=baseline is not None)


def _rows(outputs: QuerySet[Output], baseline: Experiment | None, hidden: Collection[str] = ()) -> QuerySet:
    """The values of OUTPUT, None for the hidden ones; of a pair also what the baseline answered to case and attempt."""
    values = [UNREAD if name in hidden else F(path) for name, path in OUTPUT.items()]
    if baseline is None:
        return outputs.values_list(*values)
    partners = OutputBody.objects.filter(output__experiment=baseline, output__case=OuterRef("case"))
    answer = partners.filter(output__attempt=OuterRef("attempt")).values("outputs")[:1]
    theirs = UNREAD if OUTPUT_OF_PAIR in hidden else Subquery(answer)
    return outputs.values_list(*values, theirs)


def _lines_of(rows: list[tuple], runs: Sequence[Run], labels: Labels, *, of_pair: bool) -> list[Line]:
    ids = [row[0] for row in rows]
    found = Evaluation.objects.filter(run__in=runs, output_id__gte=min(ids), output_id__lte=max(ids)).order_by("repeat")
    values = found.values_list(
        *("output", "run", "state", "score", "label_id", "passed", "why", "body__reason", "latency_ms", "cost_usd"),
        *(["body__measures"] if of_pair else []),
    )
    told: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
    for output, run_id, state, score, label_id, passed, why, reason, ms, cost, *measures in values:
        head = STATES[state], score, labels.get((run_id, label_id)), passed, why or None, reason, ms, cost
        told.setdefault((output, run_id), []).append((*head, *map(_flipped, measures)))
    return [Line(row, [told.get((row[0], run.pk), []) for run in runs]) for row in rows]


def _flipped(measures: dict[str, float] | None) -> bool | None:
    """Whether the other order brought another verdict; None of an evaluator that asks in one order."""
    return bool(measures[FLIPPED.name]) if measures and FLIPPED.name in measures else None


def _labels(runs: Sequence[Run]) -> Labels:
    rows = RunLabel.objects.filter(run__in=runs).values_list("run_id", "label_id", "label")
    return {(run_id, label_id): label for run_id, label_id, label in rows}


# --- Records ----------------------------------------------------------------------------------------------------------
def as_jsonl(experiment: Experiment, runs: Sequence[Run], baseline: Experiment | None = None) -> Iterator[str]:
    """One JSON object a line and output, in pieces of many lines; against a baseline, one a pair."""
    heads, of_pair = _heads(runs), baseline is not None
    for lines in _pieces(experiment, runs, baseline):
        yield "".join([f"{encode(_record(line, heads, of_pair=of_pair))}\n" for line in lines])


def record_page(
    outputs: Iterable[Output],
    runs: Sequence[Run],
    baseline: Experiment | None = None,
    groups: Collection[str] = EVERYTHING,
) -> list[Record]:
    """The records of some outputs of one experiment, or of its pairs with a baseline, in their order. Three queries.

    Only the fields of `groups` are read and told.
    """
    told = {name for group in groups for name in GROUPS[group]}
    hidden = {name for names in GROUPS.values() for name in names} - told
    runs = runs if "evaluations" in told else ()
    ids, heads, of_pair = [output.pk for output in outputs], _heads(runs), baseline is not None
    rows = list(_rows(Output.objects.filter(pk__in=ids), baseline, hidden))
    lines = _lines_of(rows, runs, _labels(runs), of_pair=of_pair) if rows else []
    by_id = {line.output[0]: _record(line, heads, of_pair=of_pair) for line in lines}
    return [_without(by_id[pk], hidden) for pk in ids]


def _without(record: Record, hidden: Collection[str]) -> Record:
    if "evaluations.reason" in hidden:
        for told in record["evaluations"]:
            del told["reason"]
    return {name: value for name, value in record.items() if name not in hidden} if hidden else record


def _heads(runs: Sequence[Run]) -> list[Record]:
    """What an evaluation says of its run."""
    return [
        {"evaluator": run.version.evaluator.name, "version": run.version.number, "rehearsal": run.is_rehearsal}
        for run in runs
    ]


def _record(line: Line, heads: list[Record], *, of_pair: bool) -> Record:
    names = (*OUTPUT, OUTPUT_OF_PAIR) if of_pair else OUTPUT
    said = (*EVALUATION, EVALUATION_OF_PAIR) if of_pair else EVALUATION
    record = dict(zip(names, line.output, strict=True))
    record["error"] = record["error"] or None
    record["evaluations"] = [
        head | dict(zip(said, told, strict=True)) | ({"repeat": number} if len(judged) > 1 else {})
        for head, judged in zip(heads, line.evaluations, strict=True)
        for number, told in enumerate(judged, 1)
    ]
    return record


# --- Tables -----------------------------------------------------------------------------------------------------------
TEXTS, NUMBERS = ("key", "error"), ("attempt", "latency_ms", "cost_usd", "tokens_in", "tokens_out")
NESTED = ("inputs", "expected_outputs", "metadata", "outputs")
VERDICT = EVALUATION[:6]


def _values(names: Sequence[str]) -> itemgetter:
    """Takes the values of these names from those of OUTPUT."""
    return itemgetter(*(list(OUTPUT).index(name) for name in names))


texts_of, numbers_of, nested_of = _values(TEXTS), _values(NUMBERS), _values(NESTED)


def as_csv(experiment: Experiment, runs: Sequence[Run], baseline: Experiment | None = None) -> Iterator[str]:
    """A header and one line per output; each run has its own columns, marked where its scores are a rehearsal's.

    Against a baseline one line per pair, with the baseline's output beside the other's.
    """
    of_pair = [OUTPUT_OF_PAIR] if baseline else []
    verdict = (*VERDICT, EVALUATION_OF_PAIR) if baseline else VERDICT
    titles = [harmless(f"{_title(run)} {name}") for run in runs for name in verdict]
    yield _table([[*TEXTS, *NUMBERS, *NESTED, *of_pair, *titles]])
    versions = [run.version for run in runs]
    for lines in _pieces(experiment, runs, baseline):
        yield _table(_cells(line, versions, len(verdict)) for line in lines)


def _title(run: Run) -> str:
    return f"{run.version.evaluator.name} {run.version}{' (rehearsal)' if run.is_rehearsal else ''}"


def _cells(line: Line, versions: Sequence[EvaluatorVersion], width: int) -> list[Any]:
    """The cells of a line; a verdict has `width` of them, one more than VERDICT for a pair."""
    cells = [harmless(text) for text in texts_of(line.output)]
    cells += numbers_of(line.output)
    cells += [harmless(_text(value)) for value in (*nested_of(line.output), *line.output[len(OUTPUT) :])]
    for version, judged in zip(versions, line.evaluations, strict=True):
        if not judged:
            cells += (None,) * width
        else:
            state, score, label, passed, why, reason, _, _, *flipped = _one_of(judged, version)
            cells += (state, score, harmless(label), passed, why, harmless(reason), *flipped)
    return cells


def _one_of(judged: list[tuple[Any, ...]], version: EvaluatorVersion) -> tuple[Any, ...]:
    """One judgement; of several the mean of their scores, with the words of the first."""
    if len(judged) == 1:
        return judged[0]
    codes = {name: status for status, name in STATES.items()}
    mean = together([Cell(codes[told[0]], told[1], told[2], told[3], told[4] or "") for told in judged], version)
    return (STATES[mean.state], mean.score, mean.label, mean.passed, mean.why or None, *judged[0][5:])


def _text(value: Any) -> str | None:
    """A nested value as one cell: the text of a lone `value`, else JSON."""
    if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("value"), str):
        return value["value"]
    return None if value is None else encode(value)


def harmless(cell: str | None) -> str | None:
    return f"'{cell}" if cell and cell.startswith(FORMULA_STARTS) else cell


def _table(rows: Iterable[list[Any]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue()
