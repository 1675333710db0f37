"""The registry of built-in evaluators. An entry is one function, and everything about it derives from its signature:

its name is the key, the first line of its docstring the summary, its positional parameters the inputs that a mapping
binds (`inputs.py` names them; those with a default are optional), its keyword-only parameters the settings.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from evaluators.catalogue.inputs import INPUTS, Input
from evaluators.catalogue.parameters import Parameter, parameters_of
from evaluators.core import Measure

Settings = Mapping[str, Any]
Faults = Iterable[tuple[str, str]]  # (parameter, sentence)
TAGS: Final = {
    "SA": "NIST: safe",
    "SE": "NIST: secure and resilient",
    "PE": "NIST: privacy enhanced",
    "FA": "NIST: fair",
    "AT": "NIST: accountable and transparent",
    "VR": "NIST: valid and reliable",
    "CS": "SR 11-7: conceptual soundness",
    "OM": "SR 11-7: ongoing monitoring",
    "OA": "SR 11-7: outcomes analysis",
}

_entries: dict[str, Entry] = {}


def never(settings: Settings) -> bool:
    return False


def no_faults(settings: Settings) -> Faults:
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One built-in evaluator.

    `compute` gives a Found, or ForJudge where only a model can tell; it raises Lacking, NoVerdict, BadCase and
    TimeoutError.
    `faults` says what is wrong with settings that are right one by one. `may_ask` and `must_ask` tell whether a model
    is asked under these settings.
    """

    key: str
    title: str
    family: str
    summary: str
    inputs: tuple[Input, ...]
    optional: frozenset[str]
    parameters: tuple[Parameter, ...]
    measures: tuple[Measure, ...]
    tags: tuple[str, ...]
    compute: Callable[..., Any]
    faults: Callable[[Settings], Faults] = no_faults
    may_ask: Callable[[Settings], bool] = never
    must_ask: Callable[[Settings], bool] = never

    @property
    def primary(self) -> Measure:
        """The measure that is the score."""
        return self.measures[0]

    @property
    def is_async(self) -> bool:
        """Whether it waits for a network: samples of a batch are then computed at once."""
        return inspect.iscoroutinefunction(self.compute)

    @property
    def asks(self) -> bool:
        """Whether a model is asked under some settings."""
        return self.may_ask is not never

    def start(self) -> dict[str, Any]:
        """The settings that a new evaluator begins with."""
        return {parameter.name: parameter.start for parameter in self.parameters}


def entry(
    title: str, *, family: str, measures: tuple[Measure, ...], tags: str, **more: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a built-in evaluator. `tags` are the standards that it gives evidence for: "VR OA"."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        key = function.__name__
        if key in _entries:
            raise ValueError(f"There are two entries {key}.")
        named = inspect.signature(function).parameters.values()
        bound = [one for one in named if one.kind is not one.KEYWORD_ONLY]
        _entries[key] = Entry(
            key=key,
            title=title,
            family=family,
            summary=(inspect.getdoc(function) or "").partition("\n")[0],
            inputs=tuple(INPUTS[one.name] for one in bound),
            optional=frozenset(one.name for one in bound if one.default is not one.empty),
            parameters=parameters_of(function),
            measures=measures,
            tags=tuple(tags.split()),
            compute=function,
            **more,
        )
        return function

    return register


def get(key: str) -> Entry:
    """The entry with this key. Raises KeyError."""
    return _entries[key]


def entries() -> tuple[Entry, ...]:
    """All entries, family by family."""
    return tuple(_entries.values())


def families() -> dict[str, list[Entry]]:
    """The entries by the title of their family."""
    found: dict[str, list[Entry]] = {}
    for one in entries():
        found.setdefault(one.family, []).append(one)
    return found
