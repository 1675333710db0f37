"""A function's keyword-only parameters as settings: what they are called, what may be stored, what it is turned into.

The annotation of a parameter says everything: `Annotated[int, "What it is for", Between(0, 100)] = 50`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

REQUIRED: Final = object()  # the default of a parameter that must be given
MOST_CHARACTERS = 20_000
MOST_ITEMS = 1_000


@dataclass(frozen=True, slots=True)
class Between:
    """The least and the greatest number that may be given."""

    least: float
    most: float


class BadSetting(ValueError):
    """A value that a parameter does not take; the message is a sentence. `line` counts from 1."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


# The shapes that settings have: in forms, in JSON, in storage.
TEXT, TEXTS, FLAG, WHOLE, NUMBER, CHOICE, CHOICES, JSON = (
    "text", "texts", "flag", "whole", "number", "choice", "choices", "json",
)  # fmt: skip
_SHAPES: Final = {str: TEXT, bool: FLAG, int: WHOLE, float: NUMBER, tuple[str, ...]: TEXTS}
_SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    TEXT: {"type": "string"},
    TEXTS: {"type": "array", "items": {"type": "string"}},
    FLAG: {"type": "boolean"},
    WHOLE: {"type": "integer"},
    NUMBER: {"type": "number"},
    CHOICE: {"type": "string"},
    CHOICES: {"type": "array", "uniqueItems": True},
    JSON: {"type": "object"},
}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One setting. `ready` turns what is stored into what the function is given; it raises BadSetting."""

    name: str
    doc: str
    shape: str
    default: Any
    ready: Callable[[Any], Any]
    choices: tuple[str, ...] = ()
    between: Between | None = None

    @property
    def title(self) -> str:
        """The name as a label of a form."""
        words = self.name.removesuffix("_s").replace("_", " ").replace("json", "JSON")
        return words[0].upper() + words[1:]

    @property
    def is_required(self) -> bool:
        return self.default is REQUIRED

    @property
    def start(self) -> Any:
        """What a new configuration holds."""
        return "" if self.is_required else deepcopy(self.default)

    def read(self, stored: Any) -> Any:
        """What the function is given for a stored value. Raises BadSetting."""
        if fault := self.fault(stored):
            raise BadSetting(fault)
        return self.ready(stored)

    def fault(self, stored: Any) -> str:
        """What is wrong with the shape of a stored value, as a sentence; empty where nothing is."""
        checks: dict[str, Callable[[Any], str]] = {
            TEXT: _text_fault,
            TEXTS: _texts_fault,
            FLAG: lambda value: "" if isinstance(value, bool) else "This is either on or off.",
            WHOLE: self._number_fault,
            NUMBER: self._number_fault,
            CHOICE: lambda value: "" if value in self.choices else f"This is one of {', '.join(self.choices)}.",
            CHOICES: self._choices_fault,
            JSON: lambda value: "" if isinstance(value, dict) else "This is a JSON object, { … }.",
        }
        return checks[self.shape](stored)

    def _number_fault(self, value: Any) -> str:
        kinds = int if self.shape == WHOLE else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not math.isfinite(value):
            return "This is a whole number." if self.shape == WHOLE else "This is a number."
        if self.between and not self.between.least <= value <= self.between.most:
            return f"This is a number from {self.between.least:,g} to {self.between.most:,g}."
        return ""

    def _choices_fault(self, value: Any) -> str:
        chosen = isinstance(value, list | tuple) and len(set(map(str, value))) == len(value)
        return "" if chosen and set(value) <= set(self.choices) else f"Choose among {', '.join(self.choices)}."

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of what is stored."""
        schema: dict[str, Any] = {"title": self.title, "description": self.doc, **_SCHEMAS[self.shape]}
        if self.shape == CHOICE:
            schema["enum"] = list(self.choices)
        elif self.shape == CHOICES:
            schema["items"] = {"enum": list(self.choices)}
        if self.between:
            schema |= {"minimum": self.between.least, "maximum": self.between.most}
        return schema if self.is_required else schema | {"default": self.start}


def _text_fault(value: Any) -> str:
    if not isinstance(value, str):
        return "This is a text."
    return "" if len(value) <= MOST_CHARACTERS else f"A text here has at most {MOST_CHARACTERS:,} characters."


def _texts_fault(value: Any) -> str:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        return "This is a list of texts."
    if len(value) > MOST_ITEMS:
        return f"A list here has at most {MOST_ITEMS:,} texts."
    return _text_fault("".join(value))


def parameters_of(function: Callable[..., Any]) -> tuple[Parameter, ...]:
    """The settings of a function: its keyword-only parameters, in order. Raises TypeError for one without a doc."""
    hints = get_type_hints(function, include_extras=True)
    named = inspect.signature(function).parameters.values()
    return tuple(_parameter(one, hints[one.name]) for one in named if one.kind is one.KEYWORD_ONLY)


def _parameter(one: inspect.Parameter, hint: Any) -> Parameter:
    if get_origin(hint) is not Annotated:
        raise TypeError(f"{one.name} says nothing about itself; annotate it with a text.")
    type_, doc, *more = get_args(hint)
    shape, choices, ready = _shape_of(type_)
    default = REQUIRED if one.default is one.empty else one.default
    if isinstance(default, tuple):
        default = list(default)
    between = next((mark for mark in more if isinstance(mark, Between)), None)
    return Parameter(one.name, doc, shape, default, ready, choices, between)


def _shape_of(type_: Any) -> tuple[str, tuple[str, ...], Callable[[Any], Any]]:
    """(shape, choices, what makes a stored value ready) of an annotated type. A type of ours names its own shape."""
    if get_origin(type_) is Literal:
        return CHOICE, get_args(type_), str
    if get_origin(type_) is tuple and get_origin(get_args(type_)[0]) is Literal:
        return CHOICES, get_args(get_args(type_)[0]), tuple
    if type_ in _SHAPES:
        return _SHAPES[type_], (), tuple if _SHAPES[type_] == TEXTS else type_
    return type_.shape, (), type_
