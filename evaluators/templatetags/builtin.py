"""The settings of a catalogue entry as rows of a form or of a page: `{% builtin_form typed faults as built %}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django import template
from django.http import QueryDict

from evaluators import catalogue
from evaluators.catalogue import Entry
from evaluators.catalogue.binding import Source, source_of
from evaluators.catalogue.inputs import Input
from evaluators.catalogue.parameters import Parameter
from evaluators.core import FieldError
from evaluators.kinds.builtin_checks import INPUT, PARAMETER
from evaluators.kinds.builtin_form import entry_of, typed_setting, typed_source

register = template.Library()


@dataclass(frozen=True, slots=True)
class Row:
    """A parameter or an input with what is typed for it and what is wrong with it."""

    name: str
    about: Parameter | Input
    values: list[str]
    faults: list[FieldError]
    is_required: bool

    @property
    def value(self) -> str:
        return self.values[-1] if self.values else ""


@dataclass(frozen=True, slots=True)
class Built:
    """An entry with its rows; without one, the families to choose from."""

    entry: Entry | None
    parameters: list[Row] = field(default_factory=list)
    inputs: list[Row] = field(default_factory=list)

    @property
    def families(self) -> list[tuple[str, list[Entry]]]:
        return list(catalogue.families().items())


@register.simple_tag
def builtin_form(typed: QueryDict, faults: Mapping[str, list[FieldError]]) -> Built:
    """What was typed, row by row."""

    def row(name: str, about: Parameter | Input, is_required: bool) -> Row:
        return Row(name, about, typed.getlist(name), list(faults.get(name, [])), is_required)

    entry = entry_of(typed)
    if entry is None:
        return Built(None)
    parameters = [row(PARAMETER + one.name, one, one.is_required) for one in entry.parameters]
    inputs = [row(INPUT + one.key, one, one.key not in entry.optional) for one in entry.inputs]
    return Built(entry, parameters, inputs)


@register.simple_tag
def builtin_shown(stored: Mapping[str, Any]) -> Built:
    """A stored configuration, row by row; of inputs that are not mapped the default path."""
    entry = entry_of(stored)
    if entry is None:
        return Built(None)
    mapping = {key: Source.of(source) for key, source in stored["mapping"].items()}
    parameters = [
        Row(one.name, one, typed_setting(one, stored["parameters"].get(one.name, one.start)), [], one.is_required)
        for one in entry.parameters
    ]
    inputs = [
        Row(one.key, one, [typed_source(one, source_of(one, mapping).stored())], [], one.key not in entry.optional)
        for one in entry.inputs
    ]
    return Built(entry, parameters, inputs)
