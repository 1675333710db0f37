"""Who uses the scales of a project: versions keep a scale as it was, so a later change is told, not taken over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.db.models import Count, Exists, OuterRef
from django.db.models.fields.json import KeyTransform

from evaluators import scoring
from evaluators.kinds import KINDS
from evaluators.models import Evaluator, EvaluatorVersion, Scale


@dataclass(frozen=True, slots=True)
class Use:
    """An evaluator whose latest version has the scale; `is_behind` where it has it as it was before a change."""

    evaluator: Evaluator
    version: EvaluatorVersion
    is_behind: bool


@dataclass(frozen=True, slots=True)
class Uses:
    """A scale, the evaluators that use it now, and how many versions have ever had it."""

    scale: Scale
    uses: list[Use] = field(default_factory=list)
    n_versions: int = 0

    @property
    def behind(self) -> list[Use]:
        return [use for use in self.uses if use.is_behind]

    @property
    def summary(self) -> str:
        """The options or the range on one line."""
        read = scoring.read(self.scale.scoring)
        if isinstance(read, scoring.PercentageScoring):
            return f"a number from {read.low:g} to {read.high:g}"
        return ", ".join(f"{option.label} {option.percentage:g} %" for option in read.options)


def uses_of(scales: Sequence[Scale]) -> list[Uses]:
    """Two queries, however many scales."""
    counted = EvaluatorVersion.objects.filter(scale__in=scales).order_by().values_list("scale").annotate(Count("pk"))
    numbers = dict(counted)
    found = {scale.pk: Uses(scale, n_versions=numbers.get(scale.pk, 0)) for scale in scales}
    for version in _latest_with(scales):
        of_scale = found[version.scale_id or 0]
        is_behind = version.frozen_scoring != of_scale.scale.scoring  # type: ignore[attr-defined]
        of_scale.uses.append(Use(version.evaluator, version, is_behind))
    return list(found.values())


def changed_since(version: EvaluatorVersion | None) -> Scale | None:
    """The scale that a version has as it was before a change; None where it has none, or has it as it is."""
    scale = version.scale if version else None
    return scale if version and scale and version.config.get("scoring") != scale.scoring else None


def _latest_with(scales: Sequence[Scale]) -> Iterable[EvaluatorVersion]:
    """The latest versions of evaluators in use that have one of the scales, by the evaluators' names."""
    later = EvaluatorVersion.objects.filter(evaluator=OuterRef("evaluator"), number__gt=OuterRef("number"))
    found = EvaluatorVersion.objects.filter(~Exists(later), scale__in=scales, evaluator__archived_at=None)
    found = found.filter(evaluator__kind__in=KINDS).select_related("evaluator").defer("config")
    return found.annotate(frozen_scoring=KeyTransform("scoring", "config")).order_by("evaluator__name")
