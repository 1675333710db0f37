"""What cannot be compared, and why: outputs that only one side has, and evaluators that judged only one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evaluators.models import Evaluator
from experiments.models import Experiment, Output, Run

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

LISTED = 100  # keys of cases that only one side has
LOOKED_AT = 5000  # of those, to see which the other side answered in another wording


def sides(experiment: Experiment, baseline: Experiment, alone: Sequence[NDArray[int64]]) -> list[dict[str, Any]]:
    """For either side: how many outputs it has alone, the first of their keys, and how many of the keys both know.

    A key that both sides have alone belongs to a case whose content was edited between the versions of the data set.
    """
    keys = [_keys(outputs) if len(outputs) else [] for outputs in alone]
    edited = set(keys[0]) & set(keys[1])
    return [
        {
            "system": side.system.name,
            "count": len(outputs),
            "keys": listed[:LISTED],
            "more": max(0, len(outputs) - LISTED),
            "edited": sum(key in edited for key in listed),
        }
        for side, outputs, listed in zip((experiment, baseline), alone, keys, strict=True)
    ]


def _keys(outputs: NDArray[int64]) -> list[str]:
    found = Output.objects.filter(pk__in=sorted(outputs.tolist())[:LOOKED_AT])
    return list(found.order_by("pk").values_list("case__key", flat=True))


@dataclass(frozen=True, slots=True)
class Unmatched:
    """An evaluator whose versions judged only one side: the runs of the compared result and those of the baseline."""

    evaluator: Evaluator
    mine: list[Run]
    theirs: list[Run]

    @property
    def reason(self) -> str:
        return "different versions" if self.mine and self.theirs else "judged only one of the two"


def unmatched(alone: Sequence[Run], experiment: Experiment) -> list[Unmatched]:
    """The runs of one side alone, evaluator by evaluator."""
    found: dict[int, Unmatched] = {}
    for run in alone:
        evaluator = run.version.evaluator
        entry = found.setdefault(evaluator.pk, Unmatched(evaluator, [], []))
        (entry.mine if run.experiment_id == experiment.pk else entry.theirs).append(run)
    return list(found.values())
