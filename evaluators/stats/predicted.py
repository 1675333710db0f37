"""Prediction-powered means: people's grades on some outputs, sharpened by what a judge says of all.

θ = mean of people's grades + λ (mean of the judge over all − mean of the judge over what people graded), each graded
output weighted by 1 / its inclusion probability (Angelopoulos et al. 2023). λ is the one that leaves the least variance
(power tuning, PPI++, Angelopoulos, Duchi and Zrnic 2023): a judge that says nothing about people's grades gets λ = 0,
and the estimate is then people's own. For shares of labels, judge and people are 1 where they chose the label, else 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaluators.stats.calibration import NOT_GRADED, Judged
from evaluators.stats.estimate import Estimate, on_log_odds, student_t

LEAST_CASES = 15  # worth of graded cases
TOO_FEW = f"People have graded fewer than {LEAST_CASES} cases' worth, too few to correct a judge."


@dataclass(frozen=True, slots=True)
class Powered:
    """What people would say on average, and by how much the judge's scores counted (`tuning`, λ)."""

    mean: Estimate
    tuning: float | None


def prediction_powered(judged: Judged) -> Powered:
    """The mean that people would give to all outputs, for scores and people's grades in [0, 1], with its interval.

    A t interval over cases on log-odds. As few disagreements make a residual that looks too small, half a case more of
    the usual disagreement is counted on either side, as far as judge and people agree (see `paired`).
    """
    import numpy as np

    graded = judged.graded
    if not graded.any():
        return Powered(judged.refused(NOT_GRADED), None)
    weights = judged.weights / judged.weights.sum()
    people = np.where(graded, judged.people, 0)
    human, of_graded = float(weights @ people), float(weights @ judged.judge)
    effective = judged.effective()
    if effective < LEAST_CASES:
        return Powered(judged.refused(TOO_FEW, human), None)
    of_all, pulled = judged.own()
    own = judged.by_case(weights * (people - human))
    helped = judged.by_case(pulled - weights * (judged.judge - of_graded))
    tuning = float(np.clip(-(own @ helped) / max(1e-300, helped @ helped), 0, 1))
    value = human + tuning * (of_all - of_graded)
    pulls = own + tuning * helped
    error = float(np.sqrt((pulls**2).sum() * effective / (effective - 1) + _doubt(judged, weights)))
    value, half = min(1.0, max(0.0, value)), student_t(effective - 2) * error
    inside = 0 < value < 1
    low, high = on_log_odds(value, half) if inside else (max(0.0, value - half), min(1.0, value + half))
    method = "prediction-powered t interval over cases"
    return Powered(Estimate(value, low, high, *judged.sizes, method, standard_error=error), tuning)


def _doubt(judged: Judged, weights: Any) -> float:
    """The variance of half a case on either side: share of tied cases × (usual disagreement × weight)².

    Its weight is the largest of an output times the usual number of graded outputs of a case: what was unlikely to be
    graded is what disagreements are missed of.

    Where nobody ever disagreed the usual disagreement is not known; it counts as the largest, 1.
    """
    import numpy as np

    apart = judged.by_case(weights * np.where(judged.graded, judged.people - judged.judge, 0))
    counted = judged.by_case(weights)
    there = counted > 0
    means = apart[there] / counted[there]
    differing = means[np.abs(means) > 1e-12]
    usual = float((differing**2).mean()) if len(differing) else 1.0
    return (1 - len(differing) / len(means)) * usual * (float(weights.max()) * judged.graded.sum() / len(means)) ** 2
