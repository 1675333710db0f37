"""Confusion tables: from how often each label came for each expected one to accuracy, precision, recall and F1.

With c_k cases of class k called k, s_k cases of class k and q_k called k, all three are one ratio,
(a + b) c_k / (a s_k + b q_k): recall with (a, b) = (1, 0), precision with (0, 1), F1 with (1, 1). Where its denominator
is 0 it counts as 0, in averages too. Where labels have scores, a label that no case has and that is called of none is
left out instead.

Shares of counted cases get the Wilson interval. F1 is a function of the overlap c_k / (s_k + q_k - c_k), whose Wilson
interval is carried over. Averages over classes get a t interval from their influence function, the delta method.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from evaluators.stats.estimate import Estimate, student_t, wilson

MACRO, WEIGHTED, MICRO = AVERAGES = ("macro", "weighted", "micro")
AREA, AVERAGE_PRECISION = "roc_auc", "average_precision"
RECALL, PRECISION, F1 = (1, 0), (0, 1), (1, 1)
Counts = Mapping[tuple[str, str], int]  # (expected, predicted) → cases


@dataclass(frozen=True, slots=True)
class Classes:
    """What a classification tells apart, in the order in which it is shown.

    The figures of the whole are those of the `positive` class, or else an average: over the classes (macro), over them
    by how many cases each has (weighted), or over cases (micro). Without labels, classes are what cases expect.
    `figure` is what a run comes to: an area under its curves, or nothing for the share of right cases; the area of a
    label that every case has, or none, is 1 where `sided_is_one` and else left out.
    """

    labels: tuple[str, ...]
    average: str = MACRO
    positive: str | None = None
    has_scores: bool = False
    figure: str = ""
    sided_is_one: bool = True


@dataclass(frozen=True, slots=True)
class OneClass:
    """The figures of one class. `support` counts the cases that belong to it."""

    label: str
    support: int
    precision: Estimate
    recall: Estimate
    f1: Estimate


@dataclass(frozen=True, slots=True)
class Confusion:
    """A table with rows by expected and columns by predicted label, and its figures.

    Columns are the classes, then what was predicted beside them. `of_all` names what the figures of the whole are.
    """

    counts: Counts
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    classes: tuple[OneClass, ...]
    of_all: str
    accuracy: Estimate
    precision: Estimate
    recall: Estimate
    f1: Estimate

    @property
    def cases(self) -> int:
        return self.accuracy.n


def confusion(counts: Counts, told_apart: Classes) -> Confusion:
    """The table of these counts. An expected label that is not among the classes becomes the last of them."""
    counts = {pair: n for pair, n in counts.items() if n}
    labels = tuple(dict.fromkeys((*told_apart.labels, *sorted({expected for expected, _ in counts}))))
    table = _Table.of(counts, labels, told_apart.has_scores)
    classes = tuple(
        OneClass(label, table.support[label], *(_of_class(table, label, *kind) for kind in (PRECISION, RECALL, F1)))
        for label in labels
    )
    positive = next((one for one in classes if one.label == told_apart.positive), None)
    if positive:
        whole = positive.precision, positive.recall, positive.f1
    else:
        whole = tuple(_average(table, told_apart.average, *kind) for kind in (PRECISION, RECALL, F1))  # type: ignore[assignment]
    return Confusion(
        counts,
        labels,
        (*labels, *sorted({predicted for _, predicted in counts} - set(labels))),
        classes,
        positive.label if positive else told_apart.average,
        _share(table.right.total(), table.cases),
        *whole,
    )


@dataclass(frozen=True, slots=True)
class _Table:
    counts: Counts
    labels: tuple[str, ...]
    cases: int
    right: Counter[str]  # c_k
    support: Counter[str]  # s_k
    called: Counter[str]  # q_k
    averaged: tuple[str, ...]  # the labels that averages are over

    @classmethod
    def of(cls, counts: Counts, labels: tuple[str, ...], leaves_out: bool = False) -> _Table:
        right, support, called = Counter[str](), Counter[str](), Counter[str]()
        for (expected, predicted), n in counts.items():
            support[expected] += n
            called[predicted] += n
            if expected == predicted:
                right[expected] += n
        averaged = tuple(label for label in labels if not leaves_out or support[label] or called[label])
        return cls(counts, labels, support.total(), right, support, called, averaged)

    @property
    def recognised(self) -> int:
        """The cases that were called one of the classes."""
        return sum(self.called[label] for label in self.labels)


def _of_class(table: _Table, label: str, a: int, b: int) -> Estimate:
    if label not in table.averaged:
        return Estimate(None, None, None, 0, 0, 0, "none", "No case has this label, and none is called it.")
    return _ratio(table.right[label], table.support[label], table.called[label], a, b)


def _ratio(right: int, support: int, called: int, a: int, b: int) -> Estimate:
    """(a + b) right / (a support + b called) with its interval; 0 without one where nothing is counted below."""
    if not (a and b):
        return _share(right, support if a else called)
    union = support + called - right
    overlap = _share(right, union)
    if overlap.low is None or overlap.high is None:
        return overlap
    low, high = (2 * end / (1 + end) for end in (overlap.low, overlap.high))
    return Estimate(2 * right / (support + called), low, high, union, union, union, "Wilson interval of the overlap")


def _share(part: int, whole: int) -> Estimate:
    if not whole:
        return Estimate(0.0, None, None, 0, 0, 0, "none", "There is no case to tell it from.")
    return Estimate(part / whole, *wilson(part, whole), whole, whole, whole, "Wilson score interval")


def _average(table: _Table, average: str, a: int, b: int) -> Estimate:
    if average == MICRO:
        return _ratio(table.right.total(), table.cases, table.recognised, a, b)
    n = table.cases
    if n < 2:
        return Estimate(None, None, None, n, n, n, "none", "One case alone says nothing about an average over classes.")
    value, influences = _over_classes(table, average == WEIGHTED, a, b)
    squares = math.fsum(table.counts[pair] * influence**2 for pair, influence in influences.items())
    error = math.sqrt(squares / (n * (n - 1)))
    if error < 1e-9:  # nothing varies, as where every case is right
        return Estimate(value, *wilson(value * n, n), n, n, n, "Wilson score interval")
    half = student_t(n - 1) * error
    low, high = max(0.0, value - half), min(1.0, value + half)
    return Estimate(value, low, high, n, n, n, "t interval, delta method", standard_error=error)


def contributions(
    counts: Counts, labels: tuple[str, ...], a: int, b: int, *, label: str = "", of: str = MACRO
) -> tuple[float, Influences]:
    """A figure of one label, or an average, and what a case with each pair of labels contributes to it.

    The mean of the contributions is the figure, so differences between two tables of the same cases follow from theirs.
    """
    table = _Table.of(counts, labels)
    if label:
        table = replace(table, averaged=(label,))
    value, influences = _over_cases(table, a, b) if of == MICRO else _over_classes(table, of == WEIGHTED, a, b)
    return value, {pair: value + influence for pair, influence in influences.items()}


def _over_cases(table: _Table, a: int, b: int) -> tuple[float, Influences]:
    below = a * table.cases + b * table.recognised
    value = (a + b) * table.right.total() / below if below else 0.0

    def influence(expected: str, predicted: str) -> float:
        change = (a + b) * (expected == predicted) - value * (a + b * (predicted in table.labels))
        return change * table.cases / below if below else 0.0

    return value, {pair: influence(*pair) for pair in table.counts}


Influences = dict[tuple[str, str], float]  # of one more case with this pair of labels on the average, times the cases


def _over_classes(table: _Table, is_weighted: bool, a: int, b: int) -> tuple[float, Influences]:
    n = table.cases
    weights = {k: table.support[k] / n if is_weighted else 1 / len(table.averaged) for k in table.averaged}
    below = {k: a * table.support[k] + b * table.called[k] for k in table.averaged}
    ratios = {k: (a + b) * table.right[k] / below[k] if below[k] else 0.0 for k in table.averaged}
    value = math.fsum(weights[k] * ratios[k] for k in table.averaged)

    def influence(expected: str, predicted: str) -> float:
        moved = ratios[expected] - value if is_weighted else 0.0  # the class of the case weighs more
        for k in {expected, predicted} & below.keys():
            if below[k]:
                change = (a + b) * (expected == predicted) - ratios[k] * (a * (expected == k) + b * (predicted == k))
                moved += weights[k] * change * n / below[k]
        return moved

    return value, {pair: influence(*pair) for pair in table.counts}
