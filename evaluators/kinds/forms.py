"""The form that all kinds share: a scale, a threshold, a direction. Page, API and command line validate through it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import QueryDict

from evalstudio.projects.models import Project
from evalstudio.web.foreign import is_storable
from evaluators.core import FieldError
from evaluators.scoring import ENUM, PERCENTAGE, EnumScoring, Option, PercentageScoring, share

if TYPE_CHECKING:
    from evaluators.kinds.base import Kind, Stored

Typed = dict[str, list[str]]  # a form as typed: field name → its values, in order

OPTION_COLUMNS = ("option_label", "option_percentage", "option_description")
UNSTORABLE = "Leave out the characters that cannot be stored: NUL and halves of characters."


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


class PercentField(forms.CharField):
    """A percentage such as "60" or "60.5 %", cleaned to a share in [0, 1] or None."""

    def clean(self, value: Any) -> float | None:
        text = super().clean(value).strip()
        if not text:
            return None
        number = percent(text)
        if number is None:
            raise forms.ValidationError("This is a percentage such as 60 or 60.5.")
        return share(number)


def percent(text: str) -> float | None:
    """The number in "60", "60.5" or "60.5 %"; None for anything else."""
    try:
        number = Decimal(text.strip().removesuffix("%").strip())
    except InvalidOperation:
        return None
    return float(number) if number.is_finite() else None


def as_percent(value: float) -> str:
    """A share as the percentage somebody would type: 0.605 as "60.5"."""
    return _plain_number(Decimal(str(value)) * 100)


def as_number(value: float) -> str:
    """A number as somebody would type it: 100.0 as "100"."""
    return _plain_number(Decimal(str(value)))


def _plain_number(number: Decimal) -> str:
    return f"{number:f}".rstrip("0").rstrip(".") if "." in f"{number:f}" else f"{number:f}"


class KindForm(forms.Form):
    """The fields of a configuration. Subclasses name their kind, add fields, and give `own_config` and `own_typed`."""

    kind: ClassVar[Kind[Any]]
    blanks: ClassVar[dict[str, Any]] = {"scoring": ENUM, "direction": "higher"}  # others are None when blank

    scoring = forms.ChoiceField(
        choices=[(ENUM, "Options"), (PERCENTAGE, "Percentage")], widget=forms.RadioSelect, initial=ENUM
    )
    option_label = forms.Field(label="Options", widget=OptionRows, required=False)
    threshold = PercentField(label="Passes at, %", required=False)
    direction = forms.ChoiceField(
        label="Better is", choices=[("higher", "higher"), ("lower", "lower")], initial="higher"
    )

    def __init__(self, data: Any = None, *, project: Project, **more: Any) -> None:
        super().__init__(data, **more)
        self.project = project
        self._faults: list[FieldError] = []

    @property
    def field_errors(self) -> list[FieldError]:
        """Everything that is wrong, field by field, with lines and nearest words where they are known."""
        reported = {(fault.field, fault.message) for fault in self._faults}
        plain = [
            FieldError(name, message)
            for name, messages in self.errors.items()
            for message in map(str, messages)
            if (name, message) not in reported and name != NON_FIELD_ERRORS
        ]
        return plain + self._faults

    def clean(self) -> dict[str, Any]:
        """Ask the kind what is wrong with the whole. A field that is wrong by itself counts as blank for that."""
        for name, value in self.cleaned_data.items():
            if isinstance(value, str) and not is_storable(value):
                self.errors.setdefault(name, self.error_class([UNSTORABLE]))
        wrong = set(self.errors)
        for name in wrong:
            self.cleaned_data[name] = self.blanks.get(name, "" if type(self.fields[name]) is forms.CharField else None)
        config = self.kind.load(self.to_config(), self.kind.schema)
        faults = [fault for fault in self.kind.check(config) if fault.field not in wrong]
        faults += self._unstorable_options()
        self._faults = [self._placed(fault) for fault in faults]
        for fault in self._faults:
            self.add_error(fault.field if fault.field in self.fields else None, fault.message)
        return self.cleaned_data

    def _placed(self, fault: FieldError) -> FieldError:
        """A fault of the n-th option with the row of the page that the option was typed in."""
        name, _, index = fault.field.partition(".")
        if not index:
            return fault
        row = self.cleaned_data["option_label"][int(index)].row
        return FieldError(f"{name}.{row}", fault.message, fault.line, fault.suggestion, fault.found)

    def _unstorable_options(self) -> list[FieldError]:
        rows = enumerate(self.cleaned_data["option_label"])
        return [
            FieldError(f"option_label.{index}", UNSTORABLE)
            for index, option in rows
            if not is_storable(option.label + option.description)
        ]

    def to_config(self) -> Stored:
        """The configuration to store."""
        return self.own_config() | {
            "scoring": self._scoring().stored(),
            "threshold": self.cleaned_data["threshold"],
            "direction": self.cleaned_data["direction"],
        }

    def _scoring(self) -> EnumScoring | PercentageScoring:
        if self.cleaned_data["scoring"] == PERCENTAGE:
            return PercentageScoring()
        return EnumScoring(tuple(typed.read() for typed in self.cleaned_data["option_label"]))

    def own_config(self) -> Stored:
        """The settings that this kind alone has."""
        raise NotImplementedError

    @classmethod
    def typed(cls, config: Mapping[str, Any]) -> Typed:
        """A stored configuration as the fields somebody would have typed for it.

        Raises KeyError, TypeError or ValueError for a configuration of another shape.
        """
        scoring = config["scoring"]
        options: Iterable[Mapping[str, Any]] = scoring.get("options", ())
        labels, percentages, descriptions = OPTION_COLUMNS
        return cls.own_typed(config) | {
            "scoring": [str(scoring["type"])],
            labels: [str(option["label"]) for option in options],
            percentages: [as_number(option["percentage"]) for option in options],
            descriptions: [str(option.get("description", "")) for option in options],
            "threshold": ["" if config["threshold"] is None else as_percent(config["threshold"])],
            "direction": [str(config["direction"])],
        }

    @classmethod
    def own_typed(cls, config: Mapping[str, Any]) -> Typed:
        """The fields that this kind alone has."""
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: Mapping[str, Any], project: Project) -> Self:
        """The form as if this configuration had been typed into it."""
        data = QueryDict(mutable=True)
        for name, values in cls.typed(config).items():
            data.setlist(name, values)
        return cls(data, project=project)
