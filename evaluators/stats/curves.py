"""How well a score tells two classes apart, over all thresholds: ROC with its area, precision and recall, and counts.

A case is called positive where its score reaches the threshold. Rows with equal scores form one step, and a row with no
score (NaN) is left out and counts as not covered. Rows of one case are not independent, so intervals take the case as
the unit: the area under the ROC curve by DeLong, DeLong and Clarke-Pearson (1988) with the variance of Obuchowski
(1997) over cases, which for one row a case is theirs; average precision by the infinitesimal jackknife (Efron 1982).
Both intervals are worked out for the logarithm of the odds, so that they stay within [0, 1] (Pepe 2003).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluators.stats.estimate import Estimate, on_log_odds, student_t

THRESHOLDS = tuple(step / 20 for step in range(1, 20))  # 0.05, 0.10, …, 0.95
LEAST = 10  # cases of either class, below which the area has no interval
LEAST_EACH = 20  # cases of either class, below which average precision has none: it leans on how many there are
ONE_SIDED = "All rows belong to one class, so there is nothing to tell apart."
TOO_FEW = "There are fewer than {} cases of one class, too few to tell how far the figure could be off."
NO_CURVES = Estimate(None, None, None, 0, 0, 0, "none", "There are no scores of labels.")
PERFECT = "The scores tell all rows apart without a mistake, so no interval can be told."


@dataclass(frozen=True, slots=True)
class Curve:
    """Points from the highest threshold down: ROC (false positive rate, recall) or (recall, precision), and the area.

    The first point of an ROC has no threshold (infinity); `area` is the AUC, or the average precision. `pulls` is how
    far each case, in the order of their numbers, moves the area: areas of the same cases can be averaged by them.
    """

    x: Any
    y: Any
    thresholds: Any
    area: Estimate
    pulls: Any = None


@dataclass(frozen=True, slots=True)
class Cut:
    """What is counted at one threshold. Shares of nothing are None."""

    threshold: float
    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def precision(self) -> float | None:
        return _share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        return _share(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float | None:
        """None where precision or recall is unknown or both are 0."""
        return _share(2 * self.tp, 2 * self.tp + self.fp + self.fn) if self.tp else None

    @property
    def accuracy(self) -> float | None:
        return _share(self.tp + self.tn, self.tp + self.fp + self.fn + self.tn)


@dataclass(frozen=True, slots=True)
class _Rows:
    """What has a score, sorted by it from high to low. `ends` are the last places of runs of equal scores."""

    scores: Any
    positive: Any
    clusters: Any  # numbered from 0
    ends: Any
    asked: int

    @classmethod
    def of(cls, scores: Any, positive: Any, clusters: Any) -> _Rows:
        import numpy as np

        scores, positive = np.asarray(scores, float), np.asarray(positive, bool)
        clusters = np.arange(len(scores)) if clusters is None else np.asarray(clusters)
        there = ~np.isnan(scores)
        order = np.argsort(-scores[there], kind="stable")
        scores, positive = scores[there][order], positive[there][order]
        _, clusters = np.unique(clusters[there], return_inverse=True)
        ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1) if len(scores) else np.arange(0)
        return cls(scores, positive, clusters[order], ends, len(there))

    @property
    def is_one_sided(self) -> bool:
        return bool(self.positive.all() or not self.positive.any())

    @property
    def steps(self) -> Any:
        """For each row the run of equal scores to which it belongs."""
        import numpy as np

        return np.repeat(np.arange(len(self.ends)), np.diff(self.ends, prepend=-1))

    def reached(self) -> tuple[Any, Any]:
        """True and false positives at each threshold."""
        import numpy as np

        tp = np.cumsum(self.positive)[self.ends]
        return tp, self.ends + 1 - tp

    def by_cluster(self, values: Any) -> Any:
        import numpy as np

        return np.bincount(self.clusters, values, self.count)

    @property
    def count(self) -> int:
        return int(self.clusters.max(initial=-1)) + 1

    def refused(self, sentence: str, value: float | None = None) -> Estimate:
        return Estimate(value, None, None, len(self.scores), self.count, self.asked, "none", sentence)

    @property
    def fewer(self) -> int:
        """How many cases have the rarer class."""
        return min(int((self.by_cluster(side) > 0).sum()) for side in (self.positive, ~self.positive))

    def on_log_odds(self, value: float, variance: float, freedom: int, method: str) -> Estimate:
        """The t interval of log(value / (1 − value)), whose error is the value's divided by value (1 − value)."""
        error = math.sqrt(variance)
        if not 0 < value < 1 or error < 1e-12:
            return self.refused(PERFECT, value)
        half = student_t(freedom) * error / (value * (1 - value))
        middle = math.log(value / (1 - value))
        low, high = (1 / (1 + math.exp(-end)) for end in (middle - half, middle + half))
        sizes = len(self.scores), self.count, self.asked
        return Estimate(value, low, high, *sizes, method, standard_error=error)


def roc(scores: Any, positive: Any, clusters: Any = None) -> Curve:
    """The receiver operating characteristic and the area under it: the chance that a positive row scores higher."""
    import numpy as np

    rows = _Rows.of(scores, positive, clusters)
    if rows.is_one_sided:
        return Curve(np.empty(0), np.empty(0), np.empty(0), rows.refused(ONE_SIDED))
    tp, fp = rows.reached()
    right, up = np.diff(fp, prepend=0), np.diff(tp, prepend=0)
    straight = right[:-1] * up[1:] == right[1:] * up[:-1]
    kept = np.append(True, np.append(~straight, True))  # points within a straight line show nothing
    x, y, thresholds = np.append(0, fp / fp[-1]), np.append(0, tp / tp[-1]), np.append(np.inf, rows.scores[rows.ends])
    return Curve(x[kept], y[kept], thresholds[kept], *_auc(rows, tp, fp))


