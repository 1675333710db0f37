"""Where systems stand: for each evaluator the latest figure of every system, and what the intervals prove.

A system is ahead when its interval lies wholly on the good side of every other one's. That is stricter than a test of
the difference, so whatever is said here holds; where intervals overlap, the data cannot tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evaluators.models import Evaluator
from experiments.analysis.columns import Column
from experiments.models import DatasetVersion, System

ENOUGH_COVERAGE = 0.8


@dataclass(frozen=True)
class Standing:
    """One evaluator's figures of several systems, the best first, all by one version over one data-set version."""

    columns: list[Column]

    @property
    def evaluator(self) -> Evaluator:
        return self.columns[0].evaluator

    @property
    def dataset_version(self) -> DatasetVersion:
        return self.columns[0].run.experiment.dataset_version

    @property
    def is_rehearsal(self) -> bool:
        return any(column.is_rehearsal for column in self.columns)

    @property
    def solid(self) -> list[Column]:
        """The figures that may be compared: enough outputs scored, and an interval."""
        return [column for column in self.columns if not _is_thin(column) and column.figure.low is not None]

    @property
    def leader(self) -> Column | None:
        """The system that is ahead of all other solid ones; None where there is no other or the data cannot tell."""
        if len(self.solid) < 2:
            return None
        best, *others = self.solid
        return best if all(_is_ahead(best, other) for other in others) else None

    @property
    def is_open(self) -> bool:
        """Whether there are several systems and the data cannot tell which is ahead."""
        return len(self.columns) > 1 and self.leader is None


@dataclass(frozen=True)
class Claim:
    """A system, the evaluators on which it is ahead, and the systems that it is ahead of."""

    system: System
    rivals: tuple[System, ...]
    standings: list[Standing]


@dataclass(frozen=True)
class Unknown:
    """What the data leaves open, the page to look at, and a sentence on what would help."""

    title: str
    url: str
    advice: str


def standings(columns: Iterable[Column]) -> list[Standing]:
    """From columns, the newest first: for each evaluator the newest figure of every system that can be compared."""
    by_evaluator: dict[int, list[Column]] = {}
    for column in columns:
        if column.figure.n:
            by_evaluator.setdefault(column.evaluator.pk, []).append(column)
    found = [Standing(_best_first(_comparable(group))) for group in by_evaluator.values()]
    return sorted(found, key=lambda standing: standing.evaluator.pk)


def claims(found: Iterable[Standing]) -> list[Claim]:
    """What the standings prove, the claim that holds on most evaluators first."""
    by_systems: dict[tuple[int, ...], Claim] = {}
    for standing in found:
        if standing.leader:
            first, *rivals = [column.run.experiment.system for column in standing.solid]
            rivals.sort(key=lambda system: system.name)
            key = (first.pk, *(rival.pk for rival in rivals))
            by_systems.setdefault(key, Claim(first, tuple(rivals), [])).standings.append(standing)
    return sorted(by_systems.values(), key=lambda claim: -len(claim.standings))


def unknowns(found: Iterable[Standing]) -> list[Unknown]:
    """What the standings leave open: figures from too few scores, and systems that no interval separates."""
    left: list[Unknown] = []
    for standing in found:
        left += [
            Unknown(
                f"{column.run.experiment.system.name} on {standing.evaluator.name}", _results(column), _coverage(column)
            )
            for column in standing.columns
            if _is_thin(column)
        ]
        if standing.is_open and len(standing.solid) > 1:
            best, second = standing.solid[:2]
            against = f"{best.run.experiment.url_against(second.run.experiment_id)}?by={best.run.pk}"
            left.append(Unknown(f"Who is ahead on {standing.evaluator.name}", against, _apart(best, second)))
    return left


def _comparable(columns: list[Column]) -> list[Column]:
    """Those with the version and the data-set version of the newest one, one for each system."""
    newest = columns[0].run
    kept: dict[int, Column] = {}
    for column in columns:
        run = column.run
        same = run.version_id == newest.version_id
        if same and run.experiment.dataset_version_id == newest.experiment.dataset_version_id:
            kept.setdefault(run.experiment.system_id, column)
    return list(kept.values())


def _best_first(columns: list[Column]) -> list[Column]:
    sign = -1 if columns[0].passing.direction == "higher" else 1
    return sorted(columns, key=lambda column: sign * (column.figure.value or 0.0))


def _is_thin(column: Column) -> bool:
    return column.figure.coverage < ENOUGH_COVERAGE


def _is_ahead(one: Column, other: Column) -> bool:
    a, b = one.figure, other.figure
    if a.low is None or a.high is None or b.low is None or b.high is None:
        return False
    return a.low > b.high if one.passing.direction == "higher" else a.high < b.low


def _coverage(column: Column) -> str:
    figure = column.figure
    scored = f"{figure.n} of {figure.asked} outputs have a score"
    is_going = column.progress is not None and not column.progress.now.is_over
    if column.progress is not None and column.progress.now.is_outside:
        return f"So far {scored}; the scores of the others have not come yet."
    if column.progress is not None and column.progress.now.awaits:
        return f"So far {scored}; the others await people."
    return f"So far {scored}." if is_going else f"Only {scored}. Resume the run, or retry what failed."


def _results(column: Column) -> str:
    return f"{column.run.experiment.get_absolute_url()}?by={column.run.pk}"


def _apart(best: Column, second: Column) -> str:
    apart = abs((best.figure.value or 0.0) - (second.figure.value or 0.0))
    return f"They are {apart * 100:.1f} points apart. Case by case, more can be told than by two intervals."
