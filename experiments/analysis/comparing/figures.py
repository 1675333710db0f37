"""What each evaluator says of the difference between two results, with the verdict that holds when many are asked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from evalstudio.web.numbers import NBSP, count
from evaluators.stats.correction import holm
from evaluators.stats.estimate import CONFIDENCE, Estimate, estimate
from evaluators.stats.paired import BETTER, CANNOT_TELL, WORSE, Difference, difference_of
from evaluators.stats.planning import cases_to_tell
from experiments.analysis.comparing.arrays import EQUAL, KEYS, Pairs, Told, moments
from experiments.analysis.comparing.listing import first

if TYPE_CHECKING:
    from numpy import bool_, float32, float64
    from numpy.typing import NDArray

ENOUGH_COVERAGE = 0.8
STEPS = 20  # bars on either side of none of the distribution of gains
REACHES = (0.05, 0.1, 0.25, 0.5, 1.0)  # how far it reaches to either side
FIRST = 3  # cases that are named beside a verdict
LACKS = {"failed": 2.0, "unscored": 3.0, "awaiting": 4.0, "pending": 5.0, "unasked": 6.0}
assert tuple(LACKS.values()) == tuple(KEYS.values())


@dataclass(frozen=True, slots=True)
class Figure:
    """What one evaluator says of all pairs. A gain is positive where the compared result is the better one.

    `difference` is compared minus baseline in the evaluator's own unit. For a comparative evaluator, which has no
    figure of either side, it is that of its verdicts: 1 where the compared result won, −1 where the baseline did.
    """

    difference: Difference
    baseline: Estimate | None
    compared: Estimate | None
    counts: dict[str, int]  # all, regressed, improved, same, those of LACKS, flips, and scores without a partner
    direction: str = "higher"
    reach: float = 1.0  # of `steps`, to either side
    steps: list[int] = field(default_factory=list)  # pairs by gain, from −reach to reach
    worst: list[int] = field(default_factory=list)  # ids of the first outputs that regressed
    best: list[int] = field(default_factory=list)
    adjusted_p: float | None = None
    judged: int = 1  # figures that the adjustment is for

    @classmethod
    def stored(cls, kept: dict[str, Any]) -> Figure:
        sides = {name: kept[name] and Estimate(**kept[name]) for name in ("baseline", "compared")}
        return cls(**{**kept, **sides, "difference": Difference(**kept["difference"])})

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def coverage(self) -> float:
        return self.difference.n / self.difference.asked if self.difference.asked else 0.0

    @property
    def alone_verdict(self) -> str:
        """The verdict as it would be if no other evaluator had been asked."""
        if self.coverage < ENOUGH_COVERAGE:
            return CANNOT_TELL
        return self.difference.verdict("lower" if self.direction == "lower" else "higher")

    @property
    def verdict(self) -> str:
        """Better, worse or "cannot tell", so that all verdicts together mislead in at most 5 of 100 comparisons."""
        if self.adjusted_p is None or self.adjusted_p >= 1 - CONFIDENCE:
            return CANNOT_TELL
        return self.alone_verdict

    @property
    def errors(self) -> int:
        return self.counts["failed"] + self.counts["unscored"]

    @property
    def advice(self) -> str:
        """Where nothing can be told: why, and what would help."""
        told = self.difference
        if self.verdict != CANNOT_TELL or not told.asked:
            return ""
        if self.coverage < ENOUGH_COVERAGE:
            return f"only {count(told.n)} of {count(told.asked)} pairs have a score from both"
        if self.alone_verdict != CANNOT_TELL:
            return f"told alone, but among {self.judged} judged at once it may be chance"
        if told.value is None or told.deviation is None:
            return told.refused or ""
        more = cases_to_tell(told.value, told.deviation, told.clusters)
        if isinstance(more, str):
            return more[0].lower() + more[1:].rstrip(".")
        size = f"{abs(told.value) * 100:.1f}{NBSP}points"
        if self.compared is None:  # verdicts reach from −1 to 1, the share of wins that is shown from 0 to 1
            size = f"{abs(told.value) * 50:.1f}{NBSP}points from an even score"
        alone = ", if judged alone" if self.judged > 1 else ""
        return (
            f"about {count(_rounded(more))} more cases to tell {size}{alone}" if more else f"close: {size} may be real"
        )

    @property
    def grain(self) -> tuple[str, list[int], int] | None:
        """Cases that go against the verdict: which, the first outputs, how many."""
        if self.verdict == BETTER and self.counts["regressed"]:
            return "regressed", self.worst, self.counts["regressed"]
        if self.verdict == WORSE and self.counts["improved"]:
            return "improved", self.best, self.counts["improved"]
        return None


def edges(reach: float) -> list[float]:
    """Where the bars of a distribution begin and end; the middle one stands for no difference."""
    bars = 2 * STEPS + 1
    return [*(reach * (2 * at / bars - 1) for at in range(bars)), reach]


def _rounded(number: int) -> int:
    """Two digits; more would be a false precision."""
    return int(round(number, 1 - math.floor(math.log10(number)))) if number else 0


def of_two(pairs: Pairs, mine: Told, theirs: Told, keys: NDArray[float32], direction: str) -> Figure:
    """From the scores of both sides by one version."""
    scored = keys <= 1
    asked = int((keys < LACKS["unasked"]).sum())
    cases, own, other = pairs.cases[scored], mine.scores[scored], theirs.scores[scored]
    return Figure(
        difference_of(moments(own - other, cases), asked),
        estimate(moments(other, cases), asked),
        estimate(moments(own, cases), asked),
        **_counted(pairs, keys),
        direction=direction,
    )


def of_verdicts(pairs: Pairs, gains: NDArray[float64], keys: NDArray[float32], flips: NDArray[bool_]) -> Figure:
    """From what a comparative evaluator said of the pairs."""
    scored = keys <= 1
    asked = int((keys < LACKS["unasked"]).sum())
    found = Figure(
        difference_of(moments(gains[scored], pairs.cases[scored]), asked), None, None, **_counted(pairs, keys)
    )
    return replace(found, counts=found.counts | {"flips": int((flips & scored).sum())})


def _counted(pairs: Pairs, keys: NDArray[float32]) -> dict[str, Any]:
    """How many pairs gained and lost, how far, and the first of both."""
    import numpy

    scored = keys[keys <= 1]
    regressed, improved = int((scored < -EQUAL).sum()), int((scored > EQUAL).sum())
    largest = float(numpy.abs(scored).max()) if len(scored) else 0.0
    reach = next(reach for reach in REACHES if largest <= reach + EQUAL)
    return {
        "counts": {
            "all": len(keys),
            "regressed": regressed,
            "improved": improved,
            "same": len(scored) - regressed - improved,
            **{name: int((keys == key).sum()) for name, key in LACKS.items()},
            "flips": 0,
        },
        "reach": reach,
        "steps": numpy.histogram(numpy.clip(scored, -reach, reach, dtype="f8"), edges(reach))[0].tolist(),
        "worst": pairs.outputs[first(keys, FIRST)[:regressed]].tolist(),
        "best": pairs.outputs[first(numpy.where(keys <= 1, -keys, keys), FIRST)[:improved]].tolist(),
    }


def corrected(found: Sequence[Figure]) -> list[Figure]:
    """With their p-values adjusted for all that are judged at once (Holm)."""
    known = [at for at, each in enumerate(found) if each.difference.p_value is not None]
    adjusted = dict(zip(known, holm([found[at].difference.p_value or 0.0 for at in known]), strict=True))
    return [replace(each, adjusted_p=adjusted.get(at), judged=len(known)) for at, each in enumerate(found)]
