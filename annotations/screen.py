"""An item as a person sees it: the case, one output or two, the questions with what was chosen so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from annotations.answers import draft_of, field_of, shown_answer
from annotations.models import Grade, GradeState, Item, Reservation
from annotations.queueing import config_of
from annotations.unblinded import Shown, shown_with
from evalstudio.files.pictures import Picture, pictures_in
from evaluators.kinds.human import HumanConfig
from evaluators.models import EvaluatorVersion
from experiments.analysis import reading
from experiments.models import Output

SIDES = ("A", "B")


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a question, with the key that chooses it."""

    label: str
    description: str
    key: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Question:
    """What one human evaluator asks of the item. `typed` is what was chosen or typed so far."""

    version: EvaluatorVersion
    config: HumanConfig
    field: str
    typed: str
    fault: str = ""
    earlier: str = ""  # what this person said when they saw the very same elsewhere
    is_stale: bool = False  # what is typed was said under older instructions

    @property
    def choices(self) -> list[Choice]:
        return [
            Choice(option.label, option.description, key, option.label == self.typed)
            for option, key in self.config.choices
        ]


@dataclass(frozen=True, slots=True)
class Side:
    """One output of the item. `name` is "A" or "B" of a pair, otherwise empty."""

    name: str
    parts: list[reading.Part]
    calls: list[reading.Part]
    steps: list[reading.Step]
    pictures: list[Picture]


@dataclass(frozen=True, slots=True)
class Screen:
    """Everything the page of an item shows; nothing but `shown` tells systems, judges or colleagues."""

    item: Item
    inputs: list[reading.Part]
    input_pictures: list[Picture]
    expected: list[reading.Part]
    sides: list[Side]
    questions: list[Question]
    comment: str
    is_done: bool
    is_stale: bool = False  # what the form shows was said under older instructions
    shown: Shown | None = None  # of a queue that is not blind

    @property
    def is_pair(self) -> bool:
        return len(self.sides) > 1

    @property
    def cannot_key(self) -> str:
        """The key that says that nobody can judge it: 0, unless digits are typed as a number."""
        return "0" if all(question.choices for question in self.questions) else "N"

    @property
    def has_steps(self) -> bool:
        return any(side.steps for side in self.sides)


def screen_of(
    item: Item,
    person: Any,
    versions: list[EvaluatorVersion],
    *,
    seat: Reservation | None = None,
    typed: Mapping[str, str] | None = None,
    faults: Mapping[str, str] | None = None,
) -> Screen:
    """The screen of an item, which comes with its outputs, their case and bodies.

    It shows what was just typed, otherwise the person's grade, otherwise their draft; `seat` is theirs, if at hand.
    """
    slug = item.queue.project.slug
    case = item.output.case
    seat = seat or Reservation.objects.filter(item=item, person=person).first()
    mine = _mine(item, person) if seat and seat.is_done else []
    said = dict(typed) if typed is not None else _said(item, seat, mine)
    earlier = {} if item.repeats_id else _earlier(item, person, versions)
    questions = [
        Question(
            version,
            config_of(version),
            field_of(version),
            said.get(field_of(version), ""),
            (faults or {}).get(field_of(version), ""),
            earlier.get(version.pk, ""),
        )
        for version in versions
    ]
    return Screen(
        item,
        reading.parts(case.inputs),
        pictures_in(case.inputs, slug),
        reading.parts(case.expected_outputs),
        sides_of(item, slug),
        questions,
        said.get("comment", ""),
        bool(seat and seat.is_done),
        any(grade.instructions_version < item.queue.instructions_version for grade in mine)
        or bool(seat and seat.is_asked_again),
        shown_with(item, person),
    )


def with_all(items: Any) -> Any:
    """Items with what a screen and a grade need of them. One query."""
    return with_sides(items).select_related("queue__project", "output__experiment", "baseline_output__experiment")


def with_sides(items: Any) -> Any:
    """Items with what a screen needs of them besides their queue. One query."""
    return items.select_related("output__case", "output__body", "baseline_output__body")


def sides_of(item: Item, slug: str) -> list[Side]:
    """One output, or the two of a pair with what differs marked, the one that stands first first."""
    if item.baseline_output is None:
        return [_side("", item.output, reading.parts(item.output.body.outputs), slug)]
    pair = [item.baseline_output, item.output]
    if item.is_flipped:
        pair.reverse()
    texts = reading.marked_parts(*(each.body.outputs for each in pair))
    return [_side(name, each, parts, slug) for name, each, parts in zip(SIDES, pair, texts, strict=True)]


def _side(name: str, output: Output, parts: list[reading.Part], slug: str) -> Side:
    body = output.body
    pictures = pictures_in(body.outputs, slug)
    return Side(name, parts, reading.tool_calls(body.outputs), reading.steps(body.steps), pictures)


def _mine(item: Item, person: Any) -> list[Grade]:
    """What this person has said here."""
    mine = item.grades.filter(person=person, is_current=True, is_decision=False)
    return list(mine.select_related("version__evaluator"))


def _said(item: Item, seat: Reservation | None, mine: list[Grade]) -> dict[str, str]:
    """What the form shows: the grade given here, or the draft; field by field."""
    if seat is None or not seat.is_done:
        draft = (seat.draft if seat else None) or {}
        return {name: str(value) for name, value in draft.items()}
    return draft_of(item, mine)


def _earlier(item: Item, person: Any, versions: list[EvaluatorVersion]) -> dict[int, str]:
    """By version, what this person said of the same content elsewhere."""
    same = Grade.objects.filter(
        person=person,
        content_hash=item.content_hash,
        version__in=versions,
        state=GradeState.GRADED,
        is_current=True,
        is_repeat=False,
    ).exclude(item=item)
    by_id = {version.pk: version for version in versions}
    return {
        grade.version_id: shown_answer(by_id[grade.version_id], grade.label, grade.value, is_flipped=item.is_flipped)
        for grade in same.order_by("pk")
    }
