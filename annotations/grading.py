"""Grading: what somebody said is kept for good, and settles the runs of people once enough have said it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.http import Http404
from django.utils import timezone

from annotations.answers import Answer, draft_of
from annotations.consensus import Outcome, outcome
from annotations.holding import HOLD, ask_another, release
from annotations.models import Grade, GradeState, Item, ItemState, Queue, Reservation, Rule
from annotations.queueing import config_of
from evaluators.models import EvaluatorVersion
from experiments.ledger.people import run_of_people, settle_by_people
from experiments.models import Output


class Gone(Http404):
    """What was to be graded has been deleted."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is graded: an output or a pair, as one saw it, and by which rules grades settle."""

    output: Output
    baseline_output: Output | None
    content_hash: str
    item: Item | None = None
    rule: Rule = Rule.MAJORITY
    graders: int = 1
    instructions_version: int = 0
    versions: list[EvaluatorVersion] = field(default_factory=list)

    @classmethod
    def of(cls, item: Item) -> Subject:
        """The subject of an item, which comes with its queue and outputs."""
        queue = item.queue
        return cls(
            item.output,
            item.baseline_output,
            item.content_hash,
            item,
            Rule(queue.rule),
            queue.graders,
            queue.instructions_version,
            queue.asked,
        )

    def grades(self, version: EvaluatorVersion) -> QuerySet[Grade]:
        """The current grades of it by one evaluator, whoever gave them."""
        return Grade.objects.filter(
            version=version, output=self.output, baseline_output=self.baseline_output, is_current=True
        )

    def lock(self) -> None:
        """Nobody else grades or deletes it until the transaction ends. Raises Gone."""
        rows = Item.objects.filter(pk=self.item.pk) if self.item else Output.objects.filter(pk=self.output.pk)
        if not rows.select_for_update().values_list("pk"):
            raise Gone("It has been deleted.")


@transaction.atomic
def submit(
    subject: Subject,
    person: Any,
    answers: Mapping[int, Answer],
    *,
    seconds: float | None = None,
    is_decision: bool = False,
) -> None:
    """Keep what a person says, by version id, and settle what can be. Said twice, it counts once. Raises Gone."""
    subject.lock()
    is_repeat = subject.item is not None and subject.item.repeats_id is not None
    for version in subject.versions:
        if version.pk in answers:
            _keep(subject, version, person, answers[version.pk], seconds, is_decision=is_decision, is_repeat=is_repeat)
    if subject.item and not is_decision:
        _leave_seat(subject.item, person)
    _settle(subject, person, is_repeat=is_repeat)


def _keep(
    subject: Subject,
    version: EvaluatorVersion,
    person: Any,
    answer: Answer,
    seconds: float | None,
    *,
    is_decision: bool,
    is_repeat: bool,
) -> Grade | None:
    """Store it unless it is what they said last; the grade that it replaces."""
    said = {"state": answer.state, "label": answer.label, "value": answer.value, "comment": answer.comment}
    seen = {"content_hash": subject.content_hash, "instructions_version": subject.instructions_version}
    mine = subject.grades(version).filter(person=person, is_decision=is_decision, is_repeat=is_repeat)
    if former := mine.first():
        if all(getattr(former, name) == value for name, value in (said | seen).items()):
            return None
        Grade.objects.filter(pk=former.pk).update(is_current=False)
        if former.is_stale:
            _drop_stale_decision(subject, version)
    Grade.objects.create(
        version=version,
        output=subject.output,
        baseline_output=subject.baseline_output,
        item=subject.item,
        person=person,
        seconds=seconds,
        is_decision=is_decision,
        is_repeat=is_repeat,
        **said,
        **seen,
    )
    return former


def _drop_stale_decision(subject: Subject, version: EvaluatorVersion) -> None:
    """Who decided under older instructions decided about grades that are given anew."""
    stale = Q(instructions_version__lt=F("item__queue__instructions_version"))
    decisions = subject.grades(version).filter(stale, is_decision=True).values_list("pk", flat=True)
    Grade.objects.filter(pk__in=list(decisions)).update(is_current=False)


def _leave_seat(item: Item, person: Any) -> None:
    """The person's seat is done; who came late, when it was no longer theirs, takes one that is free, or none."""
    _hold(item, person, is_done=1, held_until=None, draft=None)


def _hold(item: Item, person: Any, **what: Any) -> None:
    if Reservation.objects.filter(item=item, person=person).update(**what):
        return
    free = Reservation.objects.filter(Q(person=None) | Q(held_until__lte=timezone.now()), item=item, is_done=0)
    if seat := free.first():
        Reservation.objects.filter(pk=seat.pk).update(person=person, **what)


def skip(item: Item, person: Any, reason: str) -> None:
    """Leave an item to somebody else; why is kept. Raises Gone."""
    subject, is_repeat = Subject.of(item), item.repeats_id is not None
    answer = Answer(GradeState.SKIPPED, comment=reason)
    with transaction.atomic():
        subject.lock()
        replaced = [
            _keep(subject, version, person, answer, None, is_decision=False, is_repeat=is_repeat)
            for version in subject.versions
        ]
        release(item, person)
        if any(replaced):
            _settle(subject, person, is_repeat=is_repeat)


@transaction.atomic
def undo(queue: Queue, person: Any) -> Item | None:
    """Take back what the person did last in this queue: the item is in their hands again, as they had graded it."""
    last = Grade.objects.filter(item__queue=queue, person=person, is_current=True, is_decision=False).order_by("-pk")
    grade = last.select_related("item__queue", "output__experiment", "baseline_output__experiment").first()
    if grade is None or grade.item is None:
        return None
    item = (
        Item.objects.select_for_update(of=("self",))
        .select_related("queue", "output", "baseline_output")
        .filter(pk=grade.item.pk)
        .first()
    )
    if item is None:  # deleted at this moment
        return None
    together = Grade.objects.filter(item=item, person=person, is_current=True, is_decision=False)
    draft = draft_of(item, list(together.select_related("version__evaluator")))
    together.update(is_current=False)
    _hold(item, person, is_done=0, held_until=timezone.now() + HOLD, draft=draft)
    _settle(Subject.of(item), person, is_repeat=item.repeats_id is not None)
    return item


def _settle(subject: Subject, by: Any, *, is_repeat: bool) -> None:
    """Bring item and runs in line with the grades there are now."""
    found = {} if is_repeat else {version: _outcome(subject, version) for version in subject.versions}
    for version, come in found.items():
        experiment = subject.output.experiment
        baseline = subject.baseline_output.experiment if subject.baseline_output else None
        settle_by_people(run_of_people(version, experiment, baseline, by), subject.output, come.score)
    if subject.item is None:
        return
    if any(come.is_tied for come in found.values()):
        ask_another([subject.item.pk])
    Item.objects.filter(pk=subject.item.pk).update(
        state=_state(subject.item, list(found.values()), is_repeat=is_repeat)
    )


def _outcome(subject: Subject, version: EvaluatorVersion) -> Outcome:
    return outcome(list(subject.grades(version)), config_of(version), subject.rule, subject.graders)


def _state(item: Item, found: list[Outcome], *, is_repeat: bool) -> ItemState:
    if is_repeat:
        return ItemState.DONE if _all_seats_done(item) else ItemState.OPEN
    if any(come.is_disputed for come in found):
        return ItemState.DISPUTED
    return ItemState.DONE if found and all(come.score for come in found) else ItemState.OPEN


def _all_seats_done(item: Item) -> bool:
    return not Reservation.objects.filter(item=item, is_done=0).exists()
