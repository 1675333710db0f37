"""The form of a kind: page, API, import and command line make and check configurations through it alone."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, ClassVar, Self

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import QueryDict

from evalstudio.projects.models import Project
from evalstudio.web.foreign import is_storable
from evaluators.core import FieldError
from evaluators.scoring import share

if TYPE_CHECKING:
    from evaluators.kinds.base import Kind, Stored

Typed = dict[str, list[str]]  # a form as typed: field name → its values, in order
UNSTORABLE = "Leave out the characters that cannot be stored: NUL and halves of characters."


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
    """The fields of a configuration. Subclasses name their kind, add fields, and give `to_config` and `typed`."""

    kind: ClassVar[Kind[Any]]
    blanks: ClassVar[dict[str, Any]] = {}  # what a wrong field counts as; others "" for texts, else None
    of_comparisons: ClassVar[frozenset[str]] = frozenset()  # fields that mean nothing where one result is judged

    def __init__(self, data: Any = None, *, project: Project, **more: Any) -> None:
        super().__init__(data, **more)
        self.project = project
        self.loaded: Any = None  # the configuration once the form was cleaned, right or wrong
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
        self.loaded = self.kind.load(self.to_config(), self.kind.schema)
        faults = [fault for fault in self.kind.check(self.loaded) if fault.field not in wrong]
        self._faults = [self.placed(fault) for fault in faults + self.own_faults()]
        for fault in self._faults:
            self.add_error(fault.field if fault.field in self.fields else None, fault.message)
        return self.cleaned_data

    def own_faults(self) -> list[FieldError]:
        """What is wrong with what was typed and cannot be seen in the configuration."""
        return []

    def placed(self, fault: FieldError) -> FieldError:
        """A fault of a repeated row with the row of the page that it was typed in."""
        return fault

    def to_config(self) -> Stored:
        """The configuration to store."""
        raise NotImplementedError

    @classmethod
    def typed(cls, config: Mapping[str, Any]) -> Typed:
        """A stored configuration as the fields somebody would have typed for it.

        Raises KeyError, TypeError or ValueError for a configuration of another shape.
        """
        raise NotImplementedError

    @classmethod
    def from_config(cls, config: Mapping[str, Any], project: Project) -> Self:
        """The form as if this configuration had been typed into it."""
        data = QueryDict(mutable=True)
        for name, values in cls.typed(config).items():
            data.setlist(name, values)
        return cls(data, project=project)
