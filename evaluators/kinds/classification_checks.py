"""What is wrong with the configuration of a classification, field by field."""

from __future__ import annotations

from evaluators import paths
from evaluators.core import FieldError
from evaluators.kinds.classification import (
    ACCURACY,
    BINARY,
    FIGURES,
    MOST_EXAMPLES,
    MOST_LABELS,
    MULTICLASS,
    ONE_SIDED,
    UNRECOGNISED,
    ClassificationConfig,
)
from evaluators.kinds.classification_work import short
from evaluators.paths import BadPath
from evaluators.stats.confusion import AVERAGES

LEAST_LABELS, MOST_LABEL_CHARACTERS = 2, 100


def check(config: ClassificationConfig) -> list[FieldError]:
    """Everything that is wrong; empty when it may be saved."""
    errors = _check_paths(config)
    if config.mode == MULTICLASS:
        errors += [*_check_labels(config), *_check_merged(config)]
    elif config.mode != BINARY:
        errors.append(FieldError("mode", "A classification is binary or multiclass."))
    if config.average not in AVERAGES:
        errors.append(FieldError("average", f"The average is {', '.join(AVERAGES)}."))
    if config.figure not in FIGURES:
        errors.append(FieldError("figure", f"The figure is {', '.join(FIGURES)}."))
    elif config.figure != ACCURACY and not config.scores:
        errors.append(FieldError("figure", "This needs scores: say where an output has them."))
    if config.undefined_as not in ONE_SIDED:
        errors.append(FieldError("undefined_as", f"This is {' or '.join(ONE_SIDED)}."))
    if type(config.max_examples) is not int or not 0 <= config.max_examples <= MOST_EXAMPLES:
        errors.append(FieldError("max_examples", f"This is a whole number from 0 to {MOST_EXAMPLES}."))
    return errors


def _check_paths(config: ClassificationConfig) -> list[FieldError]:
    """Labels may be left to the scores, where there are any. No two places may be the same."""
    asked = [("expected", config.expected)]
    if config.predicted.strip() or not config.scores.strip():
        asked.append(("predicted", config.predicted))
    if config.scores:
        asked.append(("scores", config.scores))
    errors = [error for field, path in asked for error in _check_path(field, path)]
    if not errors:
        expected = paths.parse(config.expected)
        if any(paths.parse(path) == expected for field, path in asked if field != "expected"):
            errors.append(FieldError("expected", "Both paths read the same place, so every case would be right."))
    return errors


def _check_path(field: str, path: str) -> list[FieldError]:
    if not path.strip():
        return [FieldError(field, "Say where a case has it, such as outputs.value.")]
    try:
        paths.parse(path)
    except BadPath as error:
        found = path.strip().partition(".")[0] if error.suggestion else None
        return [FieldError(field, str(error), suggestion=error.suggestion, found=found)]
    return []


def _check_labels(config: ClassificationConfig) -> list[FieldError]:
    labels = config.labels
    if not labels and config.scores:
        return []  # all that are expected or scored
    if not LEAST_LABELS <= len(labels) <= MOST_LABELS:
        return [FieldError("labels", f"Declare {LEAST_LABELS} to {MOST_LABELS} labels, one a line.")]
    errors = [
        FieldError("labels", f"“{short(label)}” is too long; a label has at most {MOST_LABEL_CHARACTERS} characters.")
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
        if config.labels and new not in config.labels:
            near = paths.nearest(new, config.labels)
            errors.append(FieldError("label_map", f"“{new}” is none of the labels.", suggestion=near, found=new))
    return errors
