"""The columns of a result: each current run with its figure, its counts and, until it has settled, its progress."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.core.cache import cache
from django.db.models import Avg, Count, Q

from evalstudio.web import numbers
from evalstudio.web.foreign import id_in
from evaluators.core import Measure
from evaluators.models import Evaluator
from evaluators.scoring import Passing
from evaluators.stats.estimate import Estimate
from experiments.analysis.corrected import corrected_of
from experiments.analysis.distribution import Drawing, drawing
from experiments.analysis.label_scores import told_apart
from experiments.analysis.measured import measures_of
from experiments.analysis.repeats import passing_of
from experiments.analysis.summary import Summary, summaries
from experiments.analysis.versus import exactly, verdict
from experiments.analysis.wholes import wholes_of
from experiments.ledger.asked import selected
from experiments.ledger.progress import Progress, progress_of
from experiments.models import Experiment, Output, Purpose, Run, RunState, Source


@dataclass(frozen=True, slots=True)
class RunProgress:
    """A run's progress in words."""

    now: Progress

    @property
    def counts(self) -> dict[str, int]:
        """Rows of every state, those in flight apart from the pending ones."""
        flying = min(self.now.in_hand, self.now.pending)
        return {
            "scored": self.now.scored,
            "unscored": self.now.unscored,
            "failed": self.now.failed,
            "awaiting": self.now.awaiting,
            "in_flight": flying,
            "pending": self.now.pending - flying,
        }

    @property
    def retryable(self) -> int:
        """Rows without a score that could be asked for again, once the run is over."""
        return self.now.unscored + self.now.failed if self.now.is_over else 0

    @property
    def word(self) -> str:
        if self.now.awaits:
            return "awaits scores" if self.now.is_outside else "awaits people"
        return {
            RunState.PREPARING: "is being prepared",
            RunState.ACTIVE: "is running",
            RunState.STOPPING: "is stopping",
            RunState.STOPPED: "was stopped",
            RunState.FINISHED: "has finished",
        }[self.now.state]

    @property
    def sentence(self) -> str:
        """Pace, time left and cost so far, as far as they are known: "12 per second, 40 s left, $0.84 so far"."""
        parts = [f"{self.now.awaiting:,} to {'come' if self.now.is_outside else 'grade'}"] if self.now.awaits else []
        if self.now.per_second and not self.now.is_over:
            parts.append(_pace(self.now.per_second))
        if self.now.left_s is not None and not self.now.is_over:
            parts.append(f"{numbers.duration(max(1000, self.now.left_s * 1000))} left")
        if self.now.spent_usd:
            parts.append(f"{numbers.usd(self.now.spent_usd)}{'' if self.now.is_over else ' so far'}")
        return ", ".join(parts)


@dataclass(frozen=True)
class Column:
    """A run as a column of the grid. `progress` is None once the run has finished."""

    run: Run
    summary: Summary
    progress: RunProgress | None
    corrected: Estimate | None = None  # what people would say, where their grades tell

    @property
    def evaluator(self) -> Evaluator:
        return self.run.version.evaluator

    @property
    def figure(self) -> Estimate:
        return self.summary.estimate

    @property
    def is_rehearsal(self) -> bool:
        return self.run.is_rehearsal

    @property
    def is_published(self) -> bool:
        """Whether its version was ever published. No query where runs come with `version__publication`."""
        return hasattr(self.run.version, "publication")

    @property
    def is_standing(self) -> bool:
        """Whether the run used the version that its evaluator stands for at present."""
        return self.run.version_id == self.evaluator.published_version_id

    @property
    def verdict(self) -> str:
        """Of a comparison: "better", "worse" or "same", as far as the interval tells."""
        return verdict(self.figure)

    @property
    def exactly(self) -> str:
        """Of a comparison: its figure with more digits and its standard error."""
        return exactly(self.figure)

    @property
    def measures(self) -> list[tuple[Measure, Estimate]]:
        """What it measures besides its figure."""
        known, version = self.summary.measures, self.run.version
        declared = (*measures_of(version), *wholes_of(version))
        return [(measure, known[measure.name]) for measure in declared if measure.name in known]

    @cached_property
    def passing(self) -> Passing:
        """The threshold of its version; without one nothing passes or fails."""
        return passing_of(self.run.version)

    @property
    def outputs(self) -> int | None:
        """How many outputs it was asked to judge, of all that there were; None where it judges a part of them."""
        return self.summary.asked // self.run.repeats if self.run.selection is None else None

    @property
    def chosen_outputs(self) -> str:
        """Which part of the outputs it judges, in words; empty for all."""
        return selected(self.run)

    @property
    def classifies(self) -> bool:
        """Whether its version tells classes apart, so that its run has a confusion table."""
        return told_apart(self.run.version) is not None

    @property
    def drawing(self) -> Drawing | None:
        """How its scores spread, over the scale of its figure."""
        return drawing(self.summary.steps, self.passing.threshold)


def current_runs(experiment: Experiment, baseline: Experiment | None = None, by: str = "") -> list[Run]:
    """The runs whose results the experiment shows, alone or against a baseline, in the order of their evaluators.

    `by` may name a run that was replaced by a later one: its results are then shown beside the others'.
    """
    results = experiment.runs.filter(purpose=Purpose.RESULTS, baseline=baseline)
    named = Q(pk=id_in(by) or 0) if by else Q(pk__in=[])
    runs = results.filter(Q(is_current=True) | named).select_related(
        "version__evaluator__project", "version__publication", "connection", "calibration"
    )
    return list(runs.order_by("version__evaluator", "version__number", "pk"))


def columns(runs: list[Run]) -> list[Column]:
    """A column for each run. At most nine queries: one for runs whose summary holds, three for those under way."""
    known, corrected = summaries(runs), corrected_of(runs)
    going = progress_of([run for run in runs if run.state != RunState.FINISHED])
    return [
        Column(run, known[run.pk], RunProgress(going[run.pk]) if run.pk in going else None, corrected.get(run.pk))
        for run in runs
    ]


def facts(experiment: Experiment) -> dict[str, Any]:
    """Counts and means of the outputs themselves. One query; none where they are complete and were counted before."""
    if experiment.is_open or experiment.source == Source.PROMPT:  # which a retry opens again
        return _count(experiment)
    key = f"facts-of-experiment:{experiment.pk}:{experiment.created_at.timestamp()}"
    counted = cache.get(key)
    if counted is None:
        counted = _count(experiment)
        cache.set(key, counted, timeout=None)
    return counted


def _count(experiment: Experiment) -> dict[str, Any]:
    return Output.objects.filter(experiment=experiment).aggregate(
        outputs=Count("pk"),
        errors=Count("pk", filter=~Q(error="")),
        mean_latency_ms=Avg("latency_ms"),
        mean_cost_usd=Avg("cost_usd"),
    )


def _pace(per_second: float) -> str:
    return f"{per_second:.0f} per second" if per_second >= 2 else f"{per_second * 60:.0f} per minute"
