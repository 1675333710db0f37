"""How far people agree: all of them, each two, each with the others and with themselves, and over time.

An item is an output, or a pair of two; what counts is what each person said last of it the first time they were asked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet

from annotations.models import Grade, GradeState, Item, Queue
from evaluators.models import EvaluatorVersion
from evaluators.scoring import EnumScoring, Scoring
from evaluators.stats import agreement
from evaluators.stats.agreement import Level
from evaluators.stats.estimate import Estimate, Moments, estimate
from evaluators.stats.grades import Grades, Weights

WEIGHTS: Mapping[Level, Weights] = {"nominal": None, "ordinal": "linear", "interval": "quadratic"}
LEAST_BATCH = 30  # items
MOST_BATCHES = 12
MOST_IN_MATRIX = 12  # people, those with most grades

Subject = tuple[int, int | None]  # the ids of an output and of the baseline's


class Said(NamedTuple):
    """What a person said of an item."""

    item: Subject
    person: int
    label: str
    value: float
    at: datetime
    pk: int  # of the grade

    def alike(self, label: str, value: float) -> float:
        """1 where another grade says the same; of numbers 1 − their distance."""
        return float(self.label == label) if label or self.label else 1 - abs(self.value - value)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The figures of everybody. `cohen` is None unless there are exactly two people."""

    people: int
    items: int  # that two people or more graded
    level: Level
    same: Estimate
    krippendorff: Estimate
    gwet: Estimate
    fleiss: Estimate
    cohen: Estimate | None

    @property
    def gwet_name(self) -> str:
        return "Gwet’s AC2" if WEIGHTS[self.level] else "Gwet’s AC1"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two people on the items that both graded. `kappa` is Cohen's, weighted as the level says."""

    first: int
    second: int
    items: int
    same: Estimate
    kappa: Estimate


@dataclass(frozen=True, slots=True)
class Person:
    """A person's grades beside those of others, beside their own when asked again, and beside known answers."""

    pk: int
    grades: int
    others: Estimate
    again: Estimate
    known: Estimate


@dataclass(frozen=True, slots=True)
class Batch:
    """Items that followed one another in time, with how far people agreed on them."""

    since: datetime
    until: datetime
    items: int
    same: Estimate
    alpha: Estimate


def level_of(scoring: Scoring) -> Level:
    """What a scale suggests: numbers have distances, three options or more with different scores have an order."""
    if not isinstance(scoring, EnumScoring):
        return "interval"
    scores = {option.percentage for option in scoring.options}
    return "ordinal" if len(scores) == len(scoring.options) > 2 else "nominal"


def latest_graded(versions: Sequence[EvaluatorVersion]) -> EvaluatorVersion | None:
    """The first of these versions by which somebody graded, or the first; None where there is none."""
    graded = set(Grade.objects.filter(version__in=versions).order_by().values_list("version", flat=True).distinct())
    return next((one for one in versions if one.pk in graded), versions[0] if versions else None)


def counted(version: EvaluatorVersion, queue: Queue | None = None) -> QuerySet[Grade]:
    """The current grades of an evaluator, or those of one queue; neither decisions nor second askings."""
    grades = Grade.objects.filter(version=version, is_current=True, is_decision=False, is_repeat=False)
    grades = grades.filter(state=GradeState.GRADED)
    return grades.filter(item__queue=queue) if queue else grades


def said_in(grades: QuerySet[Grade]) -> list[Said]:
    """One query."""
    fields = ("output", "baseline_output", "person", "label", "value", "created_at", "pk")
    rows = grades.order_by("pk").values_list(*fields).iterator(5_000)
    return [Said((output, other), *rest) for output, other, *rest in rows]


def table_of(said: Sequence[Said], scoring: Scoring, level: Level) -> Grades:
    """The grades as the statistics take them; people are columns in the order in which they first appear."""
    if not isinstance(scoring, EnumScoring):
        return Grades.of((one.item, one.person, one.value) for one in said)
    if level == "nominal":
        return Grades.of(((one.item, one.person, one.label) for one in said), scoring.labels)
    values = sorted({option.value for option in scoring.options})
    return Grades.of(((one.item, one.person, one.value) for one in said), values)


def figures(table: Grades, level: Level) -> Agreement:
    """Every coefficient with its interval."""
    weights = WEIGHTS[level]
    people = table.codes.shape[1]
    several = (table.codes >= 0).sum(1) > 1
    return Agreement(
        people,
        int(several.sum()),
        level,
        agreement.percent(table),
        agreement.krippendorff(table, level),
        agreement.gwet(table, weights),
        agreement.fleiss(table),
        agreement.cohen(table, weights) if people == 2 else None,
    )


