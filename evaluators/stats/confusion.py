"""Confusion tables: from how often each label came for each expected one to accuracy, precision, recall and F1.

With c_k cases of class k called k, s_k cases of class k and q_k called k, all three are one ratio,
(a + b) c_k / (a s_k + b q_k): recall with (a, b) = (1, 0), precision with (0, 1), F1 with (1, 1). Where its denominator
is 0 it counts as 0, in averages too. Where labels have scores, a label that no case has and that is called of none is
left out instead.

Shares of counted cases get the Wilson interval. F1 is a function of the overlap c_k / (s_k + q_k - c_k), whose Wilson
interval is carried over. Averages over classes get a t interval of their log-odds from their influence function, the
delta method, with a quarter of a right and of a wrong case more in every class.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from evaluators.stats.estimate import (
    LEAST_EFFECTIVE,
    Estimate,
    Moments,
    on_log_odds,
    standard_error,
    student_t,
    wilson,
)

MACRO, WEIGHTED, MICRO = AVERAGES = ("macro", "weighted", "micro")
AREA, AVERAGE_PRECISION = "roc_auc", "average_precision"
DOUBT = 0.25  # cases
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


def confusion(counts: Counts, told_apart: Classes, design: float = 1.0) -> Confusion:
    """The table of these counts. An expected label that is not among the classes becomes the last of them.

    `design` says how many rows are worth one where several belong to a case (`design_effect`); intervals take it in.
    """
    counts = {pair: n for pair, n in counts.items() if n}
    labels = tuple(dict.fromkeys((*told_apart.labels, *sorted({expected for expected, _ in counts}))))
    table = replace(_Table.of(counts, labels, told_apart.has_scores), design=design)
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
        _share(table.right.total(), table.cases, design),
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
    design: float = 1.0  # rows that are worth one

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
    return _ratio(table.right[label], table.support[label], table.called[label], a, b, table.design)


def _ratio(right: int, support: int, called: int, a: int, b: int, design: float) -> Estimate:
    """(a + b) right / (a support + b called) with its interval; 0 without one where nothing is counted below."""
    if not (a and b):
        return _share(right, support if a else called, design)
    union = support + called - right
    overlap = _share(right, union, design)
    if overlap.low is None or overlap.high is None:
        return overlap
    low, high = (2 * end / (1 + end) for end in (overlap.low, overlap.high))
    return Estimate(2 * right / (support + called), low, high, union, union, union, "Wilson interval of the overlap")


def _share(part: int, whole: int, design: float) -> Estimate:
    if not whole:
        return Estimate(0.0, None, None, 0, 0, 0, "none", "There is no case to tell it from.")
    low, high = wilson(part / design, whole / design)
    return Estimate(part / whole, low, high, whole, whole, whole, "Wilson score interval")


def _average(table: _Table, average: str, a: int, b: int) -> Estimate:
    right, n = table.right.total(), table.cases
    if average == MICRO and not (a and b and table.recognised < n):
        return _share(right, n if a else table.recognised, table.design)
    if n < 2:
        return Estimate(None, None, None, n, n, n, "none", "One case alone says nothing about an average over classes.")
    value, plain = _figure(table, average, a, b)
    if plain < 1e-9:  # nothing varies, as where every case is right
        return Estimate(value, *wilson(value * n / table.design, n / table.design), n, n, n, "Wilson score interval")
    middle, error = _figure(_with_doubt(table), average, a, b)
    half = student_t(max(1.0, n / table.design - 1)) * error * math.sqrt(table.design)
    low, high = on_log_odds(middle, half)
    method, plain = "t interval on log-odds, delta method", plain * math.sqrt(table.design)
    return Estimate(value, min(low, value), max(high, value), n, n, n, method, standard_error=plain)


def _figure(table: _Table, average: str, a: int, b: int) -> tuple[float, float]:
    """An average and its standard error for independent rows."""
    n = table.cases
    value, moved = _over_cases(table, a, b) if average == MICRO else _over_classes(table, average == WEIGHTED, a, b)
    squares = math.fsum(table.counts[pair] * influence**2 for pair, influence in moved.items())
    return value, math.sqrt(squares / (n * (n - 1)))


def _with_doubt(table: _Table) -> _Table:
    """The table with a quarter of a right and of a wrong case more in every class, called the one beside it.

    Rare classes without a mistake so far would otherwise look certain (after Agresti and Coull 1998, who add two of
    each to one share).
    """
    used = [label for label in table.averaged if table.support[label] or table.called[label]]
    counts: Counter[tuple[str, str]] = Counter(table.counts)
    for place, label in enumerate(used):
        counts[label, label] += DOUBT  # type: ignore[assignment]  # cases in parts
        counts[label, used[place - 1]] += DOUBT  # type: ignore[assignment]
    return replace(_Table.of(counts, table.labels), averaged=table.averaged)


def design_effect(right: Moments) -> float:
    """How many rows are worth one (Kish 1965), at least 1, from whether each row (1 or 0) of a case is right.

    It is the variance of their mean over cases, as a multiple of what it would be if rows were independent; where none
    or all are right, the rows of a case count as one.
    """
    if right.clusters == right.n or not right.n:
        return 1.0
    mean = right.total / right.n
    if not 0 < mean < 1 or right.effective < LEAST_EFFECTIVE:
        return right.n / right.effective
    return max(1.0, standard_error(mean, right) ** 2 * right.n / (mean * (1 - mean)))


def contributions(
    counts: Counts,
    labels: tuple[str, ...],
    a: int,
    b: int,
    *,
    label: str = "",
    of: str = MACRO,
    leaves_out: bool = False,
) -> tuple[float, Influences]:
    """A figure of one label, or an average, and what a case with each pair of labels contributes to it.

    The mean of the contributions is the figure, so differences between two tables of the same cases follow from theirs.
    Pairs that are left out contribute the figure itself. `leaves_out` says that labels have scores (see above).
    """
    table = _Table.of(counts, labels, leaves_out)
    if label:
        about = {pair: n for pair, n in table.counts.items() if label in pair}  # others contribute the figure itself
        table = replace(table, averaged=(label,), counts=about)
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
