"""What the scores of labels come to: areas and curves, which are kept, and what any threshold makes of all rows.

Areas and curves are answers of `working_out`: they hold as long as the run's revision, so nothing throws them away.
What a threshold makes of the rows is counted anew each time, from four packed columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from evaluators.core import Status
from evaluators.labels import key_of
from evaluators.stats.confusion import Classes, Counts
from evaluators.stats.curves import Curve, mean_area, precision_recall, roc
from evaluators.stats.estimate import Estimate
from evaluators.stats.labelled import Best, LabelScores
from experiments.analysis.label_scores import BEST_LABEL, BEST_SCORE, MOST_LABELS, SCORE, in_order, texts_of, told_apart
from experiments.analysis.vectors import columns_of
from experiments.analysis.working_out import Question, answers, made_from, work_out
from experiments.ledger.progress import is_under_way
from experiments.models import Run

if TYPE_CHECKING:
    from numpy.typing import NDArray

AREAS, CURVES = (f"{__name__}.{name}" for name in ("areas", "curves"))  # paths that queued tasks keep
WHILE_UNDER_WAY = 20_000  # rows of a run that are looked at again and again while it goes on
SHOWN_POINTS = 200  # of a curve
BINS = 20
BELOW = "(below the threshold)"


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a run that have one key, by id, in order; `positive` is the id of the one of a binary version."""

    run: Run
    key: str
    by_id: dict[int, str]
    positive: int | None
    classes: Classes

    @classmethod
    def of(cls, run: Run, key: str, texts: Mapping[int, str]) -> Labels | None:
        """None for a run that reads no scores."""
        classes = told_apart(run.version)
        if classes is None or not classes.has_scores:
            return None
        by_id = {pk: label for pk, label in in_order(texts, classes).items() if key_of(label) == key}
        positive = next((pk for pk, label in by_id.items() if label == classes.positive), None)
        return cls(run, key, by_id, positive, classes)

    def id_of(self, label: str) -> int | None:
        return next((pk for pk, text in self.by_id.items() if text == label), None)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of a run that have scores and an expected label of a key: their columns, each one entry a row."""

    outputs: NDArray[Any]
    cases: NDArray[Any]
    attempts: NDArray[Any]
    expected: NDArray[Any]  # ids of labels
    best: NDArray[Any]  # likewise, of the highest score
    score: NDArray[Any]  # of the best
    scores: dict[int, NDArray[Any]]  # of the labels that were asked for

    @classmethod
    def of(cls, labels: Labels, asked: tuple[int, ...] = ()) -> Rows:
        """One query where the run's columns are kept."""
        import numpy as np

        wanted = tuple(labels.by_id) if labels.key else asked
        names = ("outputs", "cases", "attempts", "states", "expected", BEST_LABEL, BEST_SCORE)
        columns = columns_of([labels.run], (*names, *(f"{SCORE}{pk}" for pk in wanted)))[labels.run.pk]
        there = (columns["states"] == Status.SCORED) & ~np.isnan(columns[BEST_SCORE])
        if labels.key:
            there &= np.isin(columns["expected"], list(labels.by_id))
        found = {name: column if there.all() else column[there] for name, column in columns.items()}
        scores = {pk: found[f"{SCORE}{pk}"] for pk in wanted}
        best, score = found[BEST_LABEL], found[BEST_SCORE]
        if labels.key and scores:  # the best of all labels may have another key
            top = Best.of(np.array(list(scores.values())))
            best, score = np.array(list(scores))[top.label], top.score
        return cls(
            outputs=found["outputs"],
            cases=found["cases"],
            attempts=found["attempts"],
            expected=found["expected"],
            best=best,
            score=score,
            scores=scores,
        )

    def among(self, cases: NDArray[Any]) -> Rows:
        """Those of some cases alone."""
        import numpy as np

        there = np.isin(self.cases, cases)
        scores = {pk: column[there] for pk, column in self.scores.items()}
        names = ("outputs", "cases", "attempts", "expected", "best", "score")
        return Rows(**{name: getattr(self, name)[there] for name in names}, scores=scores)

    def called(self, labels: Labels, threshold: float | None) -> NDArray[Any]:
        """What each row is called, by id: its best label, 0 where that does not reach the threshold.

        Where there is a positive label, that is called where its score reaches the threshold, and otherwise the other.
        """
        import numpy as np

        if labels.positive is None or threshold is None:
            return self.best if threshold is None else np.where(self.score >= threshold, self.best, 0)
        other = next((pk for pk in labels.by_id if pk != labels.positive), 0)
        return np.where(self.scores[labels.positive] >= threshold, labels.positive, other)


def counts_at(labels: Labels, rows: Rows, threshold: float | None) -> Counts:
    """How often each label was called for each expected one."""
    import numpy as np

    called, texts = rows.called(labels, threshold).astype(int), {**labels.by_id, 0: BELOW}
    size = max(texts) + 1
    cells = np.bincount(rows.expected.astype(int) * size + called, minlength=size * size)
    pairs = {divmod(int(place), size): int(cells[place]) for place in np.flatnonzero(cells)}
    return {(texts[expected], texts[given]): n for (expected, given), n in pairs.items()}


