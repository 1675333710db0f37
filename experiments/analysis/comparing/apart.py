"""What cannot be compared, and why: outputs that only one side has, and evaluators that judged only one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from evaluators.models import Evaluator
from experiments.models import Experiment, Output, Run

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

LISTED = 100  # keys of cases that only one side has
LOOKED_AT = 5000  # of those, to see which the other side answered in another wording


def sides(experiment: Experiment, baseline: Experiment, alone: Sequence[NDArray[int64]]) -> list[dict[str, Any]]:
    """For either side: how many outputs it has alone, the first of their keys, and how many are of edited cases.

    A key that both sides have alone for different cases is that of a case whose content was edited between the versions
    of the data set. `more` outputs have none of the listed keys.
    """
    mine, theirs = ([*_keys(outputs)] if len(outputs) else [] for outputs in alone)
    edited = {key for key, _ in {*mine} ^ {*theirs}} & {key for key, _ in mine} & {key for key, _ in theirs}
    told = []
    for side, outputs, found in zip((experiment, baseline), alone, (mine, theirs), strict=True):
        keys = [key for key, _ in found]
        listed = list(dict.fromkeys(keys))[:LISTED]
        told.append(
            {
                "system": side.system.name,
                "count": len(outputs),
                "keys": listed,
                "more": len(outputs) - sum(map(set(listed).__contains__, keys)),
                "edited": sum(map(edited.__contains__, keys)),
            }
        )
    return told


def _keys(outputs: NDArray[int64]) -> QuerySet[Output, tuple[str, int]]:
    """The keys of the first outputs with the ids of their cases."""
    found = Output.objects.filter(pk__in=sorted(outputs.tolist())[:LOOKED_AT])
    return found.order_by("pk").values_list("case__key", "case")


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
