"""Where systems stand by one figure: paired by case, over all cases or a slice of them. Looks at every row.

The functions here answer questions of `working_out`: plain arguments in, plain JSON out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from evaluators.core import Direction, Status
from evaluators.stats.estimate import Estimate, Moments, estimate
from evaluators.stats.paired import Difference, difference_of
from evaluators.stats.planning import cases_to_tell
from evaluators.stats.ranking import rank
from experiments.analysis.measured import measures_of
from experiments.analysis.repeats import passing_of
from experiments.analysis.slicing import Slice
from experiments.analysis.standing import ENOUGH_COVERAGE
from experiments.analysis.vectors import MEASURE, columns_of
from experiments.analysis.wholes import is_whole, wholes_among
from experiments.models import Run

if TYPE_CHECKING:
    from numpy import bool_, float64, int64, uint16
    from numpy.typing import NDArray

ROWS_TOGETHER = 400_000  # of several runs that are held at once
CASES_TOGETHER = 8_192  # of a product of matrices
NO_CASE = "No such case was judged."
NOT_BY_CASE = "It is told of all cases together, while places are told case by case."
SAME = 1e-11  # a sum of squares of scores in [0, 1] below this many times its length is rounding
TIED = 1e-12  # means of a case that are closer than this are equal


@dataclass(frozen=True)
class Sums:
    """One run by case: how many scores each case has and their sum; beside it what is counted over its rows."""

    counts: NDArray[uint16]
    sums: NDArray[float64]
    moments: Moments
    asked: int
    passing: Moments
    states: dict[str, int]
    failing: int


def ranked(run_ids: Sequence[int], measure: str, split: str, field: str, value: str) -> dict[str, Any]:
    """Figures and places of runs of one version by its score, or by one of its measures. Keys are run ids as texts.

    `places` has the best and the worst place that a system may have, and with whom it is tied; `untold` why the others
    have none; `advice` what would split the first tie.
    """
    runs = runs_of(run_ids)
    if not runs:
        return {"figures": {}, "passing": {}, "counts": {}, "places": {}, "untold": {}, "pairs": 0, "advice": ""}
    direction, is_share = reads(runs[0], measure)
    cases, of_all = cases_of(runs, Slice(split, field, value)), is_whole(runs[0].version, measure)
    found = dict(sums_of(runs, "" if of_all else measure, cases))
    figures = {pk: estimate(each.moments, each.asked, is_share=is_share) for pk, each in found.items()}
    untold = {pk: why for pk, figure in figures.items() if (why := why_untold(figure) if figure.asked else NO_CASE)}
    if of_all:
        figures = {pk: replace(each, asked=found[pk].asked) for pk, each in wholes_among(runs, measure, cases).items()}
        untold = dict.fromkeys(found, NOT_BY_CASE)
    told = [pk for pk in found if pk not in untold]
    contrasts = _contrasts([found[pk] for pk in told], is_share=is_share)
    named = {(str(told[i]), str(told[j])): each for (i, j), each in contrasts.items()}
    places = rank({str(pk): figures[pk].value or 0.0 for pk in told}, named, direction)
    return {
        "figures": {str(pk): asdict(figure) for pk, figure in figures.items()},
        "passing": {str(pk): asdict(estimate(each.passing, each.asked)) for pk, each in found.items()},
        "counts": {str(pk): {**each.states, "failing": each.failing} for pk, each in found.items()},
        "places": {each.name: [each.rank_low, each.rank_high, list(each.tied_with)] for each in places},
        "untold": {str(pk): why for pk, why in untold.items()},
        "pairs": len(contrasts),
        "advice": _advice([each.name for each in places], {each.name: each.tied_with for each in places}, named),
    }


def runs_of(run_ids: Sequence[int]) -> list[Run]:
    runs = Run.objects.select_related("version__evaluator", "experiment__dataset_version")
    return list(runs.filter(pk__in=run_ids).order_by("pk"))


def why_untold(figure: Estimate) -> str | None:
    """Why a figure takes no part in a ranking, None where it does."""
    if figure.n == 0:
        return "Nothing is scored yet."
    if figure.coverage < ENOUGH_COVERAGE:
        return f"Only {figure.n:,} of {figure.asked:,} have a score: the others could change its place."
    return figure.refused


def reads(run: Run, measure: str) -> tuple[Direction, bool]:
    """Which end of a figure is the better one, and whether it is a share. Where no end is, higher stands first."""
    if not measure:
        return passing_of(run.version).direction, True
    known = {each.name: each for each in measures_of(run.version)}
    return (
        (known[measure].direction or "higher", known[measure].unit == "share") if measure in known else ("higher", True)
    )


def cases_of(runs: Sequence[Run], chosen: Slice) -> NDArray[int64]:
    """The ids of the cases that count, in order."""
    import numpy

    cases = chosen.cases(runs[0].experiment.dataset_version.dataset_id)
    return numpy.fromiter(cases.order_by("pk").values_list("pk", flat=True), dtype="i8")


def sums_of(runs: Sequence[Run], measure: str, universe: NDArray[int64]) -> Iterator[tuple[int, Sums]]:
    """Every run by those cases, with its id. As many rows as fit together are held at once."""
    numbers = MEASURE + measure if measure else "scores"
    together = max(1, ROWS_TOGETHER // max(1, len(universe)))
    for start in range(0, len(runs), together):
        batch = runs[start : start + together]
        for pk, columns in columns_of(batch, (numbers, "cases", "states", "passed")).items():
            yield pk, _sums_of(universe, columns[numbers], columns["cases"], columns["states"], columns["passed"])


def _sums_of(universe: Any, numbers: Any, cases: Any, states: Any, passed: Any) -> Sums:
    import numpy

    place = numpy.searchsorted(universe, cases)
    inside = numpy.zeros(len(cases), bool)
    within = place < len(universe)
    inside[within] = universe[place[within]] == cases[within]
    place, numbers, states, passed = place[inside], numbers[inside], states[inside], passed[inside]
    scored = (states == Status.SCORED) & ~numpy.isnan(numbers)
    counts, sums, moments = _moments(len(universe), place[scored], numbers[scored])
    judged = passed[scored] >= 0
    _, _, passing = _moments(len(universe), place[scored][judged], passed[scored][judged].astype(float))
    of_state = numpy.bincount(states, minlength=len(Status))
    by_name = {status.name.lower(): int(of_state[status]) for status in Status}
    return Sums(counts, sums, moments, len(place), passing, by_name, int((passed == 0).sum()))


def _moments(size: int, place: Any, numbers: Any) -> tuple[Any, Any, Moments]:
    import numpy

    counts = numpy.bincount(place, minlength=size)
    sums = numpy.bincount(place, weights=numbers, minlength=size)
    return (
        counts,
        sums,
        Moments(
            n=len(numbers),
            clusters=int((counts > 0).sum()),
            total=float(sums.sum()),
            squares=float(sums @ sums),
            products=float(counts @ sums),
            sizes=float(counts @ counts),
            least=float(numbers.min(initial=numpy.inf)) if len(numbers) else 0.0,
            most=float(numbers.max(initial=-numpy.inf)) if len(numbers) else 0.0,
            is_binary=bool(len(numbers)) and bool(((numbers == 0) | (numbers == 1)).all()),
        ),
    )


def _contrasts(entries: Sequence[Sums], *, is_share: bool = True) -> dict[tuple[int, int], Difference]:
    """The paired difference of every two, over the cases that both have, from products of the matrices of means.

    With x the mean of a case, 0 where it has none, and w whether it has one: n = w wᵀ, Σ d = x wᵀ − (x wᵀ)ᵀ and
    Σ d² = x² wᵀ + (x² wᵀ)ᵀ − 2 x xᵀ. How many cases differ at all is counted one by one: without it the interval would
    be too sure where most are tied. What is no share is told in the range of all, so that differences lie in [−1, 1].
    """
    import numpy

    size = len(entries)
    if size < 2:
        return {}
    least, span = (0.0, 1.0) if is_share else _range([each.moments for each in entries])
    n, totals, squares, products, apart = (numpy.zeros((size, size)) for _ in range(5))
    for start in range(0, len(entries[0].counts), CASES_TOGETHER):
        counts = numpy.stack([each.counts[start : start + CASES_TOGETHER] for each in entries])
        there: NDArray[bool_] = counts > 0
        means = numpy.stack([each.sums[start : start + CASES_TOGETHER] for each in entries]) / numpy.maximum(counts, 1)
        means = means if is_share else numpy.where(there, (means - least) / span, 0.0)
        has = there.astype(float)
        n += has @ has.T
        totals += means @ has.T
        squares += (means * means) @ has.T
        products += means @ means.T
        for i in range(size - 1):
            differs = numpy.abs(means[i + 1 :] - means[i]) > TIED
            apart[i, i + 1 :] += (differs & there[i + 1 :] & there[i]).sum(1)
    gained = totals - totals.T
    away = squares + squares.T - 2 * products
    return {
        (i, j): _difference(int(n[i, j]), float(gained[i, j]), float(away[i, j]), int(apart[i, j]))
        for i in range(size)
        for j in range(i + 1, size)
    }


def _range(every: Sequence[Moments]) -> tuple[float, float]:
    """The least score of all, and how far the largest lies above it."""
    least = min(each.least for each in every)
    return least, max(each.most for each in every) - least or 1.0


def _difference(n: int, total: float, squares: float, apart: int) -> Difference:
    """Every case is one pair. What rounding leaves of differences that are all equal is taken off."""
    if n and squares - total * total / n < SAME * n:
        squares = total * total / n
    return difference_of(Moments(n, n, total, squares, total, float(n), apart=apart), n)


def _advice(order: list[str], tied: dict[str, tuple[str, ...]], contrasts: dict[tuple[str, str], Difference]) -> str:
    """What would split the first two that stand beside each other and are tied."""
    for place, (one, other) in enumerate(pairwise(order), 1):
        if other in tied[one]:
            pair = contrasts.get((one, other)) or contrasts.get((other, one))
            if pair is None or pair.value is None or pair.deviation is None:
                return ""
            more = cases_to_tell(pair.value, pair.deviation, pair.clusters)
            if isinstance(more, str):
                return more
            if not more:
                return f"Places {place} and {place + 1} would be told if they were the only two."
            split = f"To split places {place} and {place + 1}{' without the correction' if len(contrasts) > 1 else ''}"
            return f"{split}: about {more:,} more cases, if the difference is real."
    return ""
