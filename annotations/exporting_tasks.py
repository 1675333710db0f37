"""Grades as the JSON of Label Studio: a task for each output or pair, with annotations of people and judges' verdicts.

A choice between two sides is a region of its `pairwise` tag, the baseline left; what that cannot say, a tie or one of
two options that count the same, is one of `choices`. What a judge says is a prediction, under the name of the human
evaluator whose people correct it, since it answers the same question.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from annotations.exporting import Names, in_order
from annotations.models import Grade, GradeState
from annotations.queueing import config_of
from annotations.settling import Pair
from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.models import EvaluatorVersion
from evaluators.scoring import EnumScoring, PercentageScoring
from experiments.analysis.grid import label
from experiments.models import Evaluation, Purpose

BATCH = 1_000  # grades
TASKS = 200  # whose predictions are read together
OLDER = "given under older instructions"


class _Asked(NamedTuple):
    """What a region is about: its name, the scale, whether of two sides."""

    name: str
    scoring: Any
    compares: bool


def as_tasks(grades: QuerySet[Grade], names: Names) -> Iterator[str]:
    """One JSON list; only the grades that count, since Label Studio keeps no history of its own, and no skips."""
    versions = EvaluatorVersion.objects.filter(pk__in=grades.order_by().values("version")).select_related("evaluator")
    asked = {
        each.pk: _Asked(each.evaluator.name, config_of(each).scoring, each.evaluator.compares) for each in versions
    }
    rows = in_order(grades.filter(is_current=True, is_decision=False, is_repeat=False))
    rows = rows.exclude(state=GradeState.SKIPPED)
    rows = rows.select_related("output__case", "output__body", "person", "baseline_output__body", "item__queue")
    subjects = groupby(rows.iterator(chunk_size=BATCH), key=lambda grade: (grade.output_id, grade.baseline_output_id))
    tasks = ((subject, list(said)) for subject, said in subjects)
    before = "["
    while batch := list(islice(tasks, TASKS)):
        predictions = _predictions([subject for subject, _ in batch])
        for subject, said in batch:
            yield before + json.dumps(_task(said, asked, names, predictions.get(subject, [])), ensure_ascii=False)
            before = ",\n"
    yield "]\n" if before != "[" else "[]\n"


def _task(
    grades: list[Grade], asked: dict[int, _Asked], names: Names, predictions: list[dict[str, Any]]
) -> dict[str, Any]:
    """An output with what every person said of it, as one annotation each, and what judges said."""
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
    annotations = [_annotation(said, asked, names) for said in by_person.values()]
    return {"id": output.pk, "data": data, "annotations": annotations, "predictions": predictions}


def _annotation(grades: list[Grade], asked: dict[int, _Asked], names: Names) -> dict[str, Any]:
    first = grades[0]
    result = [_graded(grade, asked[grade.version_id]) for grade in grades if grade.state == GradeState.GRADED]
    if first.comment:
        result.append(_region("comment", "output", "textarea", {"text": [first.comment]}))
    return {
        "id": first.pk,
        "completed_by": {"username": names.get(first.person.username, first.person.username)},
        "was_cancelled": first.state != GradeState.GRADED,
        "lead_time": first.seconds,
        "created_at": first.created_at.isoformat(),
        "result": result,
    }


def _graded(grade: Grade, asked: _Asked) -> dict[str, Any]:
    region = _said(asked, grade.label, grade.value or 0.0)
    return region | {"meta": {"text": [OLDER]}} if grade.is_stale else region


def _said(asked: _Asked, text: str, score: float) -> dict[str, Any]:
    if asked.compares and _is_one_side(asked.scoring, text, score):
        side = "right" if score == 1 else "left"
        return _region(asked.name, "baseline_outputs,outputs", "pairwise", {"selected": side})
    if text:
        return _region(asked.name, "output", "choices", {"choices": [text]})
    scale = asked.scoring
    number = scale.low + score * (scale.high - scale.low) if isinstance(scale, PercentageScoring) else score
    return _region(asked.name, "output", "number", {"number": number})


def _is_one_side(scoring: Any, text: str, score: float) -> bool:
    """Whether it is all for one of the two, and no other answer would be."""
    if score not in (0.0, 1.0) or not isinstance(scoring, EnumScoring):
        return False
    return [option.label for option in scoring.options if option.value == score] == [text]


def _region(name: str, about: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": about, "type": kind, "value": value}


# --- Predictions ------------------------------------------------------------------------------------------------------
def _predictions(subjects: Sequence[Pair]) -> dict[Pair, list[dict[str, Any]]]:
    """What current runs of judges say of each of these, repeats one by one. Three queries."""
    rows = Evaluation.objects.filter(
        Q(baseline_output=None, run__baseline=None) | Q(baseline_output__in={other for _, other in subjects if other}),
        output__in={output for output, _ in subjects},
        run__is_current=True,
        run__purpose=Purpose.RESULTS,
        score__isnull=False,
    )
    rows = rows.exclude(run__lane="people").select_related("run", "body").annotate(label=label())
    found = list(rows.order_by("run__version__evaluator", "run__version", "output", "repeat"))
    ids = {row.run.version_id for row in found}
    versions = EvaluatorVersion.objects.select_related("evaluator__reference").in_bulk(ids)
    asked = {pk: _asked_of(version) for pk, version in versions.items()}
    told: dict[Pair, list[dict[str, Any]]] = {}
    for row in found:
        version = versions[row.run.version_id]
        subject = row.output_id or 0, row.baseline_output_id
        told.setdefault(subject, []).append(_prediction(row, version, asked[version.pk]))
    return told


def _asked_of(judge: EvaluatorVersion) -> _Asked:
    try:
        scoring = getattr(work_of(judge).config, "scoring", None)
    except BadConfig:
        scoring = None
    named = judge.evaluator.reference or judge.evaluator
    return _Asked(named.name, scoring, judge.evaluator.compares)


def _prediction(row: Evaluation, version: EvaluatorVersion, asked: _Asked) -> dict[str, Any]:
    result = [_said(asked, row.label or "", row.score or 0.0)]  # type: ignore[attr-defined]  # annotated
    if hasattr(row, "body") and row.body.reason:
        result.append(_region("reason", "output", "textarea", {"text": [row.body.reason]}))
    return {"model_version": f"{version.evaluator.name} {version}", "score": row.score, "result": result}
