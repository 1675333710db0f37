"""Scores of every label, as arrays: what a threshold would call each row, how well each label is told from others.

`LabelScores.scores` has a row for each label and a column for each output; `expected` is the place of the right label,
-1 where it is none of them. By the highest score the label listed first wins a tie. At a threshold each label is a
yes-or-no question of its own: it is called where its score reaches the threshold, whatever the others have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaluators.stats.curves import THRESHOLDS

NONE = -1


@dataclass(frozen=True, slots=True)
class LabelScores:
    """One score for each label and output; `expected` by the label's place."""

    labels: tuple[str, ...]
    scores: Any  # float64, (labels, outputs)
    expected: Any

    @property
    def outputs(self) -> int:
        return len(self.expected)


@dataclass(frozen=True, slots=True)
class Best:
    """The label with the highest score of each output, by place, and that score."""

    label: Any
    score: Any

    @classmethod
    def of(cls, scores: Any) -> Best:
        import numpy as np

        label = np.argmax(scores, axis=0)
        return cls(label, np.take_along_axis(scores, label[None], axis=0)[0])

    def called(self, threshold: float | None) -> Any:
        """What each output is called: its best label, or NONE where that does not reach the threshold."""
        import numpy as np

        return self.label if threshold is None else np.where(self.score >= threshold, self.label, NONE)


@dataclass(frozen=True, slots=True)
class Detailed:
    """Counts of every label (first axis) at every threshold (second). Where a right label is not called:

    `mistaken` has some other label that reaches the threshold, `missed` has none. What is called wrongly (`fp`) always
    has a right label that is another one, so in classifications nothing is made up where nothing is (`hallucinated`).
    """

    thresholds: tuple[float, ...]
    tp: Any
    fp: Any
    mistaken: Any
    missed: Any
    tn: Any

    @property
    def fn(self) -> Any:
        return self.mistaken + self.missed


@dataclass(frozen=True, slots=True)
class Told:
    """What the scores of all labels come to. An area is NaN for a label that all outputs have, or none."""

    best: Best
    confusion: Any  # expected by called, by place; the last column is what is called none of the labels
    auc: Any
    average_precision: Any
    detailed: Detailed


def told(given: LabelScores, threshold: float | None = None, thresholds: tuple[float, ...] = THRESHOLDS) -> Told:
    """Everything at once: each label's scores are sorted once, for areas and counts alike."""
    import numpy as np

    best, labels = Best.of(given.scores), len(given.labels)
    auc, precise = np.full(labels, np.nan), np.full(labels, np.nan)
    tp, fp, reached = (np.zeros((labels, len(thresholds)), int) for _ in range(3))
    support = np.zeros(labels, int)
    for place in range(labels):
        is_right = given.expected == place
        right, rest = np.sort(given.scores[place][is_right]), np.sort(given.scores[place][~is_right])
        support[place] = len(right)
        auc[place], precise[place] = _areas(right, rest)
        tp[place] = len(right) - np.searchsorted(right, thresholds)
        fp[place] = len(rest) - np.searchsorted(rest, thresholds)
        reached[place] = len(right) - np.searchsorted(np.sort(best.score[is_right]), thresholds)
    missed = support[:, None] - reached
    tn = given.outputs - support[:, None] - fp
    detailed = Detailed(tuple(thresholds), tp, fp, reached - tp, missed, tn)
    return Told(best, crossed(given.expected, best.called(threshold), labels), auc, precise, detailed)


def _areas(right: Any, rest: Any) -> tuple[float, float]:
    """The area under the ROC curve and the average precision, from sorted scores."""
    import numpy as np

    if not (len(right) and len(rest)):
        return np.nan, np.nan
    below, not_above = np.searchsorted(rest, right), np.searchsorted(rest, right, side="right")
    auc = (below + not_above).sum() / 2 / len(rest) / len(right)
    called_right = len(right) - np.searchsorted(right, right)
    precision = called_right / (called_right + len(rest) - below)
    return float(auc), float(precision.mean())


def crossed(expected: Any, called: Any, labels: int) -> Any:
    """How often each label (or none, the last column) was called for each right one, of outputs with one."""
    import numpy as np

    there = expected >= 0
    columns = np.where(called < 0, labels, called)[there]
    cells = np.bincount(expected[there] * (labels + 1) + columns, minlength=labels * (labels + 1))
    return cells.reshape(labels, labels + 1)


def bucket(given: LabelScores, place: int, threshold: float, name: str, best: Best | None = None) -> Any:
    """Which outputs a count of `Detailed` counts, in their order: `name` is one of its fields."""
    import numpy as np

    is_right, is_called = given.expected == place, given.scores[place] >= threshold
    reaches = (best or Best.of(given.scores)).score >= threshold
    chosen = {
        "tp": is_right & is_called,
        "fp": ~is_right & is_called,
        "mistaken": is_right & ~is_called & reaches,
        "missed": is_right & ~reaches,
        "tn": ~is_right & ~is_called,
    }[name]
    return np.flatnonzero(chosen)
