"""What an experiment gained on a baseline: for each evaluator that judged both, the mean difference of their scores.

Pairs are outputs for the same case in the same attempt, judged by the same version. What only one side has, be it an
output or a score, is counted and goes into no figure.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Avg

from evaluators.core import Direction, Status
from evaluators.models import EvaluatorVersion
from evaluators.stats.estimate import Estimate, Moments, estimate
from evaluators.stats.paired import Difference, paired
from experiments.analysis.columns import current_runs
from experiments.analysis.pairing import pair_facts
from experiments.analysis.repeats import passing_of
from experiments.models import Evaluation, Experiment, Run, RunState

Place = tuple[int, int]  # case and attempt


@dataclass(frozen=True, slots=True)
class Gain:
    """The experiment's scores minus the baseline's, by one version. `only_…` count the scores without a partner."""

    run: Run
    baseline_run: Run
    direction: Direction
    difference: Difference
    only_experiment: int
    only_baseline: int

    @property
    def version(self) -> EvaluatorVersion:
        return self.run.version

    @property
    def is_over(self) -> bool:
        return all(run.state in (RunState.FINISHED, RunState.STOPPED) for run in (self.run, self.baseline_run))

    @property
    def is_rehearsal(self) -> bool:
        return self.run.is_rehearsal or self.baseline_run.is_rehearsal

    @property
    def verdict(self) -> str:
        """Better or worse as far as the interval of the difference tells, in the evaluator's own direction."""
        return self.difference.verdict(self.direction)


@dataclass(frozen=True, slots=True)
class Gains:
    """`gains` by evaluator; `alone` are the versions that judged only one side; `outputs` counts what has a partner."""

    gains: list[Gain]
    alone: list[Run]
    outputs: int
    only_experiment: int
    only_baseline: int


def gains_of(experiment: Experiment, baseline: Experiment) -> Gains:
    """Compare two experiments of one data set. Two queries for each evaluator that judged both, and a few."""
    facts = pair_facts(experiment, baseline)
    mine, theirs = ({run.version_id: run for run in current_runs(each)} for each in (experiment, baseline))
    return Gains(
        gains=[_gain(run, theirs[pk]) for pk, run in mine.items() if pk in theirs],
        alone=[run for pk, run in (mine | theirs).items() if pk not in mine or pk not in theirs],
        outputs=facts["outputs"],
        only_experiment=facts["alone"][0]["count"],
        only_baseline=facts["alone"][1]["count"],
    )


def _gain(run: Run, baseline_run: Run) -> Gain:
    mine, theirs = _scores(run), _scores(baseline_run)
    asked = mine.keys() & theirs.keys()
    scored = [{place for place, score in side.items() if score is not None} for side in (mine, theirs)]
    both = sorted(scored[0] & scored[1])
    return Gain(
        run,
        baseline_run,
        passing_of(run.version).direction,
        paired(((place[0], (mine[place] or 0.0) - (theirs[place] or 0.0)) for place in both), len(asked)),
        len(scored[0]) - len(both),
        len(scored[1]) - len(both),
    )


def _scores(run: Run) -> dict[Place, float | None]:
    """The score of every output that was asked for, the mean of several judgements; None without any."""
    rows = Evaluation.objects.filter(run=run).order_by().values_list("output__case", "output__attempt")
    return {(case, attempt): score for case, attempt, score in rows.annotate(mean=Avg("score")).iterator()}


def share_passing(run: Run) -> Estimate:
    """The share of scored rows on the good side of the threshold. Without a threshold nothing passes or fails."""
    rows = Evaluation.objects.filter(run=run)
    told = rows.filter(state=Status.SCORED, passed__isnull=False).values_list("output__case", "passed")
    return estimate(Moments.of((case, float(bool(passed))) for case, passed in told), rows.count())
