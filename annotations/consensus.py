"""What the grades of one output come to: a score, more grades to wait for, or somebody who has to decide."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median

from annotations.models import Grade, GradeState, Rule
from evaluators.core import Score, Status, Why
from evaluators.kinds.human import HumanConfig
from evaluators.scoring import EnumScoring


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the grades so far come to. `score` is None while they await more, or somebody who decides."""

    score: Score | None = None
    is_disputed: bool = False  # the adjudicator has to decide
    is_tied: bool = False  # another grader has to


def outcome(grades: Sequence[Grade], config: HumanConfig, rule: Rule, graders: int) -> Outcome:
    """What the current grades of an output by one evaluator come to; skips are no grades."""
    given = [grade for grade in grades if grade.state != GradeState.SKIPPED and not grade.is_repeat]
    if decision := next((grade for grade in given if grade.is_decision), None):
        return Outcome(_score([decision], config, decision.label, decision.value))
    if len(given) < graders:
        return Outcome()
    told = [grade for grade in given if grade.state == GradeState.GRADED]
    if not told:
        return Outcome(Score.unscored(Why.CANNOT_JUDGE, _words(given) or "Nobody who was asked could judge it."))
    if rule == Rule.ADJUDICATION:
        if len({(grade.label, grade.value) for grade in told}) > 1:
            return Outcome(is_disputed=True)
        return Outcome(_score(told, config, told[0].label, told[0].value))
    if rule == Rule.MEAN or not isinstance(config.scoring, EnumScoring):
        values = [grade.value for grade in told if grade.value is not None]
        middle = fmean(values) if rule == Rule.MEAN else median(values)
        labels = {grade.label for grade in told}
        return Outcome(_score(told, config, labels.pop() if len(labels) == 1 else "", middle))
    (label, most), *others = Counter(grade.label for grade in told).most_common()
    if others and others[0][1] == most:
        return Outcome(is_tied=True)
    return Outcome(_score(told, config, label, next(grade.value for grade in told if grade.label == label)))


def _score(grades: Sequence[Grade], config: HumanConfig, label: str, value: float | None) -> Score:
    if value is None:  # an adjudicator could not judge it either
        return Score.unscored(Why.CANNOT_JUDGE, _words(grades) or "Nobody who was asked could judge it.")
    return Score(
        Status.SCORED, value=value, label=label or None, passed=config.passing.passed(value), reason=_words(grades)
    )


def _words(grades: Sequence[Grade]) -> str:
    """How many said what, then their comments, without names."""
    counts = Counter(grade.label for grade in grades if grade.label)
    said = ", ".join(f"{count} × {label}" for label, count in counts.most_common()) if len(grades) > 1 else ""
    comments = [grade.comment for grade in grades if grade.comment]
    return "\n".join(part for part in (said, *comments) if part)
