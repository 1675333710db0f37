"""How many more cases it would take to tell a difference."""

from __future__ import annotations

import math
from statistics import NormalDist

from evaluators.stats.estimate import Z, student_t

MOST = 1_000_000  # cases; nobody collects more to settle a question


def cases_to_tell(difference: float, sd: float, clusters: int, power: float = 0.8) -> int | str:
    """How many more cases until a true difference of this size is told in `power` of all comparisons, or a sentence.

    `difference` and `sd`, the standard deviation of paired differences from case to case, are in units of the score;
    `Difference.deviation` has the latter. `clusters` cases are there already. n = ((t + z_power) sd / difference)²,
    where t is the 97.5 % quantile of Student's t with n − 1 degrees of freedom (two-sided test at 5 %).
    """
    if not 0 < power < 1:
        raise ValueError("Power lies between 0 and 1.")
    if clusters < 2:
        return "Two cases at least have to be compared before anything can be planned."
    if abs(difference) < 1e-12:
        return "A difference of zero cannot be told by any number of cases."
    if sd < 1e-12:
        return "Every case differs by the same amount so far, so it cannot be told how many more are needed."
    ratio = (sd / difference) ** 2
    beyond = NormalDist().inv_cdf(power)
    total = max(2, math.ceil((Z + beyond) ** 2 * ratio))
    while total <= MOST and total < (student_t(total - 1) + beyond) ** 2 * ratio:
        total += max(1, total // 1000)
    if total > MOST:
        return f"It would take more than {MOST:,} cases to tell so small a difference."
    return max(0, total - clusters)
