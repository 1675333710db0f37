"""Who judged two results: versions that scored both, and comparative ones that saw the two together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from django.db.models import Q

from evalstudio.web.foreign import id_in
from evaluators.models import Evaluator, EvaluatorVersion
from experiments.analysis.repeats import passing_of
from experiments.ledger.progress import is_under_way
from experiments.models import Experiment, Purpose, Run


@dataclass(frozen=True)
class Subject:
    """What is compared by: a version that judged both sides (two runs), or a comparative one (a single run)."""

    run: Run
    baseline_run: Run | None

    @property
    def version(self) -> EvaluatorVersion:
        return self.run.version

    @property
    def evaluator(self) -> Evaluator:
        return self.run.version.evaluator

    @property
    def runs(self) -> list[Run]:
        return [self.run, self.baseline_run] if self.baseline_run else [self.run]

    @property
    def is_comparative(self) -> bool:
        return self.baseline_run is None

    @cached_property
    def sign(self) -> int:
        """1 where a higher score is the better one, else -1."""
        return 1 if passing_of(self.version).direction == "higher" else -1

    @property
    def is_rehearsal(self) -> bool:
        return any(run.is_rehearsal for run in self.runs)

    @property
    def is_over(self) -> bool:
        return not any(map(is_under_way, self.runs))


class Judges(NamedTuple):
    """What two experiments can be compared by, in the order of evaluators, and the runs of one side alone."""

    subjects: list[Subject]
    alone: list[Run]
    mirrored: int  # runs of comparative evaluators that took the two the other way round


def judges_of(experiment: Experiment, baseline: Experiment, by: str = "") -> Judges:
    """Who judged the two. One query.

    `by` may name a comparative run that was replaced by a later one, which is then shown beside the others.
    """
    mirror = Q(experiment=baseline, baseline=experiment, is_current=True)
    replaced = Q(experiment=experiment, baseline=baseline, pk=id_in(by) or 0)
    return _judges(experiment, baseline, _runs([experiment], baseline, mirror | replaced))


def judges_of_each(experiments: Sequence[Experiment], baseline: Experiment) -> list[Judges]:
    """Who judged each of some experiments and the baseline. One query."""
    runs = _runs(experiments, baseline, Q(pk__in=[]))
    return [_judges(experiment, baseline, runs) for experiment in experiments]


def _runs(experiments: Sequence[Experiment], baseline: Experiment, more: Q) -> list[Run]:
    """With the experiments and the project that are at hand, since joins of them take longer than the rest."""
    known = {each.pk: each for each in (*experiments, baseline)}
    own = Q(baseline=None, is_current=True, experiment__in=known)
    between = Q(experiment__in=experiments, baseline=baseline, is_current=True)
    runs = Run.objects.filter(own | between | more, purpose=Purpose.RESULTS).select_related(
        "version__evaluator", "version__publication", "connection", "calibration"
    )
    found = list(runs.order_by("version__evaluator", "version__number", "pk"))
    for run in found:
        run.experiment = known[run.experiment_id]
        run.version.evaluator.project = baseline.project
    return found


def _judges(experiment: Experiment, baseline: Experiment, runs: Iterable[Run]) -> Judges:
    places = [(run, (run.experiment_id, run.baseline_id)) for run in runs]
    mine = [run for run, place in places if place == (experiment.pk, None)]
    theirs = {run.version_id: run for run, place in places if place == (baseline.pk, None)}
    both = [Subject(run, theirs[run.version_id]) for run in mine if run.version_id in theirs]
    comparative = [Subject(run, None) for run, place in places if place == (experiment.pk, baseline.pk)]
    used = {run for subject in both for run in subject.runs}
    alone = [run for run in (*mine, *theirs.values()) if run not in used]
    return Judges([*both, *comparative], alone, sum(place == (baseline.pk, experiment.pk) for _, place in places))
