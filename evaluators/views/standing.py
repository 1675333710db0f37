"""How an evaluator stands: its golden cases, what its versions say about them, and whether one may be published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalstudio.projects.access import ProjectRequest
from evalstudio.projects.models import Role
from evalstudio.web.pagination import Order, page_of
from evaluators.core import Status
from evaluators.engine import Work, work_of
from evaluators.golden import agrees, in_words
from evaluators.kinds import BadConfig
from evaluators.models import Evaluator, EvaluatorVersion, GoldenCase, GoldenVerdict
from evaluators.publishing import Figures, figures_of, gate_of, rule_of


@dataclass(frozen=True, slots=True)
class Judge:
    """A version whose verdicts are shown, with its figures; None where it cannot be read any more."""

    version: EvaluatorVersion
    figures: Figures | None

    @property
    def left(self) -> int:
        """Cases that it has said nothing about yet."""
        return self.figures.cases - self.figures.judged - self.figures.failed if self.figures else 0


@dataclass(frozen=True, slots=True)
class Said:
    """What a version said about a case: in words, whether that must come, and why."""

    words: str
    agrees: bool
    state: int
    reason: str


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A golden case in the list, with what each shown version said; None where it was not asked."""

    case: GoldenCase
    must: str
    said: list[Said | None]


def standing(
    request: ProjectRequest,
    evaluator: Evaluator,
    version: EvaluatorVersion | None,
    query: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What the panels of golden cases and publishing show of a version; `query` is the place in the list."""
    rule = rule_of(request.project.pk)
    shown = _shown_versions(evaluator, version)
    judges = [Judge(one, _figures(one)) for one in shown]
    cases = evaluator.golden_cases.defer("sample").select_related("author")
    page = page_of(cases, Order("pk", descending=True), query or {})
    work = _work(version)
    return {
        "evaluator": evaluator,
        "version": version,
        "rule": rule,
        "gate": gate_of(version, rule) if version else None,
        "by_people": bool(work and work.needs.lane == "people"),
        "by_others": bool(work and not work.needs.is_judged_here),
        "judges": judges,
        "golden_page": page,
        "golden_rows": _rows(page.rows, shown, bool(work and work.needs.compares)),
        "may_edit": request.role >= Role.EDITOR,
        "may_rule": request.role >= Role.OWNER,
    }


def verdict_words(verdict: Any, *, compares: bool = False) -> str:
    """What was said, as people say it: HIGH; 60 %, passes; unscored."""
    if verdict.state != Status.SCORED:
        return Status(verdict.state).name.lower()
    parts = [verdict.label or (in_words({"value": round(verdict.value, 3)}, compares=compares))]
    if verdict.passed is not None:
        parts.append(in_words({"passed": verdict.passed}))
    return ", ".join(parts)


def _shown_versions(evaluator: Evaluator, version: EvaluatorVersion | None) -> list[EvaluatorVersion]:
    """The version in question and the published one, the later first."""
    published = evaluator.published_version
    both = {one.pk: one for one in (version, published) if one}
    for one in both.values():
        one.evaluator = evaluator
    return sorted(both.values(), key=lambda one: -one.number)


def _work(version: EvaluatorVersion | None) -> Work | None:
    try:
        return work_of(version) if version else None
    except BadConfig:
        return None


def _figures(version: EvaluatorVersion) -> Figures | None:
    work = _work(version)
    return figures_of(version, work) if work else None


def _rows(cases: list[GoldenCase], versions: list[EvaluatorVersion], compares: bool) -> list[CaseRow]:
    found = GoldenVerdict.objects.filter(case__in=cases, version__in=versions)
    verdicts = {(verdict.version_id, verdict.case_id): verdict for verdict in found}
    return [
        CaseRow(
            case,
            in_words(case.must, compares=compares),
            [_said(case, verdicts.get((version.pk, case.pk)), compares) for version in versions],
        )
        for case in cases
    ]


def _said(case: GoldenCase, verdict: GoldenVerdict | None, compares: bool) -> Said | None:
    if verdict is None:
        return None
    words = verdict_words(verdict, compares=compares)
    return Said(words, agrees(case.must, verdict), verdict.state, verdict.reason)
