"""Settling many items at once, after grades came in together; `grading` does it for one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from annotations.consensus import Outcome, outcome
from annotations.holding import ask_another
from annotations.models import Grade, Item, ItemState, Queue, Rule
from annotations.queueing import config_of
from evaluators.core import Status
from evaluators.models import EvaluatorVersion
from experiments.ledger.finish import finish_run
from experiments.ledger.people import run_of_people, settle_by_people
from experiments.ledger.settle import Book, settle
from experiments.models import Evaluation, Experiment, Run

Pair = tuple[int, int | None]  # an output, and the baseline's


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which terms grades are given: who asks, how many are asked, what several come to, by which instructions."""

    versions: Sequence[EvaluatorVersion]
    rule: Rule = Rule.MAJORITY
    graders: int = 1
    instructions_version: int = 0

    @classmethod
    def of(cls, queue: Queue) -> Terms:
        return cls(queue.asked, Rule(queue.rule), queue.graders, queue.instructions_version)


def settle_items(terms: Terms, items: Sequence[Item], by: Any) -> None:
    """Bring these items, which come with their outputs' experiments, and their rows in line with their grades.

    What is in no queue comes as an item that is not stored.
    """
    found: dict[Pair, list[Outcome]] = {pair_of(item): [] for item in items}
    for version in terms.versions:
        come = _outcomes(terms, items, version)
        for pair, outcomes in found.items():
            outcomes.append(come[pair])
        for experiment, baseline, together in _by_result(items):
            run = run_of_people(version, experiment, baseline, by)
            _settle_rows(run, together, come)
    for state in ItemState:
        if among := [item.pk for item in items if item.pk and _state(found[pair_of(item)]) == state]:
            Item.objects.filter(pk__in=among).update(state=state)
    ask_another(item.pk for item in items if item.pk and any(come.is_tied for come in found[pair_of(item)]))


def pair_of(item: Item) -> Pair:
    return item.output_id, item.baseline_output_id


def _outcomes(terms: Terms, items: Sequence[Item], version: EvaluatorVersion) -> dict[Pair, Outcome]:
    config = config_of(version)
    grades: dict[Pair, list[Grade]] = {pair_of(item): [] for item in items}
    given = Grade.objects.filter(version=version, output__in={item.output_id for item in items}, is_current=True)
    for grade in given.order_by("pk"):
        if (pair := (grade.output_id, grade.baseline_output_id)) in grades:
            grades[pair].append(grade)
    return {pair: outcome(told, config, terms.rule, terms.graders) for pair, told in grades.items()}


def _by_result(items: Iterable[Item]) -> list[tuple[Experiment, Experiment | None, list[Item]]]:
    """Items of the same result, or pair of results, together."""
    found: dict[Pair, list[Item]] = {}
    for item in items:
        other = item.baseline_output.experiment_id if item.baseline_output else None
        found.setdefault((item.output.experiment_id, other), []).append(item)
    return [
        (some[0].output.experiment, some[0].baseline_output.experiment if some[0].baseline_output else None, some)
        for some in found.values()
    ]


def _settle_rows(run: Run, items: Sequence[Item], come: dict[Pair, Outcome]) -> None:
    """The rows that await people are settled together, those that were settled before one by one."""
    rows = Evaluation.objects.filter(run=run, output__in=[item.output_id for item in items])
    known = {output: (pk, state) for output, pk, state in rows.values_list("output", "pk", "state")}
    fresh = []
    for item in items:
        score = come[pair_of(item)].score
        if item.output_id not in known:
            continue
        pk, state = known[item.output_id]
        if state == Status.AWAITING and score is not None:
            fresh.append((pk, score))
        elif state != Status.AWAITING:
            settle_by_people(run, item.output, score)
    settle(Book(run.pk, run.keeps_details), fresh)
    finish_run(run.pk)


def _state(outcomes: list[Outcome]) -> ItemState:
    if any(come.is_disputed for come in outcomes):
        return ItemState.DISPUTED
    return ItemState.DONE if all(come.score for come in outcomes) else ItemState.OPEN
