"""The form of classifications: what people type, and what is stored of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms

from evaluators.core import FieldError
from evaluators.kinds.base import Stored
from evaluators.kinds.classification import (
    ACCURACY,
    ADDED,
    AS_ONE,
    BINARY,
    LEFT_OUT,
    MULTICLASS,
    Classification,
)
from evaluators.kinds.forms import KindForm, Typed
from evaluators.stats.confusion import AREA, AVERAGE_PRECISION, MACRO, MICRO, WEIGHTED

ARROW = "=>"
OF_ALL = [
    (MACRO, "the plain mean over labels (macro)"),
    (WEIGHTED, "weighted by the cases of each label"),
    (MICRO, "counted over all cases (micro)"),
]
MODES = [(BINARY, "True or false"), (MULTICLASS, "Several labels")]
FIGURES = [(ACCURACY, "accuracy"), (AREA, "area under the ROC curve"), (AVERAGE_PRECISION, "average precision")]
SIDES = [(AS_ONE, "counts as 1"), (LEFT_OUT, "is left out")]


class ClassificationForm(KindForm):
    """The settings of a classification as people type them."""

    kind = Classification()
    blanks = {"mode": BINARY, "average": MACRO, "figure": ACCURACY, "undefined_as": AS_ONE, "max_examples": 1}

    mode = forms.ChoiceField(choices=[(BINARY, "True or false"), (MULTICLASS, "Several labels")], initial=BINARY)
    labels = forms.CharField(widget=forms.Textarea(attrs={"rows": 6}), required=False)
    label_map = forms.CharField(label="Merge labels", widget=forms.Textarea(attrs={"rows": 3}), required=False)
    average = forms.ChoiceField(choices=OF_ALL, initial=MACRO, required=False)
    predicted = forms.CharField(label="Predicted label", max_length=500, required=False)
    expected = forms.CharField(label="Expected label", max_length=500, required=False)
    scores = forms.CharField(label="Scores of labels", max_length=500, required=False)
    label_key = forms.CharField(label="Key of the label", max_length=100, required=False)
    figure = forms.ChoiceField(choices=FIGURES, initial=ACCURACY, required=False)
    undefined_as = forms.ChoiceField(choices=SIDES, initial=AS_ONE, required=False)
    max_examples = forms.IntegerField(label="Examples of each error", required=False)

    def to_config(self) -> Stored:
        cleaned = self.cleaned_data
        return {
            "mode": cleaned["mode"],
            "labels": _lines(cleaned["labels"]) if cleaned["mode"] == MULTICLASS else [],
            "label_map": dict(_pair(line) for line in _lines(cleaned["label_map"]) if all(_pair(line))),
            "average": cleaned["average"] or MACRO,
            "predicted": cleaned["predicted"],
            "expected": cleaned["expected"],
            "scores": cleaned["scores"],
            "label_key": cleaned["label_key"],
            "figure": cleaned["figure"] or ACCURACY,
            "undefined_as": cleaned["undefined_as"] or AS_ONE,
            "max_examples": 1 if cleaned["max_examples"] is None else cleaned["max_examples"],
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
            **{name: [str(config[name])] for name in ("expected", *ADDED)},
        }


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _pair(line: str) -> tuple[str, str]:
    old, _, new = line.partition(ARROW)
    return old.strip(), new.strip()
