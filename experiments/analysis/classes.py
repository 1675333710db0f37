"""Where a classifier errs: what is asked of a run's labels, and the table, curves and counts that answer it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evaluators.stats.confusion import Confusion, Counts
from evaluators.stats.estimate import Estimate
from experiments.analysis.columns import Column, columns
from experiments.analysis.confusion import counts_of, keys_of, of_key, tabulated
from experiments.analysis.curves import (
    BELOW,
    Labels,
    Rows,
    areas_of,
    counts_at,
    curves_of,
    estimate_in,
    has_columns,
    is_too_much,
)
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
        return self.labels.id_of(self.asked.of) or self.labels.positive or next(iter(self.labels.by_id), None)


def classified(run: Run, asked: Asked) -> Classified:
    """What the labels of a run come to, as an address asks for it."""
    column = columns([run])[0]
    counts = counts_of(run)
    keys = keys_of(counts)
    key = asked.key if asked.key in keys else (keys or [""])[0]
    labels, rows, areas, waits = _scored(run, key, asked, column.summary.asked, bool(counts))
    if labels and rows is not None and asked.at:
        table: Counts = counts_at(labels, rows, asked.threshold)
    else:
        table = of_key(counts, key)
    found = tabulated(run, table, key) if table else None
    return Classified(run, column, asked, keys, key, found, labels, rows, areas, waits)


Scored = tuple[Labels | None, Rows | None, dict[str, Any] | None, str]


def _scored(run: Run, key: str, asked: Asked, size: int, is_any: bool) -> Scored:
    """The labels, the rows with the scores of the label that is asked for, the areas; or why these wait."""
    labels = Labels.of(run, key) if is_any else None
    if labels is None or not labels.by_id:
        return None, None, None, ""
    if is_too_much(run, size):
        return labels, None, None, "Scores of so many rows are looked at when the run is over."
    areas = areas_of(labels, size)
    if areas is None and not has_columns(run, size):
        return labels, None, None, "The scores of all rows are being put in order."
    of = labels.id_of(asked.of) or labels.positive or next(iter(labels.by_id))
    rows = Rows.of(labels, tuple({of, labels.positive or of}))
    if not len(rows.outputs):
        return labels, None, None, "No output has scores of its labels."
    return labels, rows, areas, "" if areas is not None else "Areas are being worked out."


def curves_for(page: Classified, label: int) -> dict[str, Any] | None:
    """Both curves of a label; None while a worker works them out."""
    assert page.labels is not None
    return curves_of(page.labels, label, page.column.summary.asked)


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
