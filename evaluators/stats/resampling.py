"""Intervals and tests by drawing cases anew, where no closed form is at hand or its assumptions are in doubt.

Everything is seeded: the same scores give the same figures. The work grows with cases × resamples, so there is a bound
on cases; beyond 2,000 the closed forms are as good.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

from evaluators.stats.estimate import CONFIDENCE, Estimate, Z
from evaluators.stats.mcnemar import Test

MOST_CASES = 2_000
RESAMPLES = 2_000
LEAST_CASES = 10
BATCH = 2_000_000  # numbers held at a time
TOO_MANY = f"Cases are drawn anew only up to {MOST_CASES:,}; beyond, the closed form is as good."
TOO_FEW = f"Fewer than {LEAST_CASES} cases say too little to be drawn from."


def counts(cases: int, resamples: int = RESAMPLES, seed: int = 0) -> Any:
    """How often each case (column) comes in each resample (row): as many draws with replacement as there are cases."""
    import numpy as np

    return np.random.default_rng(seed).multinomial(cases, np.full(cases, 1 / cases), resamples)


def by_case(values: Any, cases: Any) -> tuple[Any, Any]:
    """Sum and number of the values of each case that are not NaN, for the cases that have any."""
    import numpy as np

    values = np.asarray(values, float)
    there = ~np.isnan(values)
    _, places = np.unique(np.asarray(cases)[there], return_inverse=True)
    return np.bincount(places, values[there]), np.bincount(places)


def bootstrap_mean(values: Any, cases: Any, *, resamples: int = RESAMPLES, seed: int = 0) -> Estimate:
    """The mean of scores or differences with its bootstrap-t interval over cases (Efron 1981, Hall 1988).

    Each resample tells how many of its own standard errors its mean is off. So skewed scores get a skewed interval.
    """
    import numpy as np

    sums, sizes = by_case(values, cases)
    asked = len(np.asarray(values))
    n, clusters = int(sizes.sum()), len(sizes)
    if not n:
        return Estimate(None, None, None, 0, 0, asked, "none", "Nothing is scored yet.")
    mean = float(sums.sum() / n)
    refused = TOO_MANY if clusters > MOST_CASES else TOO_FEW if clusters < LEAST_CASES else None
    if refused:
        return Estimate(mean, None, None, n, clusters, asked, "none", refused)
    error = _errors(np.ones((1, clusters)), sums, sizes)[0]
    if error < 1e-9:
        said = "Every case gives the same number, so no interval can be told."
        return Estimate(mean, None, None, n, clusters, asked, "none", said)
    off = []
    for some in _batches(clusters, resamples, seed):
        means = some @ sums / np.maximum(1, some @ sizes)
        errors = _errors(some, sums, sizes)
        off.append((means - mean) / np.where(errors < 1e-9, np.nan, errors))
    low, high = np.nanquantile(np.concatenate(off), [(1 + CONFIDENCE) / 2, (1 - CONFIDENCE) / 2])
    ends = mean - float(low) * error, mean - float(high) * error
    return Estimate(mean, *ends, n, clusters, asked, "bootstrap-t interval over cases", standard_error=float(error))


def _errors(drawn: Any, sums: Any, sizes: Any) -> Any:
    """The cluster-robust standard error of the mean of each resample."""
    import numpy as np

    n = np.maximum(1, drawn @ sizes)
    means = drawn @ sums / n
    residuals = drawn @ (sums * sums) - 2 * means * (drawn @ (sums * sizes)) + means * means * (drawn @ (sizes * sizes))
    cases = len(sums)
    return np.sqrt(np.maximum(0, residuals) * cases / (cases - 1)) / n


def bootstrap(
    statistic: Callable[[Any], Any], cases: int, *, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[Any, Any, Any]:
    """Standard error, low and high of any statistic of cases, by the bias-corrected percentile method (Efron 1981).

    `statistic` takes rows of counts, how often each case counts, and gives one number, or one row of numbers, for each;
    NaN where it has none. Raises ValueError for more than 2,000 cases or fewer than ten.
    """
    import numpy as np

    if not LEAST_CASES <= cases <= MOST_CASES:
        raise ValueError(TOO_FEW if cases < LEAST_CASES else TOO_MANY)
    found = np.asarray(statistic(np.ones((1, cases))))[0]
    again = np.concatenate([np.asarray(statistic(some)) for some in _batches(cases, resamples, seed)])
    flat = again.reshape(len(again), -1)
    ends = np.array([_corrected(flat[:, i], float(value)) for i, value in enumerate(np.ravel(found))])
    shape = np.shape(found)
    return np.nanstd(again, 0, ddof=1), ends[:, 0].reshape(shape), ends[:, 1].reshape(shape)


def _corrected(again: Any, found: float) -> tuple[float, float]:
    """The percentiles between which the statistic lies, moved by how far its median is off what was found."""
    import numpy as np

    again = again[~np.isnan(again)]
    if not len(again):
        return np.nan, np.nan
    below = (np.mean(again < found) + np.mean(again <= found)) / 2
    normal = NormalDist()
    middle = normal.inv_cdf(float(np.clip(below, 1 / len(again), 1 - 1 / len(again))))
    low, high = np.quantile(again, [normal.cdf(2 * middle - Z), normal.cdf(2 * middle + Z)])
    return float(low), float(high)


def sign_flip(differences: Any, cases: Any, *, resamples: int = 4_999, seed: int = 0) -> Test:
    """Whether paired differences are zero on average: how often flipping signs of whole cases gives as large a mean.

    Exact for differences that are symmetric around zero where nothing differs (Fisher 1935, Good 2005). All 2^G ways
    are tried for up to twelve cases, otherwise as many random ones; p = (hits + 1) / (resamples + 1).
    """
    import numpy as np

    sums, _ = by_case(differences, cases)
    sums = sums[np.abs(sums) > 1e-12]
    if not len(sums):
        return Test(None, "none", "No case differs, so there is nothing to test.")
    if len(sums) > MOST_CASES:
        return Test(None, "none", TOO_MANY)
    seen = abs(sums.sum()) * (1 - 1e-9)
    if len(sums) <= 12:
        every = (np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1) * 2 - 1
        return Test(float((np.abs(every @ sums) >= seen).mean()), "sign-flip permutation over cases, all of them")
    draw, hits = np.random.default_rng(seed), 0
    for some in _sizes(len(sums), resamples):
        signs = draw.integers(0, 2, (some, len(sums)), dtype=np.int8) * 2 - 1
        hits += int((np.abs(signs @ sums) >= seen).sum())
    return Test((hits + 1) / (resamples + 1), "sign-flip permutation over cases")


def _batches(cases: int, resamples: int, seed: int) -> Any:
    for place, some in enumerate(_sizes(cases, resamples)):
        yield counts(cases, some, seed + place)


def _sizes(cases: int, resamples: int) -> list[int]:
    """How many resamples fit into one batch each."""
    most = max(1, BATCH // cases)
    return [most] * (resamples // most) + ([resamples % most] if resamples % most else [])
