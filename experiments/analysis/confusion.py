"""The confusion table of a run: how often each label came for each expected one, with the figures that follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.db.models import Count

from evaluators.labels import key_of
from evaluators.stats.confusion import Classes, Confusion, Counts, confusion, design_effect
from experiments.analysis.comparing.arrays import moments
from experiments.analysis.label_scores import texts_of, told_apart
from experiments.analysis.vectors import columns_of, is_kept
from experiments.models import Evaluation, Run

if TYPE_CHECKING:
    from numpy.typing import NDArray


def confusion_of(run: Run, key: str = "") -> Confusion | None:
    """The table of what is scored so far, of labels with this key; None where there is none.

    Three queries.
    """
    counts = of_key(counts_of(run, texts_of(run), is_kept(run)), key)
    return tabulated(run, counts, key) if counts else None


def counts_of(run: Run, texts: Mapping[int, str], kept: bool) -> Counts:
    """How often each label was given for each expected one, as the evaluator read them. One query."""
    pairs = _packed(run) if kept else _grouped(run)
    return {(texts[expected], texts[given]): n for expected, given, n in pairs}


def _grouped(run: Run) -> list[tuple[int, int, int]]:
    rows = Evaluation.objects.filter(run=run, expected_id__isnull=False, label_id__isnull=False).order_by()
    return list(rows.values_list("expected_id", "label_id").annotate(n=Count("pk")))


def _packed(run: Run) -> list[tuple[int, int, int]]:
    """The same from the columns that are kept of the run."""
    import numpy as np

    columns = columns_of([run], ("expected", "labels"))[run.pk]
    expected, given = (columns[name].astype("i8") for name in ("expected", "labels"))
    there = (expected >= 0) & (given >= 0)
    size = int(max(expected.max(initial=0), given.max(initial=0))) + 1
    cells = np.bincount(expected[there] * size + given[there])
    return [(*divmod(int(place), size), int(cells[place])) for place in np.flatnonzero(cells)]


def design_of(run: Run, there: NDArray[Any] | None = None) -> float:
    """How many labelled rows are worth one, where a case has several: all of the run, or those of a mask."""
    columns = columns_of([run], ("cases", "expected", "labels"))[run.pk]
    named = (columns["expected"] >= 0) & (columns["labels"] >= 0)
    there = named if there is None else named & there
    right = (columns["expected"] == columns["labels"])[there]
    return design_effect(moments(right.astype(float), columns["cases"][there]))


def keys_of(counts: Counts) -> list[str]:
    """The keys of the expected labels, in order; an empty one stands for labels that have none."""
    return sorted({key_of(expected) for expected, _ in counts})


def of_key(counts: Counts, key: str) -> Counts:
    return {pair: n for pair, n in counts.items() if key_of(pair[0]) == key}


def tabulated(run: Run, counts: Counts, key: str = "", design: float = 1.0) -> Confusion:
    """The table of these counts, with the classes of the run's version that have this key."""
    classes = told_apart(run.version) or Classes(())
    labels = tuple(label for label in classes.labels if key_of(label) == key)
    return confusion(counts, replace(classes, labels=labels), design)
