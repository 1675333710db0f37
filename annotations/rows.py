"""Rows of grades as files and programs send them: which evaluator and person they name, and what was said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_datetime

from annotations.access import graders_of
from annotations.answers import MOST_COMMENT, Answer, BadAnswer, field_of, read
from annotations.models import GradeState
from annotations.queueing import config_of
from evalstudio.projects.models import Project, User
from evalstudio.web.foreign import id_in, is_storable
from evaluators.models import EvaluatorVersion
from evaluators.scoring import EnumScoring
from experiments.analysis.exporting import harmless
from experiments.ledger.outside import Fault, Taken, WrongField

TRUE, FALSE = ("true", "yes", "1"), ("false", "no", "0")
BROUGHT = ", imported by "
MOST_NAME = User._meta.get_field("username").max_length
CANNOT = "cannot judge"
NO_GRADE = ("skipped",)


@dataclass(frozen=True, slots=True)
class SaidElsewhere:
    """A row that could be read."""

    place: int
    case: str
    attempt: int
    experiment: int | None
    baseline: int | None
    version: EvaluatorVersion
    person: User
    answer: Answer
    seconds: float | None
    at: datetime


class Reader:
    """Knows the evaluators and the people that rows may name."""

    def __init__(self, versions: Sequence[EvaluatorVersion], project: Project, by: User) -> None:
        self.versions = {version.evaluator.name.casefold(): version for version in versions}
        self.scorings = {version.pk: config_of(version).scoring for version in versions}
        self.people = {person.username: person for person in graders_of(project)}
        self.by = by

    def read(self, rows: Iterable[tuple[int, Any]], taken: Taken) -> Iterator[SaidElsewhere]:
        for place, row in rows:
            case = str(row.get("case", row.get("key", "")))[:200] if isinstance(row, Mapping) else ""
            try:
                if not isinstance(row, Mapping):
                    raise WrongField("", "A row is an object with the fields case, label and so on.")
                if _is_left_out(row):
                    continue
                for version in self._versions(row):
                    yield self._said(place, row, version)
            except WrongField as wrong:
                taken.refuse(Fault(place, wrong.at, case, str(wrong)))

    def _said(self, place: int, row: Mapping[str, Any], version: EvaluatorVersion) -> SaidElsewhere:
        return SaidElsewhere(
            place,
            _text(row, "case") or _text(row, "key") or _missing("case", "Give the key of the case."),
            _whole(row, "attempt") or 0,
            _whole(row, "experiment"),
            _whole(row, "baseline"),
            version,
            self._person(_text(row, "person")),
            self._answer(row, version),
            _number(row, "seconds"),
            _moment(row, "created_at"),
        )

    def _versions(self, row: Mapping[str, Any]) -> list[EvaluatorVersion]:
        """Whose question a row answers; who cannot judge an output, and names no question, answers none of them."""
        name = _text(row, "evaluator")
        if not name and (len(self.versions) == 1 or _text(row, "said") == CANNOT):
            return list(self.versions.values())
        if name.casefold() not in self.versions:
            said = f"“{name[:80]}” is none of them" if name else "There are several"
            names = ", ".join(each.evaluator.name for each in self.versions.values())
            raise WrongField("evaluator", f"{said}: {names}.")
        return [self.versions[name.casefold()]]

    def _person(self, name: str) -> User:
        if name and name not in self.people:
            self.people[name] = _stranger(name, self.by)
        return self.people[name] if name else self.by

    def _answer(self, row: Mapping[str, Any], version: EvaluatorVersion) -> Answer:
        comment = _text(row, "comment")
        scoring = self.scorings[version.pk]
        cannot = _text(row, "said") == CANNOT
        score, label = _number(row, "score"), _text(row, "label")
        if not cannot and not label and score is not None and "number" not in row:
            if not 0 <= score <= 1:
                raise WrongField("score", "A score is a number from 0 to 1.")
            if not isinstance(scoring, EnumScoring):
                return Answer(GradeState.GRADED, "", score, comment[:MOST_COMMENT])
            label = _label_of(scoring, score)
        given = label if isinstance(scoring, EnumScoring) else row.get("number")
        try:
            said = {field_of(version): given, "comment": comment}
            return read(said, [version], is_flipped=False, cannot=cannot)[version.pk]
        except BadAnswer as error:
            at = "comment" if "comment" in error.faults else "label" if isinstance(scoring, EnumScoring) else "number"
            raise WrongField(at, str(error)) from None


def _is_left_out(row: Mapping[str, Any]) -> bool:
    """What an export tells besides first grades that count: replaced ones, skips, decisions and second askings."""
    others = (row.get("is_decision"), row.get("is_repeat"))
    is_former = str(row.get("is_current", "")).lower() in FALSE
    return is_former or row.get("said") in NO_GRADE or any(str(each).lower() in TRUE for each in others)


def _stranger(name: str, by: User) -> User:
    """A person who cannot sign in and belongs to no project, under whose name such grades are kept."""
    known_as = f"{name[:80]}{BROUGHT}{by.username}"[:MOST_NAME]
    if BROUGHT in name and User.objects.filter(username=name, is_active=False).exists():
        known_as = name  # of an export
    person, made = User.objects.get_or_create(username=known_as, defaults={"is_active": False})
    if made:
        person.set_unusable_password()
        person.save(update_fields=["password"])
    return person


def _label_of(scoring: EnumScoring, score: float) -> str:
    """The one option that counts this much."""
    labels = [option.label for option in scoring.options if abs(option.value - score) < 1e-9]
    if len(labels) != 1:
        found = "Several options" if labels else "No option"
        raise WrongField("label", f"{found} of the scale would be {score:g}. Give the label.")
    return labels[0]


def _moment(row: Mapping[str, Any], name: str) -> datetime:
    """When it was said, as far as the row tells: now at the latest."""
    try:
        said = parse_datetime(_text(row, name))
    except ValueError:
        said = None
    now = timezone.now()
    if said is None:
        return now
    return min(now, said if timezone.is_aware(said) else said.replace(tzinfo=UTC))


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str | int | float) or isinstance(value, bool) or not is_storable(str(value)):
        raise WrongField(name, "Give it as text that can be stored.")
    text = str(value).strip()
    return text[1:] if text.startswith("'") and harmless(text[1:]) == text else text


def _whole(row: Mapping[str, Any], name: str) -> int | None:
    text = _text(row, name)
    if text and id_in(text) is None:
        raise WrongField(name, "Give a whole number.")
    return id_in(text) if text else None


def _number(row: Mapping[str, Any], name: str) -> float | None:
    text = _text(row, name)
    try:
        number = float(text) if text else None
    except ValueError:
        raise WrongField(name, "Give a number.") from None
    if number is not None and not -1e12 < number < 1e12:
        raise WrongField(name, "Give a number.")
    return number


def _missing(at: str, reason: str) -> str:
    raise WrongField(at, reason)