def _auc(rows: _Rows, tp: Any, fp: Any) -> tuple[Estimate, Any]:
    """Each row's placement is the share of the other class on its right side; ties count half."""
    import numpy as np

    steps, positive, negative = rows.steps, rows.positive, ~rows.positive
    positives, negatives = int(tp[-1]), int(fp[-1])
    higher = np.append(0, tp)[steps] + np.diff(tp, prepend=0)[steps] / 2  # positives above a row
    lower = negatives - np.append(0, fp)[steps] - np.diff(fp, prepend=0)[steps] / 2  # negatives below it
    area = float(lower[positive].sum() / negatives / positives)
    ten = rows.by_cluster(np.where(positive, lower / negatives - area, 0))
    one = rows.by_cluster(np.where(negative, higher / positives - area, 0))
    pulls = ten / positives + one / negatives
    with_positive, with_negative = (int((rows.by_cluster(side) > 0).sum()) for side in (positive, negative))
    if min(with_positive, with_negative) < LEAST:
        return rows.refused(TOO_FEW.format(LEAST), area), pulls
    variance = with_positive / (with_positive - 1) * (ten**2).sum() / positives**2
    variance += with_negative / (with_negative - 1) * (one**2).sum() / negatives**2
    variance += 2 * rows.count / (rows.count - 1) * (ten * one).sum() / positives / negatives
    method = "DeLong interval over cases, on log-odds"
    return rows.on_log_odds(area, max(0.0, float(variance)), rows.count - 2, method), pulls


def precision_recall(scores: Any, positive: Any, clusters: Any = None) -> Curve:
    """Precision over recall, and the average precision: the mean precision at the scores of positive rows."""
    import numpy as np

    rows = _Rows.of(scores, positive, clusters)
    if rows.is_one_sided:
        return Curve(np.empty(0), np.empty(0), np.empty(0), rows.refused(ONE_SIDED))
    tp, fp = rows.reached()
    precision, recall = tp / (tp + fp), tp / tp[-1]
    return Curve(recall, precision, rows.scores[rows.ends], *_average_precision(rows, tp, fp))


def _average_precision(rows: _Rows, tp: Any, fp: Any) -> tuple[Estimate, Any]:
    """Σ (recall gained) × precision, and how one more row of each kind at each place would move it."""
    import numpy as np

    called, positives = tp + fp, int(tp[-1])
    gained = np.diff(tp, prepend=0)
    precision = tp / called
    value = float((gained * precision).sum() / positives)
    steps = rows.steps
    # A row changes the precision at every threshold that it reaches: by (is positive − precision) / called.
    from_here = [np.cumsum((gained * part)[::-1])[::-1] for part in (1 / called, precision / called)]
    pull = np.where(rows.positive, from_here[0][steps] + precision[steps] - value, 0) - from_here[1][steps]
    by_case = rows.by_cluster(pull / positives)
    if rows.fewer < LEAST_EACH:
        return rows.refused(TOO_FEW.format(LEAST_EACH), value), by_case
    variance = float((by_case**2).sum() * rows.count / (rows.count - 1))
    method = "jackknife interval over cases, on log-odds"
    return rows.on_log_odds(value, variance, rows.fewer - 1, method), by_case


def mean_area(curves: Sequence[Curve], one_sided: float | None = None) -> Estimate:
    """The plain mean of areas over the same cases. A curve without an area is left out, or counts as `one_sided`.

    Without an interval where any of the areas has none because there are too few cases.
    """
    known = [curve for curve in curves if curve.pulls is not None]
    areas = [curve.area.value or 0.0 for curve in known]
    areas += [one_sided] * (len(curves) - len(known)) if one_sided is not None else []
    if not curves:
        return NO_CURVES
    if not known:
        return replace(curves[0].area, value=areas[0] if areas else None)
    one, value = known[0].area, math.fsum(areas) / len(areas)
    pulls = sum(curve.pulls for curve in known) / len(areas)
    error = math.sqrt(float((pulls**2).sum()) * one.clusters / max(1, one.clusters - 1))
    doubted = next((curve.area.refused for curve in known if curve.area.refused not in (None, PERFECT)), None)
    sizes = one.n, one.clusters, one.asked
    if doubted or not 0 < value < 1 or error < 1e-12:
        return Estimate(value, None, None, *sizes, "none", doubted or PERFECT)
    low, high = on_log_odds(value, student_t(one.clusters - 1) * error)
    method = "mean over labels, interval over cases on log-odds"
    return Estimate(value, low, high, *sizes, method, standard_error=error)


def cuts(scores: Any, positive: Any, thresholds: Any = THRESHOLDS) -> list[Cut]:
    """What is counted at each of some thresholds. Rows with no score are left out."""
    import numpy as np

    scores, positive = np.asarray(scores, float), np.asarray(positive, bool)
    there = ~np.isnan(scores)
    sides = [np.sort(scores[there & side]) for side in (positive, ~positive)]
    table = []
    for threshold in thresholds:
        fn, tn = (int(np.searchsorted(side, threshold)) for side in sides)
        table.append(Cut(float(threshold), len(sides[0]) - fn, len(sides[1]) - tn, fn, tn))
    return table


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
