"""The leaderboard in pairs: what one comparative version said of results of one data set, each pair counted once.

Of a comparison and its mirror one is taken: that against the chosen baseline, else the one with more scores, else the
newer. Two judgements of one pair are not two pieces of evidence.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from evalstudio.projects.models import Project
from evaluators.models import EvaluatorVersion
from evaluators.stats.estimate import Estimate
from experiments.analysis.columns import Column, columns
from experiments.analysis.leaderboard_ranking import why_untold
from experiments.analysis.pairing import names_of_each
from experiments.analysis.versus import Outcomes, verdict
from experiments.analysis.working_out import Question, answers, made_from
from experiments.models import Dataset, Experiment, Purpose, Run

MOST_RUNS = 2_000


@dataclass(frozen=True)
class Met:
    """One pair of results, seen from `one`: the share of wins that it has against `other`."""

    one: Experiment
    other: Experiment
    column: Column
    is_mirrored: bool  # the run has `other` for the compared result

    @cached_property
    def figure(self) -> Estimate:
        return _mirrored(self.column.figure) if self.is_mirrored else self.column.figure

    @cached_property
    def corrected(self) -> Estimate | None:
        """The share of wins that people would give it."""
        told = self.column.corrected
        return _mirrored(told) if told and self.is_mirrored else told

    @cached_property
    def outcomes(self) -> Outcomes:
        found = self.column.summary.outcomes or Outcomes(0, 0, 0)
        return Outcomes(found.losses, found.ties, found.wins) if self.is_mirrored else found

    @property
    def flips(self) -> int:
        return self.column.summary.flips

    @property
    def untold(self) -> str | None:
        """Why nothing may be concluded from it; None where something may."""
        return "It is still running." if _is_going(self.column) else why_untold(self.figure)

    @property
    def verdict(self) -> str:
        return "same" if self.untold else verdict(self.figure)

    @property
    def url(self) -> str:
        return self.column.run.results_url or ""


@dataclass(frozen=True, slots=True)
class Strength:
    """A system's strength in log-odds with its place; `share` is what it should win against the baseline."""

    experiment: Experiment
    figure: Estimate
    share: Estimate
    low: int
    high: int
    tied_with: tuple[str, ...]

    @property
    def place(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low}–{self.high}"


@dataclass(frozen=True)
class Pairs:
    """All that page, file and API tell. `strengths` is None while they are being worked out, or were refused."""

    dataset: Dataset | None = None
    version: EvaluatorVersion | None = None
    versions: Sequence[tuple[EvaluatorVersion, int]] = ()
    baseline: Experiment | None = None
    experiments: Sequence[Experiment] = ()
    met: Mapping[tuple[int, int], Met] = field(default_factory=dict)  # by both, one and other
    mirrors: Sequence[Column] = ()  # not counted, since their other side is
    unfit: Sequence[Met] = ()  # in no strength
    names: Mapping[int, str] = field(default_factory=dict)
    strengths: Sequence[Strength] | None = None
    refused: str = ""

    @property
    def rates(self) -> list[Met]:
        """Against the baseline, the best first; what cannot be told comes last."""
        against = [met for (_, other), met in self.met.items() if self.baseline and other == self.baseline.pk]
        return sorted(against, key=lambda met: (met.untold is not None, -(met.figure.value or 0), met.one.pk))

    @property
    def is_waiting(self) -> bool:
        return bool(self.met) and self.strengths is None and not self.refused

    @property
    def is_going(self) -> bool:
        return any(_is_going(met.column) for met in self.met.values())

    def exactly(self, met: Met) -> tuple[str, str]:
        """Share and standard error in per cent with three digits, as such tables are published."""
        value, error = met.figure.value, met.figure.standard_error
        return "" if value is None else f"{value * 100:.3f}", "" if error is None else f"{error * 100:.3f}"


def pairs_of(
    project: Project,
    datasets: Sequence[Dataset],
    dataset_id: int | None,
    version_id: int | None,
    baseline_id: int | None,
) -> Pairs:
    """The leaderboard in pairs that is asked for; what does not exist falls back to what has most runs."""
    counted = Counter(_results(project).values_list("experiment__dataset_version__dataset", flat=True))
    by_id = {each.pk: each for each in datasets}
    dataset = by_id.get(dataset_id or 0) or next((by_id[pk] for pk, _ in counted.most_common() if pk in by_id), None)
    if dataset is None:
        return Pairs()
    here = _runs(project, dataset)
    versions = Counter(run.version for run in here)
    if not versions:
        return Pairs(dataset)
    version = next((each for each in versions if each.pk == version_id), None)
    version = version or max(versions, key=lambda each: (versions[each], each.pk))
    shown = columns([run for run in here if run.version_id == version.pk])
    baselines = Counter(column.run.baseline_id for column in shown)
    experiments = _experiments(shown)
    baseline = experiments.get(baseline_id or 0)
    baseline = baseline or experiments[max(baselines, key=lambda pk: (baselines[pk], -(pk or 0))) or 0]
    taken, mirrors = _once(shown, baseline.pk)
    pairs = Pairs(
        dataset,
        version,
        sorted(versions.items(), key=lambda pair: (pair[0].evaluator.name, -pair[0].number)),
        baseline,
        sorted(experiments.values(), key=lambda each: (each.system.name, each.pk)),
        _both_sides(taken, experiments),
        mirrors,
        names=names_of_each(experiments.values()),
    )
    return _with_strengths(project, pairs)


