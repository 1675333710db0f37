"""What an experiment gained on a baseline, for gates; and how much of a run passes its threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from evaluators.core import Status
from evaluators.models import EvaluatorVersion
from evaluators.stats.estimate import Estimate, Moments, estimate
from evaluators.stats.paired import Difference
from experiments.analysis.comparing.figures import Figure
from experiments.analysis.comparing.judges import Subject, judges_of
from experiments.analysis.comparing.kept import Comparison, comparison
from experiments.models import Evaluation, Experiment, Run


@dataclass(frozen=True, slots=True)
class Gain:
    """The experiment's scores minus the baseline's, by one version that judged both."""

    subject: Subject
    figure: Figure

    @property
    def run(self) -> Run:
        return self.subject.run

    @property
    def baseline_run(self) -> Run | None:
        return self.subject.baseline_run

    @property
    def version(self) -> EvaluatorVersion:
        return self.subject.version

    @property
    def difference(self) -> Difference:
        return self.figure.difference

    @property
    def verdict(self) -> str:
        """Better or worse as far as the interval of this difference tells, whatever else was asked."""
        return self.difference.verdict("lower" if self.figure.direction == "lower" else "higher")


@dataclass(frozen=True, slots=True)
class Gains:
    """`gains` by evaluator, `comparative` what was said of the two; `alone` are runs of what judged one side."""

    gains: list[Gain]
    comparative: list[Gain]
    alone: list[Run]
    facts: dict[str, Any]


def gains_of(experiment: Experiment, baseline: Experiment) -> Gains:
    """Compare two experiments of one data set. Three queries where the comparison is kept."""
    judges = judges_of(experiment, baseline)
    found: Comparison = comparison(experiment, baseline, judges.subjects)
    every = [Gain(subject, figure) for subject, figure in found.judged]
    return Gains(
        [gain for gain in every if not gain.subject.is_comparative],
        [gain for gain in every if gain.subject.is_comparative],
        judges.alone,
        found.facts,
    )


def share_passing(run: Run) -> Estimate:
    """The share of scored rows on the good side of the threshold. Without a threshold nothing passes or fails."""
    rows = Evaluation.objects.filter(run=run)
    told = rows.filter(state=Status.SCORED, passed__isnull=False).values_list("output__case", "passed")
    return estimate(Moments.of((case, float(bool(passed))) for case, passed in told), rows.count())
