"""Strengths from comparisons in pairs (Bradley and Terry 1952), with intervals that take the case as the unit.

The log-odds that i wins over j are θ_i − θ_j. A win counts 1, a tie 0.5, and a judge's probability what it is; the θ
that make the expected wins of each the observed ones are found by Newton's method. They are given relative to their
mean, which is 0, or to one reference.

Comparisons of one case are not independent. With up to 2,000 cases the error of a strength is its standard deviation
over 500 seeded resamples of cases; beyond that, and without resamples, the sandwich estimate (Liang and Zeger 1986).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evaluators.stats.estimate import Estimate, student_t
from evaluators.stats.resampling import MOST_CASES, counts
from evaluators.stats.tails import student_p

RESAMPLES = 500
LOST = 0.025  # share of resamples in which some strength has no bound, above which no interval is given
STEP = 1.5  # the furthest that one step of Newton's may move a strength
TOO_FEW = "Fewer than ten cases say too little about how far strengths could be off."
LEAST_CASES = 10
ROWS_TOGETHER = 500_000
NO_ERROR = 1e-6  # log-odds, below which an error is what the search for strengths leaves
ALL_EQUAL = "Every case tells the same, so it cannot be told how far the strength could be off."
LOPSIDED = "One side wins so nearly always that a few other cases could put its strength anywhere."


@dataclass(frozen=True, slots=True)
class Gap:
    """How far one strength lies above another, in log-odds, and the two-sided p-value of there being no gap.

    None where there are too few cases, or where all tell the same.
    """

    value: float
    p_value: float | None


@dataclass(frozen=True, slots=True)
class Standings:
    """`strengths` by name in log-odds, `gaps` of every pair (first minus second), or a sentence in `refused`.

    An Estimate's n are comparisons of that entry, its clusters the cases of all.
    """

    strengths: dict[str, Estimate]
    gaps: dict[tuple[str, str], Gap]
    refused: str | None = None


def bradley_terry(
    names: Sequence[str],
    cases: Any,
    first: Any,
    second: Any,
    won: Any,
    *,
    reference: str | None = None,
    resamples: int = RESAMPLES,
) -> Standings:
    """From arrays with one row a comparison: its case, who was compared (places in `names`) and what share first won.

    Shares lie in [0, 1]; rows without one (NaN) are left out, and stay among what was asked. A comparison and its
    mirror are two judgements of one pair: give one of them.
    """
    import numpy as np

    first, second = (np.asarray(each, np.int32) for each in (first, second))
    cases, won = np.asarray(cases), np.asarray(won, float)
    asked = _games(first, second, len(names))
    there = ~np.isnan(won)
    if not there.all():
        cases, first, second, won = (each[there] for each in (cases, first, second, won))
    unique = np.unique(cases)
    rows = _Rows(len(names), len(unique), np.searchsorted(unique, cases).astype(np.int32), first, second, won)
    wins = rows.wins()
    refused = _unbounded(names, wins) if len(names) > 1 else "It takes two to compare."
    if refused:
        return Standings({}, {}, refused)
    strengths = _fit(wins[None])[0]
    errors, method, refused = _errors(rows, strengths, resamples)
    n = _games(first, second, len(names))
    zero = np.full(len(names), 1 / len(names)) if reference is None else np.eye(len(names))[names.index(reference)]
    shown = {}
    for i, name in enumerate(names):
        away, sizes = np.eye(len(names))[i] - zero, (int(n[i]), len(unique), int(asked[i]))
        value = float(strengths @ away)
        if name == reference:
            shown[name] = Estimate(0.0, 0.0, 0.0, *sizes, "the reference", standard_error=0.0)
        elif errors is None:
            shown[name] = Estimate(value, None, None, *sizes, "none", refused)
        else:
            error = float(np.sqrt(max(0.0, away @ errors @ away)))
            if error < NO_ERROR:
                shown[name] = Estimate(value, None, None, *sizes, "none", ALL_EQUAL)
                continue
            half = student_t(len(unique) - 1) * error
            shown[name] = Estimate(value, value - half, value + half, *sizes, method, standard_error=error)
    return Standings(shown, _gaps(names, strengths, errors, len(unique) - 1))


def _games(first: Any, second: Any, names: int) -> Any:
    import numpy as np

    return np.bincount(first, minlength=names) + np.bincount(second, minlength=names)


def _gaps(names: Sequence[str], strengths: Any, errors: Any, freedom: int) -> dict[tuple[str, str], Gap]:
    gaps = {}
    for i, one in enumerate(names):
        for j in range(i + 1, len(names)):
            value = float(strengths[i] - strengths[j])
            p = None
            if errors is not None:
                variance = errors[i, i] + errors[j, j] - 2 * errors[i, j]
                p = student_p(value / variance**0.5, freedom) if variance >= NO_ERROR**2 else None
            gaps[one, names[j]] = Gap(value, p)
    return gaps


@dataclass(frozen=True, slots=True)
class _Rows:
    """The scored comparisons: cases and entries by their places, and what share of each the first one won."""

    names: int
    clusters: int
    cases: Any
    first: Any
    second: Any
    won: Any

    def parts(self) -> Iterator[tuple[Any, Any, Any, Any]]:
        """Some rows at a time, since millions of them are not looked at together."""
        for start in range(0, len(self.won), ROWS_TOGETHER):
            at = slice(start, start + ROWS_TOGETHER)
            yield self.cases[at], self.first[at], self.second[at], self.won[at]

    def wins(self) -> Any:
        """The K × K table of wins, rows over columns."""
        import numpy as np

        size = self.names**2
        wins = np.zeros(size)
        for _, first, second, won in self.parts():
            wins += np.bincount(first * self.names + second, won, size)
            wins += np.bincount(second * self.names + first, 1 - won, size)
        return wins.reshape(self.names, self.names)

    def resampled(self, resamples: int) -> Any:
        """As many such tables, each from cases that were drawn anew, with replacement."""
        import numpy as np

        pairs = np.concatenate([self.first * self.names + self.second, self.second * self.names + self.first])
        places, columns = np.unique(pairs, return_inverse=True)
        cells = np.concatenate([self.cases, self.cases]) * len(places) + columns
        by_case = np.bincount(cells, np.concatenate([self.won, 1 - self.won]), self.clusters * len(places))
        wins = np.zeros((resamples, self.names**2))
        wins[:, places] = counts(self.clusters, resamples) @ by_case.reshape(self.clusters, len(places))
        return wins.reshape(-1, self.names, self.names)

    def pulls(self, strengths: Any) -> Any:
        """How far each case (row) pulls each strength (column): its wins minus those expected."""
        import numpy as np

        pulls = np.zeros((self.clusters, self.names))
        for cases, first, second, won in self.parts():
            surplus = won - 1 / (1 + np.exp(strengths[second] - strengths[first]))
            np.add.at(pulls, (cases, first), surplus)
            np.subtract.at(pulls, (cases, second), surplus)
        return pulls


def _errors(rows: _Rows, strengths: Any, resamples: int) -> tuple[Any, str, str | None]:
    """The covariance of strengths around their mean, how it was found, or the sentence why there is none."""
    import numpy as np

    if rows.clusters < LEAST_CASES:
        return None, "none", TOO_FEW
    if rows.clusters > MOST_CASES or not resamples:
        pulls = rows.pulls(strengths)
        bread = np.linalg.pinv(_curvature(rows.wins()[None], strengths[None])[0])
        covariance = bread @ (pulls.T @ pulls) @ bread * rows.clusters / (rows.clusters - 1)
        return covariance, "Bradley-Terry, t interval over cases, cluster-robust", None
    again = rows.resampled(resamples)
    bounded = _is_bounded(again)
    if bounded.mean() < 1 - LOST:
        return None, "none", LOPSIDED
    return np.cov(_fit(again[bounded], strengths).T), "Bradley-Terry, bootstrap over cases", None


def _fit(wins: Any, start: Any = None) -> Any:
    """The strengths, mean 0, of each K × K table of wins. Every table has to be bounded."""
    import numpy as np

    size = wins.shape[-1]
    games = wins + wins.transpose(0, 2, 1)
    strengths = np.zeros((len(wins), size)) + (0 if start is None else start)
    for _ in range(200):
        share = 1 / (1 + np.exp(strengths[:, None, :] - strengths[:, :, None]))
        pull = (wins - games * share).sum(2)
        curvature = _curvature(wins, strengths) + 1 / size  # the ones fix the mean, which the data leave open
        step = np.linalg.solve(curvature, pull[:, :, None])[:, :, 0]
        step *= np.minimum(1, STEP / np.maximum(1e-300, np.abs(step).max(1, keepdims=True)))
        strengths = strengths + step
        if np.abs(step).max(initial=0) < 1e-9:
            break
    return strengths - strengths.mean(1, keepdims=True)


def _curvature(wins: Any, strengths: Any) -> Any:
    """The information: Σ n_ij p_ij (1 − p_ij) on the diagonal, its parts with a minus beside it."""
    import numpy as np

    share = 1 / (1 + np.exp(strengths[:, None, :] - strengths[:, :, None]))
    parts = (wins + wins.transpose(0, 2, 1)) * share * (1 - share)
    return parts.sum(2)[:, :, None] * np.eye(wins.shape[-1]) - parts


def _reach(wins: Any) -> Any:
    """Who is joined to whom by a chain of wins, for each table of wins."""
    import numpy as np

    reach = (wins > 0) | np.eye(wins.shape[-1], dtype=bool)
    for _ in range(int(wins.shape[-1]).bit_length()):
        reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
    return reach


def _is_bounded(wins: Any) -> Any:
    """Whether all strengths are finite: whoever is split off won at least once and lost at least once (Ford 1957)."""
    return _reach(wins).all((1, 2))


def _unbounded(names: Sequence[str], wins: Any) -> str | None:
    """Why the strengths have no bounds, or None where they have."""
    reach = _reach(wins[None])[0]
    if reach.all():
        return None
    met = _reach((wins + wins.T)[None])[0, 0]
    if not met.all():
        return f"“{names[0]}” and “{names[int(met.argmin())]}” were never compared, not even through others."
    # Among those who are never beaten from outside, a group that is joined in itself.
    top = next(i for i in range(len(names)) if (reach[i] | ~reach[:, i]).all())
    group = reach[top] & reach[:, top]
    if group.sum() == 1:
        return f"“{names[top]}” won every comparison, so its strength has no bound."
    return f"{group.sum()} of {len(names)} won every comparison with the others, so their strengths have no bound."
