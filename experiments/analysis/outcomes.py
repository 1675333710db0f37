"""What the rows of one run came to: how often each label was given, and what kept rows from a score."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Min, Q

from evaluators.core import Status
from experiments.models import Evaluation, EvaluationBody, Run, RunLabel


@dataclass(frozen=True, slots=True)
class LabelCount:
    """How often a label was given. `share` is of all labels, `score` what the label counts, both in [0, 1]."""

    label: str
    rows: int
    share: float
    score: float
    below: bool  # on the bad side of the threshold

    @property
    def width(self) -> str:
        return f"{self.share * 100:.1f}%"


def label_counts(run: Run) -> list[LabelCount]:
    """The labels of a run, highest score first; empty for a run that gives none. Two queries."""
    texts: dict[int | None, str] = dict(RunLabel.objects.filter(run=run).values_list("label_id", "label"))
    if not texts:
        return []
    scored = Evaluation.objects.filter(run=run, state=Status.SCORED, label_id__isnull=False).order_by()
    rows = scored.values("label_id").annotate(
        n=Count("pk"), score=Min("score"), below=Count("pk", filter=Q(passed=False))
    )
    total = sum(row["n"] for row in rows)
    counts = [
        LabelCount(texts[row["label_id"]], row["n"], row["n"] / total, row["score"], row["below"] > 0) for row in rows
    ]
    return sorted(counts, key=lambda count: (-count.score, count.label))


@dataclass(frozen=True, slots=True)
class Trouble:
    """Rows that got no score for the same reason, with the sentence of one of them."""

    state: Status
    why: str
    rows: int
    example: str

    @property
    def show(self) -> str:
        """The filter of the grid that shows them."""
        return self.state.name.lower()


def troubles(run: Run) -> list[Trouble]:
    """Why rows of a run are unscored or failed, the most frequent reason first. Two queries."""
    rows = Evaluation.objects.filter(run=run, state__in=(Status.UNSCORED, Status.FAILED)).order_by()
    groups = list(rows.values("state", "why").annotate(n=Count("pk"), first=Min("pk")).order_by("-n", "why"))
    bodies = EvaluationBody.objects.filter(pk__in=[group["first"] for group in groups])
    said = dict(bodies.values_list("pk", "reason"))
    return [Trouble(Status(group["state"]), group["why"], group["n"], said.get(group["first"], "")) for group in groups]
