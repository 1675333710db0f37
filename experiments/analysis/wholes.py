"""Figures that are of all cases together and no mean over them: precision, recall, F1 and areas of a classifier, and
how far the two orders of a comparison agree.

They have no scores of single cases that could be paired, so nothing ranks by them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evaluators.core import AS_GIVEN, Measure
from evaluators.labels import key_of
from evaluators.models import EvaluatorVersion
from evaluators.orders import winner
from evaluators.stats.agreement import cohen
from evaluators.stats.confusion import Counts
from evaluators.stats.curves import NO_CURVES
from evaluators.stats.estimate import Estimate
from evaluators.stats.grades import Grades
from experiments.analysis.confusion import counts_of, design_of, keys_of, tabulated
from experiments.analysis.curves import Labels, Rows, areas, areas_of, estimate_in, is_too_much
from experiments.analysis.label_scores import texts_of, told_apart
from experiments.analysis.measured import measures_of
from experiments.analysis.vectors import MEASURE, columns_of, is_kept
from experiments.ledger.progress import is_under_way
from experiments.models import Run

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

TITLES = {"precision": "Precision", "recall": "Recall", "f1": "F1"}
NOTHING = Estimate(None, None, None, 0, 0, 0, "none", "No score names an expected label.")
ORDERS = Measure("orders_kappa", "Cohen’s kappa of the two orders", "higher", unit="")
WHEN_OVER = Estimate(None, None, None, 0, 0, 0, "none", "This is told when the run is over.")
SEVERAL_KEYS = Estimate(None, None, None, 0, 0, 0, "none", "Labels of several keys are told apart key by key.")


def wholes_of(version: EvaluatorVersion) -> tuple[Measure, ...]:
    """What a version tells of all cases together besides its figure."""
    classes = told_apart(version)
    if classes is None:
        return (ORDERS,) if AS_GIVEN in measures_of(version) else ()
    of = f"of {classes.positive}" if classes.positive else classes.average
    return tuple(Measure(name, f"{title}, {of}", "higher") for name, title in TITLES.items())


def is_whole(version: EvaluatorVersion, measure: str) -> bool:
    """Whether a measure, or the figure where none is named, is of all cases together."""
    classes = told_apart(version)
    return classes is not None and (measure in TITLES or (not measure and bool(classes.figure)))


def whole_figure(run: Run, asked: int) -> Estimate | None:
    """What a run comes to where that is not the mean of its rows: the mean area over its labels."""
    classes = told_apart(run.version)
    if classes is None or not classes.figure:
        return None
    if is_too_much(run, asked):
        return replace(WHEN_OVER, asked=asked)
    key = _only_key(texts_of(run))
    if key is None:
        return replace(SEVERAL_KEYS, asked=asked)
    found = areas(run.pk, key)
    return replace(estimate_in(found[classes.figure]["mean"]), asked=asked) if found else NO_CURVES


def wholes(run: Run, asked: int, *, has_several: bool) -> dict[str, Estimate]:
    """Precision, recall and F1 of a run; none for one that names no expected labels, or several kinds of them.

    While a long run goes on there are none either. `has_several` says whether a case has several rows. Of a comparison
    in both orders the kappa of the two, once it is over. At most four queries, none where there is no such figure.
    """
    if AS_GIVEN in measures_of(run.version):
        kappa = None if is_under_way(run) else _orders(run)
        return {ORDERS.name: replace(kappa, asked=asked)} if kappa else {}
    if told_apart(run.version) is None or is_too_much(run, asked):
        return {}
    counts = counts_of(run, texts_of(run), is_kept(run))
    if len(keys_of(counts)) != 1:
        return {}
    found = _figures(run, counts, design_of(run) if has_several else 1.0)
    return {name: replace(figure, asked=asked) for name, figure in found.items()}


def wholes_among(runs: Sequence[Run], measure: str, cases: NDArray[int64]) -> dict[int, Estimate]:
    """One of these figures, or with no measure the area that a run comes to, over some cases alone: by run."""
    return {run.pk: _share(run, measure, cases) if measure else _area(run, cases) for run in runs}


def _share(run: Run, measure: str, cases: NDArray[int64]) -> Estimate:
    import numpy

    columns, texts = columns_of([run], ("cases", "expected", "labels"))[run.pk], texts_of(run)
    expected, given = columns["expected"], columns["labels"]
    there = numpy.isin(columns["cases"], cases) & (expected >= 0) & (given >= 0)
    pairs = Counter(zip(expected[there].tolist(), given[there].tolist(), strict=True))
    counts = {(texts[one], texts[other]): n for (one, other), n in pairs.items()}
    if len(keys_of(counts)) > 1:
        return SEVERAL_KEYS
    return _figures(run, counts, design_of(run, there))[measure] if counts else NOTHING


def _figures(run: Run, counts: Counts, design: float) -> dict[str, Estimate]:
    found = tabulated(run, counts, keys_of(counts)[0], design)
    return {name: getattr(found, name) for name in TITLES}


def _orders(run: Run) -> Estimate | None:
    """Cohen's kappa of who wins in the order given and who wins exchanged; None where nothing has both."""
    import numpy

    given_name = MEASURE + AS_GIVEN.name
    columns = columns_of([run], ("scores", given_name))[run.pk]
    there = ~numpy.isnan(columns["scores"]) & ~numpy.isnan(columns[given_name])
    given = columns[given_name][there]
    exchanged = numpy.round(2 * columns["scores"][there] - given, 9)
    words = [list(map(winner, values)) for values in (given.tolist(), exchanged.tolist())]
    rows = [(place, order, word) for order, said in enumerate(words) for place, word in enumerate(said)]
    return replace(cohen(Grades.of(rows), resamples=0), n=len(given)) if rows else None


def _area(run: Run, cases: NDArray[int64]) -> Estimate:
    texts = texts_of(run)
    key = _only_key(texts)
    if key is None:
        return SEVERAL_KEYS
    labels = Labels.of(run, key, texts)
    if labels is None or not labels.by_id:
        return NO_CURVES
    found = areas_of(labels, Rows.of(labels, tuple(labels.by_id)).among(cases))
    return estimate_in(found[labels.classes.figure]["mean"]) if found else NO_CURVES


def _only_key(texts: Mapping[int, str]) -> str | None:
    """The key that all these labels have, "" for none; None where they have several."""
    keys = {key_of(label) for label in texts.values()}
    return None if len(keys) > 1 else next(iter(keys), "")
