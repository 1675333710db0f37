"""How far graders agree, beyond what chance alone would give: Cohen, Fleiss, Krippendorff and Gwet.

Each coefficient is a function of sums over items, so one way gives all their intervals: items are the clusters. Up to
2,000 are drawn anew (bootstrap); beyond that, and without resamples, they are left out one by one (jackknife). It is
the t interval of the logarithm of the disagreement 1 − κ, so that it never reaches past 1.

Values lie in [−1, 1]: 1 is perfect, 0 what chance gives. Grades that are missing are left out, and an item that only
one person graded says nothing about agreement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from evaluators.stats.estimate import Estimate, Moments, estimate, student_t
from evaluators.stats.grades import Grades, Weights
from evaluators.stats.resampling import MOST_CASES, counts

LEAST_ITEMS = 10
MOST_CATEGORIES = 100
RESAMPLES = 1_000
LOST = 0.025  # share of resamples without a value, above which no interval is given
NOTHING = "No item has grades from two people yet."
TOO_FEW = f"Fewer than {LEAST_ITEMS} items with two grades say too little about how far the figure could be off."
ONE_VERDICT = "Everybody gave every item the same verdict, so it cannot be told what chance would give."
PERFECT = "All grades agree, so it cannot be told how far the figure could be off."
ONE_SIDED = "Nearly all items got one verdict, so what chance would give rests on too few; Gwet's AC1 can be told."
TOO_MANY = f"There are more than {MOST_CATEGORIES} different grades. Agreement on an interval scale can be told."

Level = Literal["nominal", "ordinal", "interval"]
Statistic = Callable[[Any], Any]  # from rows of sums over items to one number each


def percent(grades: Grades) -> Estimate:
    """The share of pairs of grades of an item that are the same, as a mean over items; `asked` are the items."""
    if len(grades.categories) > MOST_CATEGORIES:
        return _refused(grades, TOO_MANY)
    each = grades.counted()
    n = each.sum(1)
    same = (each * (each - 1)).sum(1) / (n * (n - 1)).clip(1)
    pairs = [(item, float(share)) for item, (share, size) in enumerate(zip(same, n, strict=True)) if size > 1]
    return estimate(Moments.of(pairs), len(each))


def cohen(grades: Grades, weights: Weights = None, *, resamples: int = RESAMPLES) -> Estimate:
    """Kappa of two graders on the items that both graded (Cohen 1960; weighted 1968). ValueError for other numbers."""
    import numpy as np

    if grades.codes.shape[1] != 2:
        raise ValueError("Cohen's kappa compares two graders.")
    if len(grades.categories) > MOST_CATEGORIES:
        return _refused(grades, TOO_MANY)
    both = grades.codes[(grades.codes >= 0).all(1)]
    size = len(grades.categories)
    cells, places = np.unique(both @ [size, 1], return_inverse=True)
    first, second = np.divmod(cells, size)
    agree = grades.agreements(weights)

    def kappa(sums: Any) -> Any:
        shares = sums / sums.sum(1, keepdims=True)
        chance = ((shares @ np.eye(size)[first] @ agree) * (shares @ np.eye(size)[second])).sum(1)
        return _beyond_chance(shares @ agree[first, second], chance)

    items = _Items(np.eye(len(cells))[places], kappa, both.size, _mixed(both))
    return items.figure(grades, "Cohen's kappa", resamples)


def fleiss(grades: Grades, *, resamples: int = RESAMPLES) -> Estimate:
    """Kappa of any number of graders (Fleiss 1971), for items with differing numbers of grades as in Gwet (2014)."""
    return _by_shares(grades, None, lambda shares, agree: (shares @ agree * shares).sum(1), "Fleiss' kappa", resamples)


def gwet(grades: Grades, weights: Weights = None, *, resamples: int = RESAMPLES) -> Estimate:
    """AC1, or AC2 with weights (Gwet 2008, 2014): chance counts only where graders may have guessed.

    Unlike kappa it does not fall apart where nearly all items belong to one category. Give `Grades` the categories of
    the scale: those that were never used count, too.
    """
    size = len(grades.categories)

    def chance(shares: Any, agree: Any) -> Any:
        return agree.sum() / max(1, size * (size - 1)) * (shares * (1 - shares)).sum(1)

    return _by_shares(grades, weights, chance, "Gwet's AC2" if weights else "Gwet's AC1", resamples, leans=False)


def _by_shares(
    grades: Grades,
    weights: Weights,
    chance: Callable[[Any, Any], Any],
    name: str,
    resamples: int,
    leans: bool = True,
) -> Estimate:
    """(pa − pe) / (1 − pe): pa over items with two grades or more, pe from the shares of categories over all items."""
    import numpy as np

    if len(grades.categories) > MOST_CATEGORIES:
        return _refused(grades, TOO_MANY)
    each, agree = grades.counted(), grades.agreements(weights)
    each = each[each.sum(1) > 0]
    n = each.sum(1, keepdims=True)
    several = n[:, 0] > 1
    same = np.where(several, (each * (each @ agree - 1)).sum(1) / np.maximum(1, n * (n - 1))[:, 0], 0)
    sums = np.column_stack([several, same, np.ones(len(each)), each / np.maximum(1, n)])

    def coefficient(sums: Any) -> Any:
        with np.errstate(invalid="ignore", divide="ignore"):
            return _beyond_chance(sums[:, 1] / sums[:, 0], chance(sums[:, 3:] / sums[:, 2:3], agree))

    mixed = _mixed(grades.codes) if leans else None
    return _Items(sums, coefficient, int(n[several].sum()), mixed).figure(grades, name, resamples)


def krippendorff(grades: Grades, level: Level = "nominal", *, resamples: int = RESAMPLES) -> Estimate:
    """Alpha (Krippendorff 2011): 1 − observed / expected disagreement, where disagreement is a squared distance."""
    codes = grades.codes[(grades.codes >= 0).sum(1) > 1]
    if level == "interval":
        sums, alpha = _of_numbers(codes, grades.numbers)
    elif len(grades.categories) > MOST_CATEGORIES:
        return _refused(grades, TOO_MANY)
    else:
        sums, alpha = _of_categories(codes, grades, level)
    items = _Items(sums, alpha, int((codes >= 0).sum()), None if level == "interval" else _mixed(codes))
    return items.figure(grades, f"Krippendorff's alpha, {level}", resamples)


def _of_categories(codes: Any, grades: Grades, level: Level) -> tuple[Any, Statistic]:
    """Coincidences of every item: within it each grade meets the others, with weight 1 / (grades − 1)."""
    import numpy as np

    each, size = grades.counted(codes), len(grades.categories)
    cells = np.flatnonzero((each.T @ each).ravel())
    first, second = np.divmod(cells, size)
    met = each[:, first] * (each[:, second] - (first == second)) / (each.sum(1) - 1)[:, None]

    def alpha(sums: Any) -> Any:
        totals = sums @ np.eye(size)[first]
        apart = _distances(level, totals)
        observed = (sums * apart[:, first, second]).sum(1)
        expected = (totals[:, :, None] * totals[:, None, :] * apart).sum((1, 2))
        return _less_than_expected(observed, expected, totals.sum(1))

    return met, alpha


def _of_numbers(codes: Any, numbers: Any) -> tuple[Any, Statistic]:
    """The same for squared differences of numbers, which sums of numbers and of their squares give."""
    import numpy as np

    there = codes >= 0
    values = np.where(there, (numbers - numbers.mean())[codes] if len(numbers) else 0.0, 0.0)
    n, total, squares = there.sum(1), values.sum(1), (values**2).sum(1)
    apart = 2 * (n * squares - total**2) / np.maximum(1, n - 1)

    def alpha(sums: Any) -> Any:
        apart, n, total, squares = sums.T
        return _less_than_expected(apart, 2 * (n * squares - total**2), n)

    return np.column_stack([apart, n, total, squares]), alpha


def _less_than_expected(observed: Any, expected: Any, n: Any) -> Any:
    import numpy as np

    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 1e-12, 1 - (n - 1) * observed / expected, np.nan)


def _distances(level: Level, totals: Any) -> Any:
    """Squared distances of categories, for each row of totals."""
    import numpy as np

    if level == "nominal":
        return np.broadcast_to(1 - np.eye(totals.shape[1]), (*totals.shape, totals.shape[1]))
    middles = np.cumsum(totals, 1) - totals / 2  # ordinal: the grades between two categories, and half of either
    return (middles[:, :, None] - middles[:, None, :]) ** 2


def _beyond_chance(agreed: Any, chance: Any) -> Any:
    import numpy as np

    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(1 - chance > 1e-12, (agreed - chance) / (1 - chance), np.nan)


def _mixed(codes: Any) -> int:
    """How many items got a grade other than the commonest."""
    import numpy as np

    given = codes[codes >= 0]
    return int(((codes >= 0) & (codes != np.bincount(given).argmax())).any(1).sum()) if given.size else 0


def _refused(grades: Grades, sentence: str) -> Estimate:
    return Estimate(None, None, None, 0, 0, int((grades.codes >= 0).sum()), "none", sentence)


@dataclass(frozen=True, slots=True)
class _Items:
    """Sums of each item (rows), what they come to, and the `n` grades in them.

    `mixed` are the items that got a grade other than the commonest, where what chance gives leans on them.
    """

    sums: Any
    statistic: Statistic
    n: int
    mixed: int | None

    def figure(self, grades: Grades, name: str, resamples: int) -> Estimate:
        import numpy as np

        if not self.n:
            return _refused(grades, NOTHING)
        value, items = float(self.statistic(self.sums.sum(0)[None])[0]), len(self.sums)
        sizes = self.n, items, int((grades.codes >= 0).sum())
        if np.isnan(value):
            return Estimate(None, None, None, *sizes, "none", ONE_VERDICT)
        refused = self.too_little(value)
        error, how = (None, "") if refused else self.error(resamples)
        if error is None:
            return Estimate(value, None, None, *sizes, "none", refused or ONE_SIDED)
        factor = float(np.exp(student_t(items - 1) * error / (1 - value)))
        low, high = max(-1.0, 1 - (1 - value) * factor), 1 - (1 - value) / factor
        return Estimate(value, low, high, *sizes, f"{name}, {how} over items", standard_error=error)

    def too_little(self, value: float) -> str | None:
        if len(self.sums) < LEAST_ITEMS:
            return TOO_FEW
        if value > 1 - 1e-9:
            return PERFECT
        return ONE_SIDED if self.mixed is not None and self.mixed < LEAST_ITEMS else None

    def error(self, resamples: int) -> tuple[float | None, str]:
        import numpy as np

        items = len(self.sums)
        if items > MOST_CASES or not resamples:
            left_out = self.statistic(self.sums.sum(0) - self.sums)
            spread = float(np.sqrt((items - 1) / items * ((left_out - left_out.mean()) ** 2).sum()))
            return (None if np.isnan(spread) else spread), "jackknife"
        again = self.statistic(counts(items, resamples) @ self.sums)
        lost = np.isnan(again)
        return (None if lost.mean() > LOST else float(again[~lost].std(ddof=1))), "bootstrap"
