"""Where a classifier errs: what is asked of a run's labels, and the table, curves and counts that answer it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evaluators.stats.confusion import Confusion, design_effect
from evaluators.stats.estimate import Estimate
from experiments.analysis.columns import Column, columns
from experiments.analysis.comparing.arrays import moments
from experiments.analysis.confusion import counts_of, design_of, keys_of, of_key, tabulated
from experiments.analysis.curves import (
    BELOW,
    Labels,
    Rows,
    counts_at,
    estimate_in,
    is_too_much,
    kept_answers,
)
from experiments.analysis.label_scores import texts_of
from experiments.analysis.vectors import is_kept
from experiments.analysis.working_out import AT_ONCE
from experiments.models import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAXIMUM = "max"
BUCKETS = ("tp", "fp", "mistaken", "missed", "tn")
MIDDLE = 0.5


@dataclass(frozen=True, slots=True)
class Asked:
    """What an address asks for. Labels are called as they were read, by the highest score, or from a threshold on."""

    at: str = ""  # "", MAXIMUM or a number
    of: str = ""  # the label that is told apart from the rest
    key: str = ""

    @classmethod
    def of_query(cls, query: Mapping[str, str]) -> Asked:
        """Read an address; a threshold that is none counts as not given."""
        at = query.get("at", "")
        return cls(at if at == MAXIMUM or _number(at) is not None else "", query.get("of", ""), query.get("key", ""))

    @property
    def threshold(self) -> float | None:
        return _number(self.at)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


@dataclass(frozen=True, slots=True)
class Bucket:
    """The outputs of one label that are right or wrong in one way at a threshold."""

    name: str
    rows: NDArray[Any]  # their places among the rows

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Classified:
    """What the labels of a run come to. Without `rows` there are no scores, or not yet: `waits` says why.

    `found` is None where no score names an expected label.
    """

    run: Run
    column: Column
    asked: Asked
    keys: list[str]
    key: str
    found: Confusion | None
    labels: Labels | None
    rows: Rows | None
    areas: dict[str, Any] | None
    curves: dict[str, Any] | None  # of the label that is told apart from the rest
    waits: str

    @property
    def threshold(self) -> float | None:
        """The threshold by which labels are called, where one is."""
        return self.asked.threshold if self.rows is not None else None

    @property
    def accuracy(self) -> Estimate | None:
        """As the run has it, so that the two never differ; at a threshold as the table has it."""
        if self.found is None:
            return None
        classes = self.labels.classes if self.labels else None
        if self.asked.at or self.key or len(self.keys) > 1 or (classes and classes.figure):
            return replace(self.found.accuracy, asked=self.column.summary.asked)
        return self.column.figure

    @property
    def means(self) -> list[tuple[str, Estimate]]:
        """The mean areas over the labels."""
        names = {"roc_auc": "ROC AUC", "average_precision": "Average precision"}
        return [(names[name], estimate_in(each["mean"])) for name, each in (self.areas or {}).items()]

    def area(self, name: str, label: str) -> Estimate | None:
        kept = (self.areas or {}).get(name, {}).get("labels", {}).get(label)
        return estimate_in(kept) if kept else None

    @property
    def label(self) -> int | None:
        """The id of the label that is told apart from the rest: the one asked for, the positive one, or the first."""
        if self.labels is None:
            return None
        return _chosen(self.labels, self.asked)


def _chosen(labels: Labels, asked: Asked) -> int:
    return labels.id_of(asked.of) or labels.positive or next(iter(labels.by_id))


def classified(run: Run, asked: Asked, curves: bool = True) -> Classified:
    """What the labels of a run come to, as an address asks for it; with or without curves and areas."""
    column, texts, kept = columns([run])[0], texts_of(run), is_kept(run)
    counts = counts_of(run, texts, kept)
    keys = keys_of(counts)
    key = asked.key if asked.key in keys else (keys or [""])[0]
    labels = Labels.of(run, key, texts) if counts else None
    scored = _Scored.of(labels, asked, column.summary.asked, kept, curves) if labels and labels.by_id else _Scored()
    if labels and scored.rows is not None and asked.at:
        counts = counts_at(labels, scored.rows, asked.threshold)
    else:
        counts = of_key(counts, key)
    has_several = column.figure.clusters != column.figure.n  # outputs or judgements of a case
    design = _design(run, labels, scored.rows, asked) if has_several and counts else 1.0
    found = tabulated(run, counts, key, design) if counts else None
    labels = labels if labels and labels.by_id else None
    return Classified(
        run, column, asked, keys, key, found, labels, scored.rows, scored.areas, scored.curves, scored.waits
    )


def _design(run: Run, labels: Labels | None, rows: Rows | None, asked: Asked) -> float:
    """How many rows are worth one, where a case has several."""
    if labels and rows is not None and asked.at:
        right = rows.expected == rows.called(labels, asked.threshold)
        return design_effect(moments(right.astype(float), rows.cases))
    return design_of(run)


@dataclass(frozen=True, slots=True)
class _Scored:
    """The rows with the scores of the label that is asked for, areas and curves; or why these wait."""

    rows: Rows | None = None
    areas: dict[str, Any] | None = None
    curves: dict[str, Any] | None = None
    waits: str = ""

    @classmethod
    def of(cls, labels: Labels, asked: Asked, size: int, kept: bool, curves: bool) -> _Scored:
        if is_too_much(labels.run, size):
            return cls(waits="Scores of so many rows are looked at when the run is over.")
        label = _chosen(labels, asked)
        areas, of_one = kept_answers(labels, label, size, kept) if curves else (None, None)
        if not kept and size > AT_ONCE:
            return cls(waits="The scores of all rows are being put in order.")
        rows = Rows.of(labels, tuple({label, labels.positive or label}))
        if not len(rows.outputs):
            return cls(waits="" if kept else "No output has scores of its labels so far.")
        return cls(rows, areas, of_one, "Areas are being worked out." if curves and areas is None else "")


def middle_of(span: list[float]) -> float:
    """The threshold that is shown before one is chosen."""
    return MIDDLE if span == [0.0, 1.0] else sum(span) / 2


def buckets(rows: Rows, label: int, threshold: float) -> dict[str, Bucket]:
    """Which rows are right or wrong in which way, where the label is a yes-or-no question of its own."""
    import numpy as np

    is_right, is_called = rows.expected == label, rows.scores[label] >= threshold
    reaches = rows.score >= threshold
    masks = {
        "tp": is_right & is_called,
        "fp": ~is_right & is_called,
        "mistaken": is_right & ~is_called & reaches,
        "missed": is_right & ~is_called & ~reaches,
        "tn": ~is_right & ~is_called,
    }
    return {name: Bucket(name, np.flatnonzero(mask)) for name, mask in masks.items()}


def cell(page: Classified, expected: str, called: str) -> NDArray[Any]:
    """The rows of one cell of the table at a threshold; an empty `called` stands for any label."""
    import numpy as np

    assert page.labels is not None
    assert page.rows is not None
    mask = page.rows.expected == (page.labels.id_of(expected) or -1)
    if called:
        wanted = 0 if called == BELOW else page.labels.id_of(called)
        mask &= page.rows.called(page.labels, page.threshold) == (-1 if wanted is None else wanted)
    return np.flatnonzero(mask)
