"""The classification: the label given and the label expected, whether they agree, and the scores of all labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluators.core import FieldError, Measure, Needs, Sample, Score
from evaluators.kinds.base import BadConfig, Stored
from evaluators.scoring import EnumScoring, Option, Passing, Scoring
from evaluators.stats.confusion import AREA, AVERAGE_PRECISION, MACRO, Classes
from evaluators.tools import Tools

if TYPE_CHECKING:
    from evaluators.framing import Question
    from evaluators.kinds.classification_form import ClassificationForm

BINARY = "binary"
MULTICLASS = "multiclass"
TRUTHS = ("true", "false")
UNRECOGNISED = "(unrecognised)"
ACCURACY = "accuracy"
FIGURES = (ACCURACY, AREA, AVERAGE_PRECISION)  # what the figure of a run may be
AS_ONE, LEFT_OUT = ONE_SIDED = ("valor", "null")  # the area of a label that all cases have, or none
MOST_LABELS, MOST_EXAMPLES = 100, 20
ADDED = {"scores": "", "label_key": "", "figure": ACCURACY, "undefined_as": AS_ONE, "max_examples": 1}  # by schema 2


@dataclass(frozen=True, slots=True)
class ClassificationConfig:
    """Places of a case, read as truth values, as labels that were declared, or as whatever labels there are.

    `merged` are pairs of an old and a new label. `scores` is where an output has a number for each label, or one for
    true; empty where it has none. `predicted` may be empty where there are scores: the highest then gives the label.
    `label_key` says which of several labels is meant, where cases have labels with keys.
    """

    mode: str
    predicted: str
    expected: str
    labels: tuple[str, ...]
    merged: tuple[tuple[str, str], ...]
    average: str
    scores: str = ""
    label_key: str = ""
    figure: str = ACCURACY
    undefined_as: str = AS_ONE
    max_examples: int = 1

    @property
    def scoring(self) -> Scoring:
        return EnumScoring((Option("right", 100), Option("wrong", 0)))

    @property
    def passing(self) -> Passing:
        return Passing(1.0)

    @property
    def classes(self) -> Classes:
        """What confusion tables tell apart, and what is told of a run as a whole."""
        figure = "" if self.figure == ACCURACY else self.figure
        more = {"has_scores": bool(self.scores), "figure": figure, "sided_is_one": self.undefined_as == AS_ONE}
        if self.mode == BINARY:
            return Classes(TRUTHS, positive="true", **more)  # type: ignore[arg-type]
        return Classes(self.labels, self.average, **more)  # type: ignore[arg-type]


class Classification:
    """A computing kind."""

    key = "classification"
    title = "Classification"
    summary = "Compares a predicted label with the expected one, for accuracy, a confusion matrix, F1 and curves."
    icon = "classes"
    schema = 2
    can_compare = False

    @property
    def form(self) -> type[ClassificationForm]:
        from evaluators.kinds.classification_form import ClassificationForm

        return ClassificationForm

    def blank(self) -> Stored:
        return {
            "mode": BINARY,
            "labels": [],
            "label_map": {},
            "average": MACRO,
            "predicted": "outputs.value",
            "expected": "expectedOutputs.value",
            **ADDED,
        }

    def upgraded(self, stored: Mapping[str, Any], schema: int) -> Stored:
        if schema == 1:
            return {**ADDED, **stored}
        if schema != self.schema:
            raise BadConfig(f"There is no schema {schema} of this kind.")
        return dict(stored)

    def load(self, stored: Mapping[str, Any], schema: int) -> ClassificationConfig:
        config = self.upgraded(stored, schema)
        try:
            return ClassificationConfig(
                mode=config["mode"],
                predicted=config["predicted"],
                expected=config["expected"],
                labels=tuple(map(str, config["labels"])),
                merged=tuple((str(old), str(new)) for old, new in config["label_map"].items()),
                average=config["average"],
                **{name: config[name] for name in ADDED},
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise BadConfig(f"This is not the configuration of a classification: {error!r}.") from error

    def needs(self, config: ClassificationConfig) -> Needs:
        return Needs("cpu")

    def measures(self, config: ClassificationConfig) -> tuple[Measure, ...]:
        return ()

    def check(self, config: ClassificationConfig) -> list[FieldError]:
        from evaluators.kinds.classification_checks import check

        return check(config)

    def paths(self, config: ClassificationConfig) -> tuple[str, ...]:
        return tuple(filter(None, (config.predicted, config.scores, config.expected)))

    def message(self, config: ClassificationConfig, sample: Sample) -> Question | None:
        return None

    def prepare(self, config: ClassificationConfig, tools: Tools) -> Callable[[Sequence[Sample]], list[Score]]:
        from evaluators.kinds.classification_work import scorer

        score = scorer(config)
        return lambda samples: [score(sample.roots()) for sample in samples]