def _results(project: Project) -> QuerySet[Run]:
    return Run.objects.filter(
        experiment__project=project, purpose=Purpose.RESULTS, is_current=True, baseline__isnull=False
    )


def _runs(project: Project, dataset: Dataset) -> list[Run]:
    sides = [f"{side}__{what}" for side in ("experiment", "baseline") for what in ("system", "dataset_version")]
    runs = _results(project).filter(experiment__dataset_version__dataset=dataset)
    found = list(runs.select_related(*sides, "connection").order_by("-pk")[:MOST_RUNS])
    versions = EvaluatorVersion.objects.select_related("evaluator__project", "publication")
    known = versions.in_bulk({run.version_id for run in found})
    for run in found:  # one object each, so that what is read of a version is read once
        run.version = known[run.version_id]
        for each in (run.experiment, run.baseline):
            assert each
            each.project, each.dataset_version.dataset = project, dataset
    return found


def _experiments(shown: Iterable[Column]) -> dict[int, Experiment]:
    found: dict[int, Experiment] = {}
    for column in shown:
        for each in (column.run.experiment, column.run.baseline):
            if each:
                found[each.pk] = each
    return found


def _once(shown: Iterable[Column], baseline_id: int) -> tuple[list[Column], list[Column]]:
    """Of each pair one run, and the mirrors that are left out."""
    by_pair: dict[frozenset[int | None], list[Column]] = {}
    for column in shown:
        by_pair.setdefault(frozenset((column.run.experiment_id, column.run.baseline_id)), []).append(column)
    taken, mirrors = [], []
    for group in by_pair.values():
        first, *others = sorted(
            group,
            key=lambda column: (column.run.baseline_id == baseline_id, column.figure.n, column.run.pk),
            reverse=True,
        )
        taken.append(first)
        mirrors += others
    return taken, mirrors


def _both_sides(taken: Iterable[Column], experiments: Mapping[int, Experiment]) -> dict[tuple[int, int], Met]:
    met = {}
    for column in taken:
        one, other = experiments[column.run.experiment_id], experiments[column.run.baseline_id or 0]
        met[one.pk, other.pk] = Met(one, other, column, is_mirrored=False)
        met[other.pk, one.pk] = Met(other, one, column, is_mirrored=True)
    return met


def _with_strengths(project: Project, pairs: Pairs) -> Pairs:
    """Strengths from the pairs that may be relied on, and what is left out of them."""
    assert pairs.baseline
    mine = {met.column.run.pk: met for met in pairs.met.values() if not met.is_mirrored}
    unfit = [met for met in mine.values() if met.untold]
    fit = sorted((met.column.run for met in mine.values() if not met.untold), key=lambda run: run.pk)
    if not fit:
        return replace(pairs, unfit=unfit, refused="No comparison has enough scores to conclude anything from it.")
    if pairs.baseline.pk not in {pk for run in fit for pk in (run.experiment_id, run.baseline_id)}:
        return replace(
            pairs, unfit=unfit, refused=f"No finished comparison has {pairs.names[pairs.baseline.pk]} in it."
        )
    question = Question(
        "experiments.analysis.pairwise_strengths.strengths",
        (tuple(run.pk for run in fit), pairs.baseline.pk),
        made_from(fit),
        sum(mine[run.pk].column.summary.asked for run in fit),
    )
    answer = answers(project.pk, [question]).get(question)
    if answer is None:
        return replace(pairs, unfit=unfit)
    if answer["refused"]:
        return replace(pairs, unfit=unfit, refused=answer["refused"])
    known = {each.pk: each for each in pairs.experiments}
    told = [_strength(known[int(pk)], each, pairs.names) for pk, each in answer["strengths"].items()]
    told.sort(key=lambda each: -(each.figure.value or 0))
    return replace(pairs, unfit=unfit, strengths=told)


def _strength(experiment: Experiment, kept: Mapping[str, Any], names: Mapping[int, str]) -> Strength:
    figure = Estimate(**kept["figure"])
    low, high, tied = kept["place"]
    return Strength(experiment, figure, _as_share(figure), low, high, tuple(names[int(pk)] for pk in tied))


def _as_share(figure: Estimate) -> Estimate:
    """Log-odds relative to the baseline as the share of wins that they stand for."""
    low, value, high = (_logistic(each) for each in (figure.low, figure.value, figure.high))
    return replace(figure, low=low, value=value, high=high, standard_error=None)


def _logistic(odds: float | None) -> float | None:
    return None if odds is None else 1 / (1 + math.exp(-max(-700.0, min(700.0, odds))))


def _mirrored(figure: Estimate) -> Estimate:
    low, value, high = (None if each is None else 1 - each for each in (figure.high, figure.value, figure.low))
    return replace(figure, value=value, low=low, high=high)


def _is_going(column: Column) -> bool:
    return column.progress is not None and not column.progress.now.is_over
