"""What an experiment gained on a baseline: for each evaluator that judged both, the mean difference of their scores.

Pairs are outputs for the same case in the same attempt, judged by the same version. What only one side has, be it an
output or a score, is counted and goes into no figure.
"""

from __future__ import annotations

from dataclasses import dataclass

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
        gains=[_gain(run, theirs[pk], facts["outputs"]) for pk, run in mine.items() if pk in theirs],
        alone=[run for pk, run in (mine | theirs).items() if pk not in mine or pk not in theirs],
        outputs=facts["outputs"],
        only_experiment=facts["alone"][0]["count"],
        only_baseline=facts["alone"][1]["count"],
    )


def _gain(run: Run, baseline_run: Run, pairs: int) -> Gain:
    mine, theirs = _scores(run), _scores(baseline_run)
    both = mine.keys() & theirs.keys()
    differences = ((place[0], mine[place] - theirs[place]) for place in sorted(both))
    return Gain(
        run,
        baseline_run,
        passing_of(run.version).direction,
        paired(differences, pairs),
        len(mine) - len(both),
        len(theirs) - len(both),
    )


def _scores(run: Run) -> dict[Place, float]:
    rows = Evaluation.objects.filter(run=run, state=Status.SCORED, repeat=0)
    found = rows.values_list("output__case", "output__attempt", "score")
    return {(case, attempt): score for case, attempt, score in found.iterator()}


def share_passing(run: Run) -> Estimate:
    """The share of scored rows on the good side of the threshold. Without a threshold nothing passes or fails."""
    rows = Evaluation.objects.filter(run=run, repeat=0)
    told = rows.filter(state=Status.SCORED, passed__isnull=False).values_list("output__case", "passed")
    return estimate(Moments.of((case, float(passed)) for case, passed in told), rows.count())
