"""The kinds of evaluators, by the key under which they are stored. A new kind is one file and one line here."""

from typing import Any

from evaluators.kinds.base import BadConfig, CallingKind, ComputingKind, Kind
from evaluators.kinds.builtin import Builtin
from evaluators.kinds.classification import Classification
from evaluators.kinds.external import External
from evaluators.kinds.heuristic import Heuristic
from evaluators.kinds.human import Human
from evaluators.kinds.judge import Judge

KINDS: dict[str, Kind[Any]] = {
    kind.key: kind for kind in (Judge(), Heuristic(), Human(), Classification(), Builtin(), External())
}


def get_kind(key: str) -> Kind[Any]:
    """The kind with this key. Raises KeyError with the keys that there are."""
    try:
        return KINDS[key]
    except KeyError:
        raise KeyError(f"There is no kind “{key}”; there are {', '.join(KINDS)}.") from None


__all__ = ["KINDS", "BadConfig", "CallingKind", "ComputingKind", "Kind", "get_kind"]
