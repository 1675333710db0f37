"""Starting points: complete configurations that new evaluators may begin with.

Those of heuristics and of people are files beside this one; the catalogue has the others.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluators import catalogue
from evaluators.catalogue import Entry
from evaluators.catalogue.classification import Aggregate, aggregates
from evaluators.catalogue.enumerated import ENUMERATED, Enumerated
from evaluators.core import COMPARISON
from evaluators.kinds import KINDS, get_kind
from evaluators.kinds.builtin import Builtin


@dataclass(frozen=True, slots=True)
class Starter:
    """A starting point of a kind. `config` is a stored configuration of the kind's present schema, without a model.

    `family` groups catalogue entries in the gallery. `reads` are paths that the kind cannot find in the configuration.
    """

    key: str
    kind: str
    title: str
    summary: str
    config: dict[str, Any]
    family: str = ""
    reads: tuple[str, ...] = ()

    @property
    def compares(self) -> bool:
        return self.config.get("runs_on") == COMPARISON


def _of_entry(entry: Enumerated) -> Starter:
    config = {**get_kind("judge").blank(), **entry.settings()}
    return Starter(entry.key, "judge", entry.title, entry.summary, config)


def _of_builtin(entry: Entry) -> Starter:
    return Starter(entry.key, "builtin", entry.title, entry.summary, Builtin().start(entry), entry.family)


def _of_aggregate(entry: Aggregate) -> Starter:
    """Of entries that look at scores: labels are whatever there are, and the highest score gives them."""
    several = {"mode": "multiclass", "predicted": "", "scores": "outputs.scores"} if entry.settings else {}
    config = {**get_kind("classification").blank(), **several, **dict(entry.settings)}
    return Starter(entry.key, "classification", entry.title, entry.summary, config)


def _read(path: Path) -> Starter:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    kind, title, summary = content.pop("kind"), content.pop("title"), content.pop("summary")
    reads = tuple(content.pop("reads", ()))
    return Starter(path.stem, kind, title, summary, {**get_kind(kind).blank(), **content}, reads=reads)


def _all() -> list[Starter]:
    files = sorted(Path(__file__).parent.glob("*.toml"))
    return [
        *map(_of_entry, ENUMERATED),
        *map(_of_builtin, catalogue.entries()),
        *map(_of_aggregate, aggregates()),
        *map(_read, files),
    ]


def starter_of(kind: str, key: str) -> Starter | None:
    """The starting point of a kind under a key, or its blank for comparisons under "comparison"; None for any other."""
    if key == COMPARISON and KINDS[kind].can_compare:
        return Starter(key, kind, "", "", {**KINDS[kind].blank(), "runs_on": COMPARISON})
    starter = STARTERS.get(key)
    return starter if starter and starter.kind == kind else None


STARTERS: Final = {starter.key: starter for starter in _all() if starter.kind in KINDS}
