"""The classification family: entries that say something of all rows of a run together.

They are starting points of classifications rather than checks of one row: a row gets its label, the right one and the
scores of all labels, and what is told of the whole is worked out from those. Each function gives what it tells as plain
JSON; `given` holds the labels of one key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from evaluators.catalogue.inputs import INPUTS
from evaluators.catalogue.parameters import Between, parameters_of
from evaluators.catalogue.registry import Entry
from evaluators.core import Measure
from evaluators.stats.confusion import Confusion, OneClass
from evaluators.stats.curves import THRESHOLDS
from evaluators.stats.labelled import Detailed, LabelScores, bucket, told

FAMILY: Final = "Classification"
UNDEFINED: Final = -1  # what a figure without a denominator is told as, where it is not left out
OneSided = Annotated[
    Literal["valor", "null"],
    "What is told where nothing can be counted: −1 (for an area 1), or nothing",
]
ACCURACY = Measure("accuracy", "Accuracy", "higher", 0.75)
OF_CLASSES = (
    Measure("precision", "Precision", "higher", 0.75),
    Measure("recall", "Recall", "higher", 0.75),
    Measure("f1", "F1", "higher", 0.75),
)
AREA = Measure("roc_auc", "ROC AUC", "higher", 0.75)
AVERAGE_PRECISION = Measure("average_precision", "Average precision", "higher")

_aggregates: dict[str, Aggregate] = {}


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate(Entry):
    """An entry that looks at all rows. `settings` is what it says of a classification's configuration."""

    settings: tuple[tuple[str, Any], ...] = ()


def aggregates() -> tuple[Aggregate, ...]:
    return tuple(_aggregates.values())