def all_scores(labels: Labels) -> tuple[LabelScores, Rows]:
    """The scores of every label. They are as many numbers as there are labels and rows."""
    import numpy as np

    rows = Rows.of(labels, tuple(labels.by_id))
    places = np.full(max(labels.by_id, default=0) + 1, -1)
    places[list(labels.by_id)] = range(len(labels.by_id))
    scores = np.array(list(rows.scores.values())) if rows.scores else np.empty((0, len(rows.outputs)))
    return LabelScores(tuple(labels.by_id.values()), scores, places[rows.expected]), rows


# Kept answers


def kept_answers(labels: Labels, label: int, asked: int, kept: bool) -> tuple[Any, Any]:
    """`areas` of all labels and `curves` of one as they are kept; None for what a worker is working out. One query."""
    run = labels.run
    rests_on = made_from([run])
    of_all = Question(AREAS, (run.pk, labels.key), rests_on, asked * max(1, len(labels.by_id) // 4))
    of_one = Question(CURVES, (run.pk, label), rests_on, asked // 4 if kept else asked)
    found = answers(run.experiment.project_id, [of_all, of_one])
    return found.get(of_all), found.get(of_one)


def keep_areas(run: Run) -> None:
    """Have the areas of a run ready, key by key, where it reads scores. For a worker: it takes as long as it takes."""
    classes = told_apart(run.version)
    if classes is None or not classes.has_scores:
        return
    for key in {key_of(label) for label in texts_of(run).values()}:
        work_out(run.experiment.project_id, AREAS, (run.pk, key), made_from([run]))


def is_too_much(run: Run, asked: int) -> bool:
    """Whether so many rows still change that curves wait until the run is over."""
    return is_under_way(run) and asked > WHILE_UNDER_WAY


def areas(run_id: int, key: str) -> dict[str, Any]:
    """The areas of every label, and their means, with intervals, as JSON: name → "labels" and "mean"."""
    labels = _labels(run_id, key)
    return areas_of(labels, Rows.of(labels, tuple(labels.by_id))) if labels else {}


def areas_of(labels: Labels, rows: Rows) -> dict[str, Any]:
    """The same over some rows, which have the scores of all labels."""
    if len(labels.by_id) > MOST_LABELS:
        return {}
    one_sided = 1.0 if labels.classes.sided_is_one else None
    found: dict[str, Any] = {}
    for name, curve_of, counts_as in (("roc_auc", roc, one_sided), ("average_precision", precision_recall, None)):
        each = {pk: _without_points(curve_of(rows.scores[pk], rows.expected == pk, rows.cases)) for pk in labels.by_id}
        figures = {labels.by_id[pk]: asdict(curve.area) for pk, curve in each.items()}
        found[name] = {"labels": figures, "mean": asdict(mean_area(list(each.values()), counts_as))}
    return found


def _without_points(curve: Curve) -> Curve:
    return replace(curve, x=None, y=None, thresholds=None)


def curves(run_id: int, label: int) -> dict[str, Any]:
    """Both curves of a label, how its scores and the others' spread, and the threshold of its best F1, as JSON."""
    import numpy as np

    run = Run.objects.select_related("version__evaluator").get(pk=run_id)
    texts = texts_of(run)
    labels = Labels.of(run, key_of(texts[label]), texts)
    assert labels is not None
    rows = Rows.of(labels, (label,))
    scores, is_right = rows.scores[label], rows.expected == label
    receiver, precise = roc(scores, is_right, rows.cases), precision_recall(scores, is_right, rows.cases)
    low, high = span_of(scores)
    spread = [np.histogram(scores[side], BINS, (low, high))[0].tolist() for side in (is_right, ~is_right)]
    sums = precise.x + precise.y
    f1 = np.divide(2 * precise.x * precise.y, sums, out=np.zeros(len(sums)), where=sums > 0)
    best = int(f1.argmax()) if len(f1) else None
    return {
        "roc": _drawn(receiver),
        "pr": _drawn(precise),
        "span": [low, high],
        "spread": spread,
        "rows": [int(is_right.sum()), len(scores)],
        "best": None if best is None else [float(precise.thresholds[best]), float(f1[best])],
    }


def span_of(scores: Any) -> tuple[float, float]:
    """The range of a threshold: 0 to 1 where scores are shares, otherwise that of the scores."""
    low, high = (float(scores.min()), float(scores.max())) if len(scores) else (0.0, 1.0)
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high if high > low else low + 1)


def _drawn(curve: Curve) -> dict[str, Any]:
    """The curve with its area; of many points those that are farthest apart along it."""
    import numpy as np

    places = np.arange(len(curve.x))
    if len(places) > SHOWN_POINTS:
        along = np.cumsum(np.abs(np.diff(curve.x, prepend=curve.x[0])) + np.abs(np.diff(curve.y, prepend=curve.y[0])))
        places = np.unique(np.searchsorted(along, np.linspace(0, along[-1], SHOWN_POINTS)).clip(0, len(along) - 1))
    thresholds = [None if np.isinf(each) else float(each) for each in curve.thresholds[places]]
    x, y = (axis[places].round(6).tolist() for axis in (curve.x, curve.y))
    return {"area": asdict(curve.area), "x": x, "y": y, "thresholds": thresholds}


def estimate_in(kept: dict[str, Any]) -> Estimate:
    return Estimate(**kept)


def _labels(run_id: int, key: str) -> Labels | None:
    run = Run.objects.select_related("version__evaluator").get(pk=run_id)
    return Labels.of(run, key, texts_of(run))
