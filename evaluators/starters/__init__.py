"""Starting points: complete configurations, written as files beside this one, that new evaluators may begin with."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from evaluators.kinds import get_kind


@dataclass(frozen=True, slots=True)
class Starter:
    """A starting point of a kind. `config` is a stored configuration of the kind's present schema, without a model."""

    key: str
    kind: str
    title: str
    summary: str
    config: dict[str, Any]


def _read(path: Path) -> Starter:
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    kind = content.pop("kind")
    title, summary = content.pop("title"), content.pop("summary")
    return Starter(path.stem, kind, title, summary, {**get_kind(kind).blank(), **content})


_ORDER: Final = ("factual_consistency", "user_satisfaction", "shorter_than_expected", "valid_json")
STARTERS: Final = {key: _read(Path(__file__).with_name(f"{key}.toml")) for key in _ORDER}
