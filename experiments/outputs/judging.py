"""The evaluators that judge an experiment from its beginning: named by whoever brings its outputs, or the project's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import F

from evalstudio.projects.models import Project
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
    """A version that judges, and what is asked of its run."""

    version: EvaluatorVersion
    asked: Asked = EVERYTHING


def published_in(project: Project) -> list[EvaluatorVersion]:
    """What may judge a result by itself: the published version of every evaluator in use that compares nothing."""
    versions = EvaluatorVersion.objects.filter(evaluator__project=project, evaluator__published_version=F("pk"))
    in_use = versions.filter(evaluator__archived_at=None).select_related("evaluator").order_by("evaluator__name")
    return [version for version in in_use if not _compares(version)]


def always_in(project: Project) -> list[Judge]:
    """Those of them that the project runs on every new result, unless others are named."""
    chosen = _always(project)
    return [Judge(version) for version in published_in(project) if version.evaluator_id in chosen] if chosen else []


def _always(project: Project) -> set[int]:
    """Ids of evaluators."""
    chosen = RunDefaults.evaluators.through.objects.filter(rundefaults=project.pk)
    return set(chosen.values_list("evaluator", flat=True))


def enter_all(experiment: Experiment, versions: Sequence[EvaluatorVersion], author: Any) -> tuple[list[Run], list[str]]:
    """(runs of all that can judge, still without rows; a sentence for each version that cannot)."""
    runs, refused = [], []
    for version in versions:
        try:
            runs.append(enter(version, experiment, author))
        except CannotStart as error:
            refused.append(f"{version.evaluator.name}: {error}")
    return runs, refused


def _compares(version: EvaluatorVersion) -> bool:
    """Whether a version judges pairs; one that cannot be read is taken for the others, and says so if it is run."""
    try:
        return work_of(version).needs.compares
    except BadConfig:
        return False


@dataclass(frozen=True, slots=True)
class Offer:
    """Who can be chosen, and who is as long as nobody says otherwise: ids of versions."""

    versions: tuple[EvaluatorVersion, ...]
    always: tuple[int, ...]

    @classmethod
    def of(cls, project: Project) -> Offer:
        """Two queries."""
        versions = published_in(project)
        always = _always(project)
        return cls(tuple(versions), tuple(version.pk for version in versions if version.evaluator_id in always))

    @property
    def choices(self) -> list[tuple[int, str]]:
        return [(version.pk, f"{version.evaluator.name} {version}") for version in self.versions]


def begin_judging(experiment: Experiment, judges: Sequence[Judge], author: Any) -> None:
    """Let them judge what is there, and what comes. Safe to repeat. Raises CannotStart."""
    for judge in judges:
        if experiment.is_open and judge.asked.take in (Take.FIRST, Take.RANDOM):
            raise CannotStart(STILL_TO_COME)
        start(judge.version, experiment, author, asked=judge.asked)
