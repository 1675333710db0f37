"""The form of kinds that answer on a scale: options or a range, a threshold, a direction, one result or two."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms

from evalstudio.projects.models import Project
from evalstudio.web.foreign import id_in, is_storable
from evaluators import scoring
from evaluators.core import COMPARISON, RESULT, FieldError
from evaluators.kinds.forms import UNSTORABLE, KindForm, PercentField, Typed, as_number, as_percent, percent
from evaluators.models import Scale
from evaluators.scoring import ENUM, PERCENTAGE, EnumScoring, Option, PercentageScoring, Scoring

if TYPE_CHECKING:
    from evaluators.kinds.base import Stored

OPTION_COLUMNS = ("option_label", "option_percentage", "option_description")


@dataclass(frozen=True, slots=True)
class TypedOption:
    """One row of the scale as typed; `row` is its place on the page."""

    row: int
    label: str
    percentage: str
    description: str

    def read(self) -> Option:
        """The option, its percentage NaN where what was typed is no number: the check of the scoring says so."""
        percentage = percent(self.percentage)
        return Option(
            " ".join(self.label.split()),
            math.nan if percentage is None else percentage,
            self.description.strip().replace("\r\n", "\n"),
        )


class OptionRows(forms.Widget):
    """Reads the rows of a scale from three lists of equal order; rows in which nothing is typed are left out."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[TypedOption]:
        columns = [data.getlist(column) for column in OPTION_COLUMNS]
        rows = enumerate(zip_longest(*columns, fillvalue=""))
        return [TypedOption(row, *texts) for row, texts in rows if any(text.strip() for text in texts)]


class ScaleField(forms.Field):
    """A scale of the project by its id, cleaned to the Scale; None for a scoring of the evaluator's own."""

    project: Project

    def offered(self) -> list[Scale]:
        """The scales that may be chosen, by name."""
        return list(Scale.objects.filter(project=self.project, archived_at=None).order_by("name"))

    def clean(self, value: Any) -> Scale | None:
        if not str(value or "").strip():
            return None
        scale = Scale.objects.filter(project=self.project, pk=id_in(str(value)) or 0).first()
        if scale is None:
            raise forms.ValidationError("This scale is not in this project any more. Choose another, or none.")
        return scale


class ScoringForm(forms.Form):
    """A scoring as typed: options in rows, or a number between two ends."""

    scoring = forms.ChoiceField(
        choices=[(ENUM, "Options"), (PERCENTAGE, "Number")], widget=forms.RadioSelect, initial=ENUM
    )
    option_label = forms.Field(label="Options", widget=OptionRows, required=False)
    range_low = forms.FloatField(label="Lowest", required=False)
    range_high = forms.FloatField(label="Highest", required=False)

    def typed_scoring(self) -> Scoring:
        """The scoring that was typed, right or wrong."""
        if self.cleaned_data["scoring"] == PERCENTAGE:
            low, high = self.cleaned_data["range_low"], self.cleaned_data["range_high"]
            return PercentageScoring(0.0 if low is None else low, 1.0 if high is None else high)
        return EnumScoring(tuple(typed.read() for typed in self.cleaned_data["option_label"]))

    def unstorable_options(self) -> list[FieldError]:
        rows = enumerate(self.cleaned_data["option_label"])
        return [
            FieldError(f"option_label.{index}", UNSTORABLE)
            for index, option in rows
            if not is_storable(option.label + option.description)
        ]

    def placed(self, fault: FieldError) -> FieldError:
        """A fault of the n-th option with the row of the page that the option was typed in."""
        name, _, index = fault.field.partition(".")
        if not index or not name.startswith("option_"):
            return fault
        rows = self.cleaned_data["option_label"]
        return replace(fault, field=f"{name}.{rows[int(index)].row}") if int(index) < len(rows) else fault


def typed_scoring(stored: Mapping[str, Any]) -> Typed:
    """A stored scoring as the fields somebody would have typed for it."""
    options: Iterable[Mapping[str, Any]] = stored.get("options", ())
    labels, percentages, descriptions = OPTION_COLUMNS
    return {
        "scoring": [str(stored["type"])],
        labels: [str(option["label"]) for option in options],
        percentages: [as_number(option["percentage"]) for option in options],
        descriptions: [str(option.get("description", "")) for option in options],
        "range_low": [as_number(stored["low"]) if "low" in stored else ""],
        "range_high": [as_number(stored["high"]) if "high" in stored else ""],
    }


class ScoredForm(ScoringForm, KindForm):
    """A kind's form with scale, threshold and direction. Subclasses give `own_config` and `own_typed`.

    A chosen scale of the project takes the place of the typed options; its scoring is frozen into the configuration.
    """

    blanks: ClassVar[dict[str, Any]] = {"scoring": ENUM, "direction": "higher", "runs_on": RESULT, "option_label": ()}

    scale = ScaleField(required=False)
    threshold = PercentField(label="Passes at, %", required=False)
    direction = forms.ChoiceField(
        label="Better is", choices=[("higher", "higher"), ("lower", "lower")], initial="higher"
    )
    runs_on = forms.ChoiceField(
        label="Runs on",
        choices=[(RESULT, "one result"), (COMPARISON, "a comparison of two results")],
        initial=RESULT,
        required=False,
    )

    def __init__(self, data: Any = None, *, project: Project, **more: Any) -> None:
        super().__init__(data, project=project, **more)
        self.fields["scale"].project = project  # type: ignore[attr-defined]

    def own_faults(self) -> list[FieldError]:
        return self.unstorable_options()

    def to_config(self) -> Stored:
        scale = self.cleaned_data.get("scale")
        return self.own_config() | {
            "scoring": scale.scoring if scale else self.typed_scoring().stored(),
            "scale": scale.frozen() if scale else None,
            "threshold": self.cleaned_data["threshold"],
            "direction": self.cleaned_data["direction"],
            "runs_on": self.cleaned_data["runs_on"] or RESULT,
        }

    def own_config(self) -> Stored:
        """The settings that this kind alone has."""
        raise NotImplementedError

    @classmethod
    def typed(cls, config: Mapping[str, Any]) -> Typed:
        scale = config.get("scale")
        return (
            cls.own_typed(config)
            | typed_scoring(config["scoring"])
            | {
                "scale": [str(scale["id"]) if scale else ""],
                "threshold": ["" if config["threshold"] is None else as_percent(config["threshold"])],
                "direction": [str(config["direction"])],
                "runs_on": [str(config["runs_on"])],
            }
        )

    @classmethod
    def own_typed(cls, config: Mapping[str, Any]) -> Typed:
        """The fields that this kind alone has."""
        raise NotImplementedError


def blank_scale(type_: str = ENUM) -> Stored:
    """The part of a blank configuration that belongs to the scale."""
    return {
        "scoring": {"type": ENUM, "options": []} if type_ == ENUM else PercentageScoring().stored(),
        "scale": None,
        "threshold": None,
        "direction": "higher",
        "runs_on": RESULT,
    }


def check_scale(config: Any) -> list[FieldError]:
    """What is wrong with scoring, threshold and direction of a configuration."""
    return [*scoring.check(config.scoring), *scoring.check_passing(config.passing)]
