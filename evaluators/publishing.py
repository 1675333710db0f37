"""Publishing: what a project asks of a version before it may stand for its evaluator, and whether it holds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any

from django.db import transaction

from evalstudio.projects.models import AuditEntry
from evalstudio.web.numbers import NBSP, count
from evaluators.core import Status
from evaluators.engine import Work, work_of
from evaluators.golden import agrees, must_pass
from evaluators.kinds import BadConfig
from evaluators.kinds.forms import as_percent
from evaluators.models import Evaluator, EvaluatorVersion, GoldenCase, GoldenVerdict, Publication, PublishingRule
from evaluators.stats.estimate import Estimate, Moments, estimate

Verdicts = Mapping[int, tuple[int, str | None, bool | None, float | None]]  # case → state, label, passed, value


class GateClosed(Exception):
    """The version may not be published; `reasons` are sentences."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__(" ".join(reasons))
        self.reasons = reasons


@dataclass(frozen=True, slots=True)
class Figures:
    """How a version did on its golden cases. A case without a score does not agree; a failed one is not judged yet.

    `sensitivity` is over the cases that must pass: the share that passes. `specificity` is over those that must not
    pass: the share that does not.
    """

    cases: int
    judged: int
    failed: int
    agreement: Estimate
    sensitivity: Estimate
    specificity: Estimate

    def stored(self) -> dict[str, Any]:
        """What a publication keeps of them."""
        shares = {name: asdict(getattr(self, name)) for name in ("agreement", "sensitivity", "specificity")}
        return {"cases": self.cases, "judged": self.judged, **shares}


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that the rule asks for, as a sentence that says how it stands."""

    holds: bool
    sentence: str
    figure: Estimate | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a version may be published, and why not. Without conditions nothing is asked."""

    conditions: tuple[Condition, ...] = ()
    figures: Figures | None = None

    @property
    def is_open(self) -> bool:
        return all(condition.holds for condition in self.conditions)

    @property
    def reasons(self) -> list[str]:
        return [condition.sentence for condition in self.conditions if not condition.holds]


def figures(work: Work, cases: Iterable[tuple[int, dict[str, Any]]], verdicts: Verdicts) -> Figures:
    """The figures of a configuration from (id, what must come) of every case and the verdicts there are."""
    right: list[tuple[int, float]] = []
    passes: dict[bool, list[tuple[int, float]]] = {True: [], False: []}
    asked, n, failed = {True: 0, False: 0}, 0, 0
    for pk, must in cases:
        n += 1
        wanted = must_pass(must, work)
        if wanted is not None:
            asked[wanted] += 1
        state, label, passed, value = verdicts.get(pk, (Status.PENDING, None, None, None))
        failed += state == Status.FAILED
        if state not in (Status.SCORED, Status.UNSCORED):
            continue
        verdict = SimpleNamespace(state=state, label=label, passed=passed, value=value)
        right.append((pk, float(agrees(must, verdict))))
        if wanted is not None:
            passes[wanted].append((pk, float(passed is wanted)))
    return Figures(
        cases=n,
        judged=len(right),
        failed=failed,
        agreement=estimate(Moments.of(right), n),
        sensitivity=estimate(Moments.of(passes[True]), asked[True]),
        specificity=estimate(Moments.of(passes[False]), asked[False]),
    )


def figures_of(version: EvaluatorVersion, work: Work) -> Figures:
    """The figures of a saved version. Two queries."""
    cases = GoldenCase.objects.filter(evaluator=version.evaluator_id).values_list("pk", "must")
    rows = GoldenVerdict.objects.filter(version=version).values_list("case", "state", "label", "passed", "value")
    return figures(work, cases, {pk: (state, label, passed, value) for pk, state, label, passed, value in rows})


