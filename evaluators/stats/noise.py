"""How far an evaluator agrees with itself: the same outputs judged several times, no two judgements from one reply.

Two numbers tell it. Self-agreement is the share of pairs of judgements of one output that give the same verdict. The
deviation s_w says how far scores of one output scatter, and with it how far the mean of a run would move if the run
were made again: what two runs differ by less than that is not worth believing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from evaluators.stats.estimate import CONFIDENCE, Estimate, Moments, Z, estimate, on_log_odds, student_t

LEAST_REPEATS = 2
SAME = 1e-9  # numbers closer than this are the same verdict
ONCE = "Every output was judged only once. Judge each at least twice."


@dataclass(frozen=True, slots=True)
class Judgement:
    """One scored judgement of an output: its value in [0, 1], its label where there are labels, whether it passed."""

    value: float
    label: str | None = None
    passed: bool | None = None

    def agrees(self, other: Judgement) -> bool:
        """The same label; where there are none, on the same side of the threshold; without one, the same number."""
        if self.label is not None or other.label is not None:
            return self.label == other.label
        if self.passed is not None and other.passed is not None:
            return self.passed == other.passed
        return abs(self.value - other.value) <= SAME


@dataclass(frozen=True, slots=True)
class Noise:
    """What repeated judgements came to.

    `agreement` counts pairs of judgements and takes the output for its cluster. `deviation` is s_w, the standard
    deviation of scores within an output, a share in [0, 1]; `low` and `high` are its 95 % interval. It is None, with
    a sentence in `refused`, where no output has two scores. `outputs` are those that have, of `asked`.
    """

    agreement: Estimate
    deviation: float | None
    low: float | None
    high: float | None
    outputs: int
    asked: int
    judgements: int
    refused: str | None = None

    def of_mean(self, n: int) -> float | None:
        """The standard deviation that noise alone gives the mean over n outputs: s_w / √n, a share."""
        return None if self.deviation is None else self.deviation / math.sqrt(n)

    def floor(self, n: int) -> float | None:
        """The smallest difference of two means over n outputs worth believing: 1.96 · √2 · s_w / √n, a share.

        Were the same n outputs judged twice by one version, the means would differ by less in 95 % of all cases.
        """
        return None if self.deviation is None else _floor(self.deviation, n)

    def floor_interval(self, n: int) -> tuple[float, float] | None:
        """The 95 % interval of that difference, from the interval of s_w."""
        return None if self.low is None or self.high is None else (_floor(self.low, n), _floor(self.high, n))


def noise(judged: Mapping[Any, Sequence[Judgement]], repeats: int) -> Noise:
    """From the scored judgements of each output; each was asked for `repeats` times, and some may have no score.

    An output with fewer than two scores says nothing and is left out, but stays among what was asked.
    """
    groups = {output: scored for output, scored in judged.items() if len(scored) >= LEAST_REPEATS}
    pairs = [
        (output, float(one.agrees(other)))
        for output, scored in groups.items()
        for one, other in combinations(scored, 2)
    ]
    agreement = estimate(Moments.of(pairs), len(judged) * math.comb(repeats, 2))
    judgements = sum(map(len, groups.values()))
    if not groups:
        said = ONCE if repeats < LEAST_REPEATS else "No output has two scores yet, so there is nothing to compare."
        return Noise(agreement, None, None, None, 0, len(judged), 0, said)
    deviation, low, high = _deviation([[each.value for each in scored] for scored in groups.values()])
    return Noise(agreement, deviation, low, high, len(groups), len(judged), judgements)


def _floor(deviation: float, n: int) -> float:
    return Z * math.sqrt(2) * deviation / math.sqrt(n)


def _deviation(groups: Sequence[Sequence[float]]) -> tuple[float, float | None, float | None]:
    """s_w with its interval. The variance is pooled and unbiased: Σ SS_i / Σ (k_i − 1), with SS_i = Σ_j (x_ij − x̄_i)².

    That is a mean of SS_i weighted by k_i − 1, so its interval is that of a mean over clusters, widened; of scores that
    never differ, the share of outputs that may (Clopper–Pearson) times the largest variance there can be.
    """
    squares = [(len(group) - 1, _sum_of_squares(group)) for group in groups]
    freedom = sum(free for free, _ in squares)
    total = math.fsum(ss for _, ss in squares)
    if total < SAME * SAME:
        widest = max(_widest(len(group)) for group in groups)
        may_differ = 1 - (1 - CONFIDENCE) ** (1 / len(groups))
        return 0.0, 0.0, math.sqrt(may_differ * widest)
    moments = Moments(
        n=freedom,
        clusters=len(squares),
        total=total,
        squares=math.fsum(ss * ss for _, ss in squares),
        products=math.fsum(free * ss for free, ss in squares),
        sizes=float(sum(free * free for free, _ in squares)),
        most=1.0,
    )
    variance = total / freedom
    found = estimate(moments, freedom)
    if found.low is None or found.high is None:
        return math.sqrt(variance), None, None
    low, high = found.low, found.high
    if found.standard_error and found.standard_error > SAME:
        half = student_t(moments.effective - 1) * found.standard_error * _few(moments.clusters)
        low, high = on_log_odds(variance, half)
    return math.sqrt(variance), math.sqrt(low), math.sqrt(high)


def _few(outputs: int) -> float:
    """How much wider an interval of a variance has to be where outputs are few: n / (n − z) (Bonett 2006)."""
    return outputs / (outputs - min(Z, outputs / 2))


def _sum_of_squares(group: Sequence[float]) -> float:
    mean = math.fsum(group) / len(group)
    return math.fsum((value - mean) ** 2 for value in group)


def _widest(k: int) -> float:
    """The largest unbiased variance of k scores in [0, 1]: half of them at either end."""
    return (k // 2) * (k - k // 2) / k / (k - 1)
