"""The columns of a leaderboard: one version of each evaluator, by its score or by what else it measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evaluators.core import Measure
from evaluators.models import EvaluatorVersion
from evaluators.scoring import Passing
from evaluators.stats.estimate import Estimate, Moments, estimate, wilson
from experiments.analysis.columns import Column
from experiments.analysis.measured import measures_of
from experiments.analysis.repeats import passing_of
from experiments.analysis.slicing import Slice
from experiments.analysis.wholes import is_whole, wholes_of
from experiments.analysis.working_out import Question, made_from
from experiments.models import Experiment, Run

RANKED = "experiments.analysis.leaderboard_ranking.ranked"


@dataclass(frozen=True, slots=True)
class Place:
    """From which place to which a system may stand, 1 being the best, or why that cannot be told."""

    low: int | None = None
    high: int | None = None
    tied_with: tuple[str, ...] = ()
    untold: str = ""

    def __str__(self) -> str:
        if self.low is None:
            return "–"
        return str(self.low) if self.low == self.high else f"{self.low}–{self.high}"


@dataclass(frozen=True)
class Cell:
    """What one version says of one system. `figure` is None while that of a slice is being worked out."""

    column: Column
    figure: Estimate | None
    passing: Estimate | None = None
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def run(self) -> Run:
        return self.column.run


@dataclass(frozen=True)
class Judged:
    """A column: one version of an evaluator, by its score or by a measure, with a cell for each entrant it judged.

    `others` are the entrants that only other versions judged, with these; `unjudged` those that none did.
    """

    version: EvaluatorVersion
    measure: Measure | None
    passing: Passing
    cells: dict[int, Cell]  # by experiment
    others: dict[int, list[EvaluatorVersion]]
    unjudged: list[int]
    versions: list[tuple[EvaluatorVersion, int]]  # every one of the evaluator that judged any, and how many
    measures: tuple[Measure, ...] = ()
    answer: Mapping[str, Any] | None = None

    @property
    def key(self) -> str:
        return f"{self.version.pk}:{self.measure.name}" if self.measure else str(self.version.pk)

    @property
    def title(self) -> str:
        name = self.version.evaluator.name
        return f"{name}: {self.measure.title}" if self.measure else name

    @property
    def direction(self) -> str:
        return (self.measure.direction or "higher") if self.measure else self.passing.direction

    @property
    def is_share(self) -> bool:
        return self.measure is None or self.measure.unit == "share"

    @property
    def is_whole(self) -> bool:
        """Whether its figures are of all cases together, so that no case tells anything of them."""
        return is_whole(self.version, self.measure.name if self.measure else "")

    @property
    def is_settled(self) -> bool:
        """Whether none of its runs will change by itself."""
        return all(cell.column.progress is None or cell.column.progress.now.is_over for cell in self.cells.values())

    @property
    def rows(self) -> int:
        return sum(cell.column.summary.asked for cell in self.cells.values())

    def place_of(self, experiment_id: int) -> Place | None:
        """None while places are being worked out."""
        cell = self.cells.get(experiment_id)
        if cell is None:
            return Place(untold="Not judged.")
        if self.answer is None:
            return None
        key = str(cell.run.pk)
        if key in self.answer["untold"]:
            return Place(untold=self.answer["untold"][key])
        low, high, tied = self.answer["places"][key]
        return Place(low, high, tuple(tied))


def judged_by(
    shown: Iterable[Column], experiments: Sequence[Experiment], versions: Sequence[int], also: Sequence[str]
) -> list[Judged]:
    """The columns of some runs: evaluator by evaluator, then the measures that were asked for."""
    groups: dict[int, list[Column]] = {}
    for column in shown:
        groups.setdefault(column.run.version.evaluator_id, []).append(column)
    judged = [_chosen(group, experiments, versions) for group in groups.values()]
    return judged + [measured for each in judged for measured in _measured(each, also)]


def _chosen(group: list[Column], experiments: Sequence[Experiment], wanted: Sequence[int]) -> Judged:
    """The version that was asked for, or that judged most systems, the newest of several."""
    counted = Counter(column.run.version for column in group)
    asked_for = [version for version in counted if version.pk in wanted]
    version = asked_for[0] if asked_for else max(counted, key=lambda each: (counted[each], each.number))
    cells = {column.run.experiment_id: column for column in group if column.run.version_id == version.pk}
    others: dict[int, list[EvaluatorVersion]] = {}
    for column in group:
        if column.run.experiment_id not in cells:
            others.setdefault(column.run.experiment_id, []).append(column.run.version)
    passing = passing_of(version)
    return Judged(
        version,
        None,
        passing,
        {pk: _whole(column, passing) for pk, column in cells.items()},
        others,
        [each.pk for each in experiments if each.pk not in cells and each.pk not in others],
        sorted(counted.items(), key=lambda pair: -pair[0].number),
        (*measures_of(version), *wholes_of(version)),
    )


def _whole(column: Column, passing: Passing) -> Cell:
    """Figures over all cases, which the summary of a run has."""
    summary = column.summary
    counts = {**summary.counts, "failing": summary.below}
    share = None
    if passing.threshold is not None and not summary.estimate.n:
        share = estimate(Moments(), summary.asked)
    elif passing.threshold is not None and summary.estimate.n == summary.estimate.clusters:
        n, passes = summary.estimate.n, summary.estimate.n - summary.below
        low, high = wilson(passes, n)
        share = Estimate(passes / n, low, high, n, n, summary.asked, "Wilson score interval")
    return Cell(column, summary.estimate, share, counts)


def _measured(judged: Judged, also: Sequence[str]) -> Iterable[Judged]:
    """The columns of its measures that were asked for."""
    for measure in judged.measures:
        if f"{judged.version.pk}:{measure.name}" in also:
            figures = {pk: cell.column.summary.measures.get(measure.name) for pk, cell in judged.cells.items()}
            cells = {pk: Cell(cell.column, figures[pk]) for pk, cell in judged.cells.items()}
            yield replace(judged, measure=measure, passing=Passing(), cells=cells, measures=())


def is_clustered(judged: Judged) -> bool:
    """Whether the shares that pass have to be told from the rows, since a case has several of them."""
    return judged.passing.threshold is not None and any(
        cell.passing is None and cell.figure is not None and cell.figure.n for cell in judged.cells.values()
    )


def question_about(judged: Judged, chosen: Slice, topic: str = RANKED) -> Question | None:
    """What to ask about a column; nothing while its runs go on, or where nobody is to be ranked."""
    runs = [cell.run for cell in judged.cells.values()]
    if not runs or not judged.is_settled:
        return None
    measure = judged.measure.name if judged.measure else ""
    return Question(
        topic,
        (tuple(sorted(run.pk for run in runs)), measure, chosen.split, chosen.field, chosen.value),
        made_from(sorted(runs, key=lambda run: run.pk)),
        judged.rows,
    )


def filled(judged: Judged, answer: Mapping[str, Any] | None, chosen: Slice) -> Judged:
    """The column with what was worked out: places, and figures where only some cases count."""
    cells = dict(judged.cells)
    for pk, cell in cells.items():
        key = str(cell.run.pk)
        if answer is None and chosen:
            cells[pk] = Cell(cell.column, None)
        elif answer is not None and key in answer["figures"]:
            passing = Estimate(**answer["passing"][key]) if judged.passing.threshold is not None else None
            figure = Estimate(**answer["figures"][key]) if chosen else cell.figure
            cells[pk] = Cell(cell.column, figure, passing, answer["counts"][key])
    return replace(judged, cells=cells, answer=answer)
