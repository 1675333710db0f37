"""Several judgements of one output: what is shown for them together, their mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.db.models import Avg, Count, Exists, F, OuterRef, Q, QuerySet, Subquery

from evaluators.core import Status
from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.models import EvaluatorVersion
from evaluators.scoring import Passing
from experiments.models import Evaluation, Run


class Cell(NamedTuple):
    """What a run says of one output."""

    state: int
    score: float | None
    label: str | None
    passed: bool | None
    why: str


def passing_of(version: EvaluatorVersion) -> Passing:
    """The threshold of a version; without one nothing passes or fails."""
    try:
        return getattr(work_of(version).config, "passing", Passing())
    except BadConfig:
        return Passing()


def together(judged: Sequence[Cell], version: EvaluatorVersion) -> Cell:
    """The mean of the scores, with the label that all of them give; where none has a score, the first judgement."""
    scored = [cell for cell in judged if cell.score is not None]
    if len(judged) == 1 or not scored:
        return judged[0]
    mean = sum(cell.score or 0.0 for cell in scored) / len(scored)
    labels = {cell.label for cell in scored}
    return Cell(
        Status.SCORED, mean, labels.pop() if len(labels) == 1 else None, passing_of(version).passed(mean), why=""
    )


def rows_by_mean(run: Run) -> QuerySet[Evaluation]:
    """One row for each output that a run judges, the first of its judgements, with the `mean` of all its scores."""
    scored = Evaluation.objects.filter(run=run, output=OuterRef("output"), state=Status.SCORED).order_by()
    mean = scored.values("output").annotate(mean=Avg("score")).values("mean")
    return Evaluation.objects.filter(run=run, repeat=run.first_repeat).annotate(mean=Subquery(mean))


def any_of(run: Run, condition: Q) -> Exists:
    """Whether any judgement of an output meets a condition; for rows of `rows_by_mean`."""
    return Exists(Evaluation.objects.filter(condition, run=run, output=OuterRef("output")))


def count_outputs(run: Run, conditions: dict[str, Q]) -> dict[str, int]:
    """How many outputs have a judgement that meets each of some conditions. One query."""
    rows = Evaluation.objects.filter(run=run).annotate(counted=F("output"))
    return rows.aggregate(
        **{name: Count("counted", distinct=True, filter=condition) for name, condition in conditions.items()}
    )
