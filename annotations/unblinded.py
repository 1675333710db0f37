"""What a queue that is not blind shows beside an item: whose answers these are, what judges and colleagues said."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from annotations.answers import shown_answer
from annotations.called import called
from annotations.models import Grade, GradeState, Item
from evaluators.core import FLIPPED
from evaluators.models import EvaluatorVersion
from experiments.analysis.grid import label
from experiments.analysis.pairing import names_of
from experiments.analysis.repeats import Cell, together
from experiments.models import Evaluation, Experiment, Purpose

MOST_ROWS = 200  # judgements of one item


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said. `of` is the system whose answer it judged alone, or of two the one that it prefers."""

    version: EvaluatorVersion
    cell: Cell
    reason: str
    is_flip: bool
    of: str = ""
    is_of_pair: bool = False


@dataclass(frozen=True, slots=True)
class Colleague:
    """A grade of somebody else as the form of the item would show it."""

    name: str
    grade: Grade
    answer: str


@dataclass(frozen=True, slots=True)
class Shown:
    """`systems` are the names of the sides, the one that stands first first; `judged_first` what judges saw as A."""

    systems: list[str]
    verdicts: list[Verdict]
    colleagues: list[Colleague]
    judged_first: str = ""


def shown_with(item: Item, person: Any) -> Shown | None:
    """What is to be shown to this person; None of a blind queue. Three queries, whatever there is."""
    if item.queue.is_blind:
        return None
    ids = [output.experiment_id for output in (item.output, item.baseline_output) if output]
    experiments = Experiment.objects.select_related("system").in_bulk(ids)
    experiment = experiments[item.output.experiment_id]
    if item.baseline_output is None:
        return Shown([experiment.system.name], _verdicts(item, {}), _colleagues(item, person))
    baseline = experiments[item.baseline_output.experiment_id]
    names = names_of(experiment, baseline)
    by_output = dict(zip((item.output_id, item.baseline_output_id), names, strict=True))
    sides = list(names) if item.is_flipped else [*reversed(names)]
    return Shown(sides, _verdicts(item, by_output), _colleagues(item, person), names[1])


def _verdicts(item: Item, names: dict[int | None, str]) -> list[Verdict]:
    """Of an output, or of a pair together and of each of its outputs alone. One query."""
    baseline = item.baseline_output.experiment_id if item.baseline_output else None
    asked = Q(output=item.output_id, run__baseline=baseline)
    if names:
        asked |= Q(output__in=names, run__baseline=None)
    rows = Evaluation.objects.filter(asked, run__is_current=True, run__purpose=Purpose.RESULTS, score__isnull=False)
    rows = rows.exclude(run__lane="people").select_related("run__version__evaluator", "body")
    by_subject: dict[tuple[int, int | None], list[Evaluation]] = defaultdict(list)
    order = ("run__version__evaluator__name", "run__version__number", "run", "output", "repeat")
    for row in rows.annotate(label=label()).order_by(*order)[:MOST_ROWS]:
        by_subject[row.run_id, row.output_id].append(row)
    return [_verdict(judged, names) for judged in by_subject.values()]


def _verdict(rows: list[Evaluation], names: dict[int | None, str]) -> Verdict:
    run = rows[0].run
    cell = together([Cell(row.state, row.score, row.label, row.passed, row.why) for row in rows], run.version)  # type: ignore[attr-defined]  # annotated
    bodies = [row.body for row in rows if hasattr(row, "body")]
    is_of_pair = run.baseline_id is not None
    score = cell.score or 0.0
    ahead = next((name for pk, name in names.items() if (pk == rows[0].output_id) == (score > 0.5)), "")
    return Verdict(
        run.version,
        cell,
        "\n".join(body.reason for body in bodies if body.reason),
        any((body.measures or {}).get(FLIPPED.name) for body in bodies),
        ("" if score == 0.5 else ahead) if is_of_pair else names.get(rows[0].output_id, ""),
        is_of_pair,
    )


def _colleagues(item: Item, person: Any) -> list[Colleague]:
    """What the others said of this item so far, of a second asking what they said the first time. One query."""
    said = Grade.objects.filter(item=item.repeats_id or item.pk, is_current=True, is_repeat=False)
    said = said.exclude(person=person).exclude(state=GradeState.SKIPPED)
    return [
        Colleague(
            called(grade.person),
            grade,
            shown_answer(grade.version, grade.label, grade.value, is_flipped=item.is_flipped),
        )
        for grade in said.select_related("person", "version__evaluator").order_by("pk")
    ]
