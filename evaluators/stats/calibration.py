"""What people would say of all outputs, from a judge's verdicts on all and people's grades on some.

The graded outputs are a random sample; where some were likelier to be drawn than others, each counts 1 / its inclusion
probability (Horvitz and Thompson 1952). Errors come from how each case pulls the figure, summed over cases (Liang and
Zeger 1986), so that several outputs of a case count as one, and outputs that are both judged and graded are not counted
as two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaluators.stats.estimate import Estimate, Z, student_t

LEAST_EACH = 5  # graded cases on which people say pass, and as many on which they say fail
LEAST_TOLD = 0.1  # sensitivity + specificity − 1, of which the interval has to lie above
NOT_GRADED = "People have graded none of these outputs yet."
TOO_FEW = f"People have to pass at least {LEAST_EACH} graded cases and to fail as many before a judge can be corrected."


@dataclass(frozen=True, slots=True)
class Judged:
    """One entry an output that the judge scored, in arrays: its score, people's (NaN if not graded), case and weight.

    `weights` are 1 / inclusion probability where graded, 0 elsewhere; `out` the same where people looked at an output
    that is left out, such as one that nobody could judge. `cases` are numbered from 0.
    """

    judge: Any
    people: Any
    cases: Any
    weights: Any
    out: Any
    asked: int

    @classmethod
    def of(cls, judge: Any, people: Any, cases: Any = None, inclusion: Any = None, left_out: Any = None) -> Judged:
        """From the scores of judge and people, NaN where there is none, and how likely each output was to be graded.

        Outputs that the judge did not score are left out. So are those of `left_out`, which people looked at: the
        figure is about outputs unlike them. ValueError for an inclusion probability outside (0, 1] of either.
        """
        import numpy as np

        judge, people = np.asarray(judge, float), np.asarray(people, float)
        cases = np.arange(len(judge)) if cases is None else np.asarray(cases)
        likely = np.ones(len(judge)) if inclusion is None else np.asarray(inclusion, float)
        there, graded = ~np.isnan(judge), ~np.isnan(people)
        without = np.zeros(len(judge), bool) if left_out is None else np.asarray(left_out, bool)
        seen = graded | without
        if not ((likely[seen] > 0) & (likely[seen] <= 1)).all():
            raise ValueError("An inclusion probability lies above 0 and at most at 1.")
        worth = np.where(seen, 1 / np.where(seen, likely, 1), 0)
        _, places = np.unique(cases[there], return_inverse=True)
        people = np.where(without, np.nan, people)
        weights, out = np.where(without, 0, worth), np.where(without, worth, 0)
        return cls(judge[there], people[there], places, weights[there], out[there], len(judge))

    @property
    def graded(self) -> Any:
        import numpy as np

        return ~np.isnan(self.people)

    def own(self) -> tuple[float, Any]:
        """The judge's mean over all but what is left out, and how far each output pulls it.

        What was looked at and left out stands for as many of all outputs as its weight says (a ratio estimate).
        """
        import numpy as np

        seen = self.weights + self.out
        out = self.out * (len(seen) / seen.sum())
        rest = float((1 - out).sum())
        mean = float(((1 - out) * self.judge).sum() / rest)
        apart = self.judge - mean
        drift = float((out * apart).sum()) * (1 / len(seen) - seen / seen.sum())
        return mean, np.asarray(((1 - out) * apart - drift) / rest)

    def by_case(self, pulls: Any) -> Any:
        import numpy as np

        return np.bincount(self.cases, pulls)

    def distinct(self, some: Any) -> int:
        """How many cases some outputs belong to."""
        return len(set(self.cases[some].tolist()))

    def effective(self) -> float:
        """How many equally weighted cases the graded ones are worth (Kish 1965)."""
        heavy = self.by_case(self.weights)
        return float(heavy.sum() ** 2 / (heavy**2).sum())

    def refused(self, sentence: str, value: float | None = None) -> Estimate:
        return Estimate(value, None, None, *self.sizes, "none", sentence)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Grades, their cases, and the outputs that were asked for."""
        return int(self.graded.sum()), self.distinct(self.graded), self.asked