def pairs_of(said: Sequence[Said], table: Grades, level: Level) -> list[Pair]:
    """Each two of the people with most grades. Their intervals are jackknifed, since there may be many of them."""
    columns = list(dict.fromkeys(one.person for one in said))
    there = table.codes >= 0
    most = sorted(range(len(columns)), key=lambda column: (-int(there[:, column].sum()), columns[column]))
    found = []
    for place, first in enumerate(most[:MOST_IN_MATRIX]):
        for second in most[place + 1 : MOST_IN_MATRIX]:
            both = there[:, first] & there[:, second]
            if both.any():
                two = Grades(table.codes[both][:, [first, second]], table.categories, table.numbers)
                kappa = agreement.cohen(two, WEIGHTS[level], resamples=0)
                found.append(Pair(columns[first], columns[second], int(both.sum()), agreement.percent(two), kappa))
    return found


def batches_of(said: Sequence[Said], scoring: Scoring, level: Level) -> list[Batch]:
    """Items with several grades by the time of the last one, in up to twelve batches of one size; or none."""
    by_item: dict[Subject, list[Said]] = defaultdict(list)
    for one in said:
        by_item[one.item].append(one)
    several = sorted((group for group in by_item.values() if len(group) > 1), key=_latest)
    number = min(MOST_BATCHES, len(several) // LEAST_BATCH)
    if number < 2:
        return []
    found = []
    for place in range(number):
        groups = several[place * len(several) // number : (place + 1) * len(several) // number]
        table = table_of([one for group in groups for one in group], scoring, level)
        alpha = agreement.krippendorff(table, level, resamples=0)
        found.append(Batch(_latest(groups[0]), _latest(groups[-1]), len(groups), agreement.percent(table), alpha))
    return found


def _latest(group: Iterable[Said]) -> datetime:
    return max(one.at for one in group)


def people_in(said: Sequence[Said], version: EvaluatorVersion, queue: Queue | None = None) -> list[Person]:
    """Everybody who graded, those with most first. Two queries."""
    by_item: dict[Subject, list[Said]] = defaultdict(list)
    mine: dict[int, list[Said]] = defaultdict(list)
    for one in said:
        by_item[one.item].append(one)
        mine[one.person].append(one)
    again = _again(version, queue, {(one.item, one.person): one for one in said})
    answers = known_answers(version, queue)
    found = []
    for person, grades in mine.items():
        beside = [
            (one.item, fmean(one.alike(other.label, other.value) for other in by_item[one.item] if other is not one))
            for one in grades
            if len(by_item[one.item]) > 1
        ]
        right = [(one.item, _right(one, answers[one.item])) for one in grades if one.item in answers]
        found.append(Person(person, len(grades), *(_mean(shares) for shares in (beside, again[person], right))))
    return sorted(found, key=lambda person: (-person.grades, person.pk))


def _mean(shares: Sequence[tuple[Any, float]]) -> Estimate:
    return estimate(Moments.of(shares), len(shares))


def _again(
    version: EvaluatorVersion, queue: Queue | None, first: Mapping[tuple[Subject, int], Said]
) -> dict[int, list[tuple[Subject, float]]]:
    """By person, how far what they said when they were asked again was what they had said first."""
    grades = Grade.objects.filter(version=version, is_current=True, is_repeat=True, state=GradeState.GRADED)
    found: dict[int, list[tuple[Subject, float]]] = defaultdict(list)
    for one in said_in(grades.filter(item__queue=queue) if queue else grades):
        if before := first.get((one.item, one.person)):
            found[one.person].append((one.item, one.alike(before.label, before.value)))
    return found


def known_answers(version: EvaluatorVersion, queue: Queue | None = None) -> dict[Subject, str | float]:
    """What must come, a label or a value, by item."""
    items = Item.objects.filter(Q(queue=queue) if queue else Q(queue__versions=version), known__isnull=False)
    rows = items.values_list("output", "baseline_output", "known")
    return {
        (output, other): known[str(version.pk)] for output, other, known in rows if known and str(version.pk) in known
    }


def _right(one: Said, answer: str | float) -> float:
    return one.alike(answer, 0.0) if isinstance(answer, str) else one.alike("", answer)
