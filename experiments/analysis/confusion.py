"""The confusion table of a run: how often each label came for each expected one, with the figures that follow."""

from __future__ import annotations

from dataclasses import replace

from django.db.models import Count

from evaluators.labels import key_of
from evaluators.stats.confusion import Classes, Confusion, Counts, confusion
from experiments.analysis.label_scores import told_apart
from experiments.models import Evaluation, Run, RunLabel


def confusion_of(run: Run, key: str = "") -> Confusion | None:
    """The table of what is scored so far, of labels with this key; None where there is none.

    One grouped query and the labels.
    """
    counts = of_key(counts_of(run), key)
    return tabulated(run, counts, key) if counts else None


def counts_of(run: Run) -> Counts:
    """How often each label was given for each expected one, as the evaluator read them. Two queries."""
    rows = Evaluation.objects.filter(run=run, expected_id__isnull=False, label_id__isnull=False).order_by()
    pairs = list(rows.values_list("expected_id", "label_id").annotate(n=Count("pk")))
    if not pairs:
        return {}
    texts: dict[int | None, str] = dict(RunLabel.objects.filter(run=run).values_list("label_id", "label"))
    return {(texts[expected], texts[given]): n for expected, given, n in pairs}


def keys_of(counts: Counts) -> list[str]:
    """The keys of the expected labels, in order; an empty one stands for labels that have none."""
    return sorted({key_of(expected) for expected, _ in counts})


def of_key(counts: Counts, key: str) -> Counts:
    return {pair: n for pair, n in counts.items() if key_of(pair[0]) == key}


def tabulated(run: Run, counts: Counts, key: str = "") -> Confusion:
    """The table of these counts, with the classes of the run's version that have this key."""
    classes = told_apart(run.version) or Classes(())
    labels = tuple(label for label in classes.labels if key_of(label) == key)
    return confusion(counts, replace(classes, labels=labels))
