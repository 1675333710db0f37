"""The evaluators that judge an experiment from its beginning: named by whoever brings its outputs, or the project's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F

from evalstudio.projects.models import Project
from evaluators.core import Needs
from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.models import EvaluatorVersion
from experiments.ledger.asked import Asked, Take
from experiments.ledger.start import EVERYTHING, CannotStart, enter, start
from experiments.models import Experiment, Run, RunDefaults

STILL_TO_COME = (
    "Outputs are still to come, so a number of them cannot be chosen. Take all or a split, or add the evaluator once"
    " they are there."
)


@dataclass(frozen=True, slots=True)
class Judge:
    """A version that judges, what is asked of its run, and for one that compares the result to compare with."""

    version: EvaluatorVersion
    asked: Asked = EVERYTHING
    baseline: Experiment | None = None

    def said(self, problem: object) -> str:
        return f"{self.version.evaluator.name}: {problem}"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Evaluators that were chosen together for outputs to come: ids of versions, and of the experiment that those which
    compare do it with."""

    versions: list[int]
    baseline: int | None = None
    repeats: int = 1

    def judges(self, project: Project) -> list[Judge]:
        """As far as they are still there: each with what makes sense for it of what was chosen for all.

        Only what asks elsewhere is asked several times, since the others always say the same.
        """
        known = EvaluatorVersion.objects.filter(evaluator__project=project, pk__in=self.versions)
        others = Experiment.objects.filter(project=project).select_related("dataset_version")
        baseline = others.filter(pk__in=[] if self.baseline is None else [self.baseline]).first()
        found = []
        for version in known.select_related("evaluator").order_by("pk"):
            needs = _needs(version)
            asked = Asked(repeats=self.repeats) if needs and needs.lane == "net" else EVERYTHING
            found.append(Judge(version, asked, baseline if needs and needs.compares else None))
        return found


@dataclass(frozen=True, slots=True)
class Offer:
    """What may judge a new result: the published version of every evaluator in use. `always` are those of the first
    that the project runs unless others are named."""

    versions: tuple[EvaluatorVersion, ...]
    comparing: tuple[EvaluatorVersion, ...]
    always: tuple[EvaluatorVersion, ...]

    @classmethod
    def of(cls, project: Project) -> Offer:
        """Two queries."""
        versions = EvaluatorVersion.objects.filter(evaluator__project=project, evaluator__published_version=F("pk"))
        in_use = versions.filter(evaluator__archived_at=None).select_related("evaluator").order_by("evaluator__name")
        comparing = tuple(version for version in in_use if _compares(version))
        others = tuple(version for version in in_use if version not in comparing)
        through = RunDefaults.evaluators.through.objects.filter(rundefaults=project.pk)
        always = set(through.values_list("evaluator", flat=True))
        return cls(others, comparing, tuple(version for version in others if version.evaluator_id in always))


def always_in(project: Project) -> list[Judge]:
    """Those that the project runs on every new result, unless others are named."""
    return [Judge(version) for version in Offer.of(project).always]


def enter_all(experiment: Experiment, judges: Sequence[Judge], author: Any) -> tuple[list[Run], list[str]]:
    """(runs of all that can judge, still without rows; a sentence for each that cannot)."""
    runs, refused = [], []
    for judge in judges:
        try:
            runs.append(enter(judge.version, experiment, author, baseline=judge.baseline, asked=judge.asked))
        except CannotStart as error:
            refused.append(judge.said(error))
    return runs, refused


def begin_judging(experiment: Experiment, judges: Sequence[Judge], author: Any) -> None:
    """Let them judge what is there, and what comes. Safe to repeat. Raises CannotStart, which names who cannot."""
    for judge in judges:
        if experiment.is_open and judge.asked.take in (Take.FIRST, Take.RANDOM):
            raise CannotStart(judge.said(STILL_TO_COME))
        try:
            start(judge.version, experiment, author, baseline=judge.baseline, asked=judge.asked)
        except CannotStart as error:
            raise CannotStart(judge.said(error)) from None


def _needs(version: EvaluatorVersion) -> Needs | None:
    """None for a version that cannot be read any more; it says so if it is run."""
    try:
        return work_of(version).needs
    except BadConfig:
        return None


def _compares(version: EvaluatorVersion) -> bool:
    needs = _needs(version)
    return needs is not None and needs.compares
