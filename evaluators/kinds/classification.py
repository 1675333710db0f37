"""The classification: two places of a case, the label given and the label expected, and whether they agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms

from evaluators import paths
from evaluators.core import FieldError, Measure, Needs, Sample, Score, Status, Why
from evaluators.kinds.base import BadConfig, Stored
from evaluators.kinds.forms import KindForm, Typed
from evaluators.paths import BadPath, MissingPath
from evaluators.scoring import EnumScoring, Option, Passing, Scoring
from evaluators.stats.confusion import AVERAGES, MACRO, MICRO, WEIGHTED, Classes
from evaluators.stringified import UNDEFINED, stringified
from evaluators.tools import Tools

if TYPE_CHECKING:
    from evaluators.framing import Question

BINARY = "binary"
MULTICLASS = "multiclass"
FALSEY = frozenset(("false", "False", "f", "F", "0", UNDEFINED, "null", ""))  # of a binary label; all else is true
TRUTHS = ("true", "false")
UNRECOGNISED = "(unrecognised)"
LEAST_LABELS, MOST_LABELS, MOST_LABEL_CHARACTERS = 2, 100, 100
ARROW = "=>"
OF_ALL = [
    (MACRO, "the plain mean over labels (macro)"),
    (WEIGHTED, "weighted by the cases of each label"),
    (MICRO, "counted over all cases (micro)"),
]


@dataclass(frozen=True, slots=True)
class ClassificationConfig:
    """Two paths, read as truth values or as labels that were declared; `merged` are pairs of an old and a new label."""

    mode: str
    predicted: str
    expected: str
    labels: tuple[str, ...]
    merged: tuple[tuple[str, str], ...]
    average: str

    @property
    def scoring(self) -> Scoring:
        return EnumScoring((Option("right", 100), Option("wrong", 0)))

    @property
    def passing(self) -> Passing:
        return Passing(1.0)

    @property
    def classes(self) -> Classes:
        """What confusion tables tell apart."""
        if self.mode == BINARY:
            return Classes(TRUTHS, positive="true")
        return Classes(self.labels, self.average)


class Classification:
    """A computing kind."""

    key = "classification"
    title = "Classification"
    summary = "Compares a predicted label with the expected one, for accuracy, a confusion matrix and F1."
    icon = "classes"
    schema = 1
    can_compare = False

    @property
    def form(self) -> type[ClassificationForm]:
        return ClassificationForm

    def blank(self) -> Stored:
        return {
            "mode": BINARY,
            "labels": [],
            "label_map": {},
            "average": MACRO,
            "predicted": "outputs.value",
            "expected": "expectedOutputs.value",
        }

    def upgraded(self, stored: Mapping[str, Any], schema: int) -> Stored:
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
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise BadConfig(f"This is not the configuration of a classification: {error!r}.") from error

    def needs(self, config: ClassificationConfig) -> Needs:
        return Needs("cpu")

    def measures(self, config: ClassificationConfig) -> tuple[Measure, ...]:
        return ()

    def check(self, config: ClassificationConfig) -> list[FieldError]:
        errors = [*_check_path("predicted", config.predicted), *_check_path("expected", config.expected)]
        if not errors and paths.parse(config.predicted) == paths.parse(config.expected):
            errors.append(FieldError("expected", "Both paths read the same place, so every case would be right."))
        if config.mode == MULTICLASS:
            errors += [*_check_labels(config.labels), *_check_merged(config)]
        elif config.mode != BINARY:
            errors.append(FieldError("mode", "A classification is binary or multiclass."))
        if config.average not in AVERAGES:
            errors.append(FieldError("average", f"The average is {', '.join(AVERAGES)}."))
        return errors

    def paths(self, config: ClassificationConfig) -> tuple[str, ...]:
        return (config.predicted, config.expected)

    def message(self, config: ClassificationConfig, sample: Sample) -> Question | None:
        return None

    def prepare(self, config: ClassificationConfig, tools: Tools) -> Callable[[Sequence[Sample]], list[Score]]:
        judged = _binary if config.mode == BINARY else _multiclass
        merged = dict(config.merged)
        return lambda samples: [judged(config, merged, sample.roots()) for sample in samples]


Roots = Mapping[str, Any]


def _binary(config: ClassificationConfig, merged: Mapping[str, str], roots: Roots) -> Score:
    predicted, expected = (_text(roots, path, merged) for path in (config.predicted, config.expected))
    return _agreement(_truth(predicted), _truth(expected))


def _truth(text: str | None) -> str:
    return "false" if (UNDEFINED if text is None else text) in FALSEY else "true"


def _multiclass(config: ClassificationConfig, merged: Mapping[str, str], roots: Roots) -> Score:
    expected = _text(roots, config.expected, merged)
    if expected is None:
        return Score.unscored(Why.MISSING, f"The case has no {config.expected}, so no label is expected.")
    if expected not in config.labels:
        return Score.unscored(Why.OFF_SCALE, f"The expected label “{_short(expected)}” is none of the declared ones.")
    predicted = _text(roots, config.predicted, merged)
    if predicted is None:
        return Score.unscored(Why.MISSING, f"The case has no {config.predicted}.", expected=expected)
    if predicted not in config.labels:
        return _agreement(UNRECOGNISED, expected, f"“{_short(predicted)}” is none of the declared labels.")
    return _agreement(predicted, expected)


def _agreement(predicted: str, expected: str, reason: str = "") -> Score:
    is_right = predicted == expected
    return Score(
        Status.SCORED, value=float(is_right), label=predicted, expected=expected, passed=is_right, reason=reason
    )


def _text(roots: Roots, path: str, merged: Mapping[str, str]) -> str | None:
    """The label at the path as text, merged with others where that is asked for; None where the case has none."""
    try:
        text = stringified(paths.resolve(roots, path))
    except MissingPath:
        return None
    return merged.get(text, text)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"


# Checks


def _check_path(field: str, path: str) -> list[FieldError]:
    if not path.strip():
        return [FieldError(field, "Say where a case has it, such as outputs.value.")]
    try:
        paths.parse(path)
    except BadPath as error:
        found = path.strip().partition(".")[0] if error.suggestion else None
        return [FieldError(field, str(error), suggestion=error.suggestion, found=found)]
    return []


def _check_labels(labels: tuple[str, ...]) -> list[FieldError]:
    if not LEAST_LABELS <= len(labels) <= MOST_LABELS:
        return [FieldError("labels", f"Declare {LEAST_LABELS} to {MOST_LABELS} labels, one a line.")]
    errors = [
        FieldError("labels", f"“{_short(label)}” is too long; a label has at most {MOST_LABEL_CHARACTERS} characters.")
        for label in labels
        if len(label) > MOST_LABEL_CHARACTERS
    ]
    twice = dict.fromkeys(label for label in labels if labels.count(label) > 1)
    errors += [FieldError("labels", f"“{label}” is listed twice.") for label in twice]
    if UNRECOGNISED in labels:
        errors.append(FieldError("labels", f"{UNRECOGNISED} is the name for labels that are not declared."))
    return errors


def _check_merged(config: ClassificationConfig) -> list[FieldError]:
    errors = []
    for old, new in config.merged:
        if old in config.labels:
            errors.append(FieldError("label_map", f"“{old}” is merged into another, so it cannot be a label too."))
        if new not in config.labels:
            near = paths.nearest(new, config.labels)
            errors.append(FieldError("label_map", f"“{new}” is none of the labels.", suggestion=near, found=new))
    return errors


class ClassificationForm(KindForm):
    """The settings of a classification as people type them."""

    kind = Classification()
    blanks = {"mode": BINARY, "average": MACRO}

    mode = forms.ChoiceField(choices=[(BINARY, "True or false"), (MULTICLASS, "Several labels")], initial=BINARY)
    labels = forms.CharField(widget=forms.Textarea(attrs={"rows": 6}), required=False)
    label_map = forms.CharField(label="Merge labels", widget=forms.Textarea(attrs={"rows": 3}), required=False)
    average = forms.ChoiceField(choices=OF_ALL, initial=MACRO, required=False)
    predicted = forms.CharField(label="Predicted label", max_length=500, required=False)
    expected = forms.CharField(label="Expected label", max_length=500, required=False)

    def to_config(self) -> Stored:
        cleaned = self.cleaned_data
        return {
            "mode": cleaned["mode"],
            "labels": _lines(cleaned["labels"]) if cleaned["mode"] == MULTICLASS else [],
            "label_map": dict(_pair(line) for line in _lines(cleaned["label_map"]) if all(_pair(line))),
            "average": cleaned["average"] or MACRO,
            "predicted": cleaned["predicted"],
            "expected": cleaned["expected"],
        }

    def own_faults(self) -> list[FieldError]:
        """Lines of merges that say nothing, and labels that go two ways."""
        faults: list[FieldError] = []
        seen: dict[str, str] = {}
        for number, line in enumerate(self.cleaned_data["label_map"].splitlines(), 1):
            old, new = _pair(line)
            if line.strip() and not (old and new):
                faults.append(FieldError("label_map", f"Write “old {ARROW} new”.", number))
            elif old and seen.setdefault(old, new) != new:
                faults.append(FieldError("label_map", f"“{old}” is merged into “{seen[old]}” above.", number))
        return faults

    @classmethod
    def typed(cls, config: Mapping[str, Any]) -> Typed:
        return {
            "mode": [str(config["mode"])],
            "labels": ["\n".join(config["labels"])],
            "label_map": ["\n".join(f"{old} {ARROW} {new}" for old, new in config["label_map"].items())],
            "average": [str(config["average"])],
            "predicted": [str(config["predicted"])],
            "expected": [str(config["expected"])],
        }


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _pair(line: str) -> tuple[str, str]:
    old, _, new = line.partition(ARROW)
    return old.strip(), new.strip()
