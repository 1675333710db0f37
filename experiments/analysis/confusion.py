"""The confusion table of a run: how often each label came for each expected one, with the figures that follow."""

from __future__ import annotations

from django.db.models import Count

from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.models import EvaluatorVersion
from evaluators.stats.confusion import Classes, Confusion, confusion
from experiments.models import Evaluation, Run, RunLabel


def confusion_of(run: Run) -> Confusion | None:
    """The table of what is scored so far; None for a run without expected labels. One grouped query and the labels."""
    rows = Evaluation.objects.filter(run=run, expected_id__isnull=False, label_id__isnull=False).order_by()
    pairs = list(rows.values_list("expected_id", "label_id").annotate(n=Count("pk")))
    if not pairs:
        return None
    texts: dict[int | None, str] = dict(RunLabel.objects.filter(run=run).values_list("label_id", "label"))
    counts = {(texts[expected], texts[given]): n for expected, given, n in pairs}
    return confusion(counts, told_apart(run.version) or Classes(()))


def told_apart(version: EvaluatorVersion) -> Classes | None:
    """The classes that a version declares; None for one that classifies nothing or cannot be read any more."""
    try:
        return getattr(work_of(version).config, "classes", None)
    except BadConfig:
        return None