def gate_of(version: EvaluatorVersion, rule: PublishingRule | None) -> Gate:
    """How a version stands before the rule of its project. What was published once may be published again."""
    try:
        work = work_of(version)
    except BadConfig:
        return Gate((Condition(False, f"{version} cannot be read any more. Edit it and save the next version."),))
    if not work.needs.is_judged_here:
        return Gate()
    if rule is None or Publication.objects.filter(version=version).exists():
        return Gate(figures=figures_of(version, work))
    found = figures_of(version, work)
    return Gate((*_counted(version, rule, found), *_measured(work, rule, found)), found)


@transaction.atomic
def publish(version: EvaluatorVersion, by: Any) -> None:
    """Let the version stand for its evaluator. Raises GateClosed with what is missing."""
    evaluator = Evaluator.objects.select_for_update().select_related("project").get(pk=version.evaluator_id)
    gate = gate_of(version, rule_of(evaluator.project_id))
    if not gate.is_open:
        raise GateClosed(gate.reasons)
    evaluator.publish(version, by, gate.figures.stored() if gate.figures and gate.figures.cases else None)
    AuditEntry.note(evaluator.project, by, f"published {version} of", f"evaluator {evaluator.name}")


def rule_of(project_id: int) -> PublishingRule | None:
    """What a project asks for, if anything."""
    return PublishingRule.objects.filter(project=project_id).first()


def _counted(version: EvaluatorVersion, rule: PublishingRule, found: Figures) -> Iterable[Condition]:
    """Enough golden cases, and every one judged."""
    least = f"at least {count(rule.least_cases)} golden case{'' if rule.least_cases == 1 else 's'}"
    there = "there are none yet" if not found.cases else f"there {_are(found.cases)}"
    yield Condition(found.cases >= rule.least_cases, f"The project asks for {least}; {there}.")
    if not found.cases:
        return
    if found.judged == found.cases:
        yield Condition(True, f"{version} has judged every golden case.")
    elif found.failed:
        rest = f"{count(found.failed)} golden case{'' if found.failed == 1 else 's'}"
        yield Condition(False, f"{version} failed at {rest}. Look at what went wrong, then judge again.")
    else:
        yield Condition(False, f"{version} has judged {count(found.judged)} of {count(found.cases)} golden cases.")


def _measured(work: Work, rule: PublishingRule, found: Figures) -> Iterable[Condition]:
    """The shares that the rule has a limit for."""
    if not found.cases:
        return
    if rule.min_agreement is not None:
        yield from _reached("Agreement", rule.min_agreement, found.agreement)
    untold = "the evaluator has no threshold, so nothing passes or fails."
    passing = getattr(work.config, "passing", None)
    has_threshold = passing is not None and passing.threshold is not None
    if rule.min_sensitivity is not None:
        nothing = "no golden case has to pass. Keep one that has to." if has_threshold else untold
        yield from _reached("Sensitivity", rule.min_sensitivity, found.sensitivity, nothing)
    if rule.min_specificity is not None:
        nothing = "no golden case has to fail. Keep a wrong answer." if has_threshold else untold
        yield from _reached("Specificity", rule.min_specificity, found.specificity, nothing)


def _reached(name: str, least: float, figure: Estimate, nothing: str = "") -> Iterable[Condition]:
    """How one share stands to its limit; the point value decides, whatever its interval.

    Nothing where no case of it is judged yet: that every one has to be is a condition of its own.
    """
    if not figure.asked:
        yield Condition(False, f"{name} cannot be told: {nothing}", None, name)
    if figure.value is None:
        return
    holds = figure.value >= least - 1e-9
    sentence = f"{name} is {_percent(figure.value)}; the project asks for {as_percent(least)}{NBSP}%."
    yield Condition(holds, sentence, figure, name)


def _are(number: int) -> str:
    return "is one" if number == 1 else f"are {count(number)}"


def _percent(share: float) -> str:
    """A share cut after one digit, so that one below its limit never reads as the limit."""
    return f"{math.floor(share * 1000 + 1e-6) / 10:g}{NBSP}%"