def _aggregate(
    title: str, inputs: str, *measures: Measure, tags: str = "VR OA", optional: str = "", **settings: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        key = function.__name__
        _aggregates[key] = Aggregate(
            key=key,
            title=title,
            family=FAMILY,
            summary=(function.__doc__ or "").partition("\n")[0],
            inputs=tuple(INPUTS[name] for name in inputs.split()),
            optional=frozenset(optional.split()),
            parameters=parameters_of(function),
            measures=measures,
            tags=tuple(tags.split()),
            compute=function,
            settings=tuple(settings.items()),
        )
        return function

    return register


@_aggregate(
    "Classification metrics",
    "predicted_label expected_label scores",
    ACCURACY,
    *OF_CLASSES,
    tags="VR CS OA",
    optional="scores",
)
def classification_metrics(
    found: Confusion,
    *,
    mode: Annotated[Literal["binary", "multiclass"], "Truth values, or labels that are declared"] = "multiclass",
    labels: Annotated[tuple[str, ...], "The labels that are told apart"],
    average: Annotated[Literal["macro", "weighted", "micro"], "How figures of labels become one"] = "macro",
    label_map: Annotated[tuple[str, ...], "Labels that are merged before counting, as old => new"] = (),
) -> dict[str, Any]:
    """Tells accuracy, precision, recall and F1, per label and for all of them, and which labels are confused."""
    whole = {"accuracy": found.accuracy, "precision": found.precision, "recall": found.recall, "f1": found.f1}
    matrix: dict[str, dict[str, int]] = {}
    for (expected, predicted), cases in found.counts.items():
        matrix.setdefault(expected, {})[predicted] = cases
    return {
        **{name: figure.value for name, figure in whole.items()},
        "per_class": {one.label: _one_class(one) for one in found.classes},
        "confusion_matrix": matrix,
    }


def _one_class(one: OneClass) -> dict[str, Any]:
    figures = {"precision": one.precision, "recall": one.recall, "f1": one.f1}
    told = {name: UNDEFINED if figure.value is None else figure.value for name, figure in figures.items()}
    return {**told, "support": one.support}


@_aggregate("ROC AUC", "expected_label scores", AREA, AVERAGE_PRECISION, figure=AREA.name)
def classification_roc_auc(given: LabelScores, *, undefined_as: OneSided = "valor") -> dict[str, Any]:
    """Tells how well scores tell each label from the rest over all thresholds: the area under its ROC curve."""
    areas = areas_of(given.labels, told(given).auc, undefined_as)
    return {"roc_auc": mean_of(areas), "per_class": areas}


def areas_of(labels: Sequence[str], areas: Any, undefined_as: str) -> dict[str, float | None]:
    one_sided = 1.0 if undefined_as == "valor" else None
    return {label: one_sided if math.isnan(area) else float(area) for label, area in zip(labels, areas, strict=True)}


def mean_of(areas: dict[str, float | None]) -> float | None:
    known = [area for area in areas.values() if area is not None]
    return math.fsum(known) / len(known) if known else None


@_aggregate("Precision-recall curve", "expected_label scores", AVERAGE_PRECISION, figure=AVERAGE_PRECISION.name)
def classification_pr_curve(given: LabelScores, *, undefined_as: OneSided = "valor") -> dict[str, Any]:
    """Tells precision, recall and F1 of each label at thresholds from 0.05 to 0.95, to choose one of them."""
    counted = told(given).detailed
    unknown = UNDEFINED if undefined_as == "valor" else None
    return {"curve": {label: _each(counted, place, _plain, unknown) for place, label in enumerate(given.labels)}}


def _plain(counted: Detailed, place: int, at: int, unknown: float | None) -> dict[str, Any]:
    tp, fp, tn = (int(counts[place][at]) for counts in (counted.tp, counted.fp, counted.tn))
    fn = int(counted.fn[place][at])
    precision, recall = _share(tp, tp + fp), _share(tp, tp + fn)
    f1 = 2 * precision * recall / (precision + recall) if precision and recall else None
    shares = {"precision": precision, "recall": recall, "f1_score": f1, "accuracy": _share(tp + tn, tp + fp + fn + tn)}
    known = {name: unknown if share is None else share for name, share in shares.items()}
    return {"tp": tp, "fp": fp, "fn": fn, "tn": tn, **known}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@_aggregate(
    "Detailed precision-recall curve", "expected_label scores", AVERAGE_PRECISION, figure=AVERAGE_PRECISION.name
)
def classification_detailed_pr_curve(
    given: LabelScores,
    ids: Sequence[Any] = (),
    *,
    max_examples: Annotated[int, "Cases that are named for each count", Between(0, 20)] = 1,
) -> dict[str, Any]:
    """Tells at each threshold which labels are mistaken for others and which are missed, with cases to read."""
    found = told(given)

    def observed(place: int, at: int, name: str) -> dict[str, Any]:
        count = int(getattr(found.detailed, name)[place][at])
        rows = bucket(given, place, THRESHOLDS[at], name, found.best) if count and max_examples else ()
        return {"count": count, "examples": [ids[row] if len(ids) else int(row) for row in rows[:max_examples]]}

    def detailed(counted: Detailed, place: int, at: int, _: Any) -> dict[str, Any]:
        fp, mistaken, missed = (observed(place, at, name) for name in ("fp", "mistaken", "missed"))
        return {
            "tp": {"total": int(counted.tp[place][at]), "observations": {"all": observed(place, at, "tp")}},
            "tn": {"total": int(counted.tn[place][at]), "observations": {"all": observed(place, at, "tn")}},
            "fp": {"total": fp["count"], "observations": {"misclassifications": fp}},
            "fn": {
                "total": mistaken["count"] + missed["count"],
                "observations": {"misclassifications": mistaken, "no_predictions": missed},
            },
        }

    labels = enumerate(given.labels)
    return {"curve": {label: _each(found.detailed, place, detailed, None) for place, label in labels}}


def _each(counted: Detailed, place: int, tell: Callable[..., Any], unknown: float | None) -> dict[str, Any]:
    return {f"{threshold:.2f}": tell(counted, place, at, unknown) for at, threshold in enumerate(counted.thresholds)}
