"""The one driver: samples in, scores out. Runs, the test bench and whoever else judges go through here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaluators.core import Needs
from evaluators.models import EvaluatorVersion


@dataclass(frozen=True, slots=True)
class Work:
    """What an evaluator version does: its kind with the loaded configuration, ready to evaluate."""

    kind: Any
    config: Any
    needs: Needs


def work_of(version: EvaluatorVersion) -> Work:
    """The work of a stored version, of whatever schema it was saved under."""
    from evaluators.kinds import get_kind

    kind = get_kind(version.evaluator.kind)
    config = kind.load(version.config, version.config_schema)
    return Work(kind, config, kind.needs(config))