@dataclass(frozen=True, slots=True)
class Corrected:
    """The share that people would pass, and what it rests on: how the judge does where people pass and where they fail.

    `sensitivity` and `specificity` are plain weighted shares in [0, 1].
    """

    share: Estimate
    sensitivity: float | None
    specificity: float | None


def rogan_gladen(judged: Judged) -> Corrected:
    """The share of outputs that people would pass, (p + Sp − 1) / (Se + Sp − 1), for verdicts of 0 and 1.

    The estimate is that of Rogan and Gladen (1978). Its interval adds a right and a wrong verdict to either class and
    shifts the middle as in Lang and Reiczigel (2014), and takes cases as clusters. It accounts for what is not known
    of sensitivity and specificity, and is refused where their sum is not clearly above 1: then the judge's verdicts
    hardly depend on what people say, and any share of people's would give the same.
    """
    import numpy as np

    graded, passing, failing = judged.graded, judged.people == 1, judged.people == 0
    if not graded.any():
        return Corrected(judged.refused(NOT_GRADED), None, None)
    if min(judged.distinct(passing), judged.distinct(failing)) < LEAST_EACH:
        return Corrected(judged.refused(TOO_FEW), None, None)
    share, pulls = judged.own()
    right = [float(np.average(hits[side], weights=judged.weights[side])) for side, hits in _sides(judged)]
    told = sum(right) - 1
    sides = [_Side.of(judged, side, hits) for side, hits in _sides(judged)]
    slack = Z * sum(side.variance for side in sides) ** 0.5
    if sum(side.rate for side in sides) - 1 - slack < LEAST_TOLD:
        said = (
            f"Sensitivity {right[0]:.2f} and specificity {right[1]:.2f} add up to {told + 1:.2f}, too near to 1: "
            "the judge's verdicts hardly tell what people say, so its share cannot be corrected."
        )
        return Corrected(judged.refused(said), *right)
    value = min(1.0, max(0.0, (share + right[1] - 1) / told))
    return Corrected(_interval(judged, share, pulls, value, sides), *right)


def _sides(judged: Judged) -> list[tuple[Any, Any]]:
    """Where people pass and where they fail, with whether the judge is right."""
    return [(judged.people == 1, judged.judge), (judged.people == 0, 1 - judged.judge)]


@dataclass(frozen=True, slots=True)
class _Side:
    """How often the judge is right where people say one thing, with a right and a wrong verdict more.

    `pulls` say how far each output moves the rate; the two that were added move it by `added`² in all.
    """

    rate: float
    pulls: Any
    added: float
    variance: float

    @classmethod
    def of(cls, judged: Judged, side: Any, hits: Any) -> _Side:
        import numpy as np

        weights = np.where(side, judged.weights, 0)
        usual = weights.sum() / side.sum()
        total = weights.sum() + 2 * usual
        rate = float(((weights * hits).sum() + usual) / total)
        pulls = weights * (hits - rate) / total
        added = float(usual**2 * ((1 - rate) ** 2 + rate**2) / total**2)
        return cls(rate, pulls, added, float((judged.by_case(pulls) ** 2).sum()) + added)


def _interval(judged: Judged, share: float, pulls: Any, value: float, sides: list[_Side]) -> Estimate:
    import numpy as np

    passing, failing = sides
    told = passing.rate + failing.rate - 1
    middle = (share + failing.rate - 1) / told
    pulls = pulls - middle * passing.pulls + (1 - middle) * failing.pulls
    variance = (judged.by_case(pulls) ** 2).sum() + middle**2 * passing.added + (1 - middle) ** 2 * failing.added
    error = float(np.sqrt(variance)) / told
    shift = 2 * Z * Z * (middle * passing.variance - (1 - middle) * failing.variance)
    half = student_t(max(1.0, judged.effective() - 2)) * error
    low, high = (min(1.0, max(0.0, middle + shift + end)) for end in (-half, half))
    method = "Rogan-Gladen, Lang-Reiczigel interval over cases"
    return Estimate(value, min(low, value), max(high, value), *judged.sizes, method, standard_error=error)
