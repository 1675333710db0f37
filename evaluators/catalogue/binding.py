"""Binding an entry's inputs to a sample: each to a path or a constant of the mapping, otherwise to its default path."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluators import paths
from evaluators.catalogue.inputs import Input, WrongType
from evaluators.catalogue.outcomes import Lacking
from evaluators.catalogue.registry import Entry
from evaluators.core import Sample
from evaluators.paths import MissingPath, Path


@dataclass(frozen=True, slots=True)
class Source:
    """Where an input comes from: a path, or a constant, which is kept as its JSON."""

    path: str = ""
    literal: str | None = None

    @classmethod
    def of(cls, stored: Any) -> Source:
        """The source of a stored mapping: a path, or `{"literal": …}`. Raises ValueError for other shapes."""
        if isinstance(stored, str):
            return cls(path=stored)
        if not isinstance(stored, Mapping) or set(stored) != {"literal"}:
            raise ValueError("An input is mapped to a path or to {“literal”: …}.")
        return cls(literal=json.dumps(stored["literal"], ensure_ascii=False))

    def stored(self) -> Any:
        return self.path if self.literal is None else {"literal": json.loads(self.literal)}


Mapped = Mapping[str, Source]


def source_of(one: Input, mapping: Mapped) -> Source:
    return mapping.get(one.key) or Source(path=one.path)


def binder(entry: Entry, mapping: Mapped) -> Callable[[Sample], list[Any]]:
    """A function that gives the entry's inputs of a sample, in order. It raises Lacking.

    Raises BadPath for a mapping that names no path and WrongType for a constant of the wrong type.
    """
    getters = [_getter(one, source_of(one, mapping), one.key not in entry.optional) for one in entry.inputs]

    def bind(sample: Sample) -> list[Any]:
        roots = sample.roots()
        return [get(roots) for get in getters]

    return bind


def _getter(one: Input, source: Source, required: bool) -> Callable[[Mapping[str, Any]], Any]:
    if source.literal is not None:
        constant = one.read(json.loads(source.literal))
        return lambda roots: constant
    path = paths.parse(source.path)

    def get(roots: Mapping[str, Any]) -> Any:
        value = _found(roots, path)
        if value is None:
            if required:
                raise Lacking(f"The case has no {path}.")
            return None
        try:
            return one.read(value)
        except WrongType as error:
            raise Lacking(f"{path} should be {error}.") from None

    return get


def _found(roots: Mapping[str, Any], path: Path) -> Any:
    try:
        return paths.resolve(roots, path)
    except MissingPath:
        return None
