"""What a grading form says: by human evaluator an option or a number, or that it cannot be judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotations.models import Grade, GradeState, Item
from annotations.queueing import config_of
from annotations.sides import mirrored_option
from evalstudio.web.foreign import storable
from evaluators.kinds.human import HumanConfig
from evaluators.models import EvaluatorVersion
from evaluators.scoring import EnumScoring, OffScale

MOST_COMMENT = 10_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What somebody says by one human evaluator: a label or a number of its scale as a value in [0, 1], or neither."""

    state: GradeState
    label: str = ""
    value: float | None = None
    comment: str = ""


class BadAnswer(ValueError):
    """What is wrong with each field, as sentences by field name."""

    def __init__(self, faults: dict[str, str]) -> None:
        super().__init__(" ".join(faults.values()))
        self.faults = faults


def field_of(version: EvaluatorVersion) -> str:
    return f"grade-{version.pk}"


def read(
    said: Mapping[str, object], versions: Sequence[EvaluatorVersion], *, is_flipped: bool, cannot: bool = False
) -> dict[int, Answer]:
    """The answers by version id. What was said of exchanged sides is turned round. Raises BadAnswer."""
    comment = storable(str(said.get("comment") or "").replace("\r\n", "\n").strip())
    faults = {"comment": f"A comment has at most {MOST_COMMENT:,} characters."} if len(comment) > MOST_COMMENT else {}
    answers = {}
    for version in versions:
        if cannot:
            answers[version.pk] = Answer(GradeState.CANNOT_JUDGE, comment=comment)
            continue
        try:
            answers[version.pk] = _answer(config_of(version), said.get(field_of(version)), comment, is_flipped)
        except OffScale as error:
            faults[field_of(version)] = str(error)
    if faults:
        raise BadAnswer(faults)
    return answers


def _answer(config: HumanConfig, said: object, comment: str, is_flipped: bool) -> Answer:
    if isinstance(config.scoring, EnumScoring):
        if not said:
            raise OffScale("Choose one, or say that you cannot judge it.")
        option = config.scoring.option(said)
        option = mirrored_option(config.scoring, option) if is_flipped else option
        return Answer(GradeState.GRADED, option.label, option.value, comment)
    value = config.scoring.value(number_in(said))
    return Answer(GradeState.GRADED, "", 1 - value if is_flipped else value, comment)


def number_in(said: object) -> object:
    """What was typed as a number, with a comma as well as with a point. Raises OffScale."""
    if isinstance(said, bool) or not isinstance(said, str | int):
        return said
    try:
        return float(str(said).strip().replace(",", "."))
    except ValueError:
        raise OffScale("Type a number, or say that you cannot judge it.") from None


def shown_answer(version: EvaluatorVersion, label: str, value: float | None, *, is_flipped: bool) -> str:
    """A stored answer as the form of an item shows it: the label or the number to be typed."""
    scoring = config_of(version).scoring
    if value is None:
        return ""
    if isinstance(scoring, EnumScoring):
        try:
            option = scoring.option(label)
        except OffScale:
            return ""
        return mirrored_option(scoring, option).label if is_flipped else option.label
    share = 1 - value if is_flipped else value
    return f"{scoring.low + share * (scoring.high - scoring.low):g}"


def in_words(grade: Grade, version: EvaluatorVersion) -> str:
    """What a grade by this version says, in the words or numbers of its scale, whichever side stood first."""
    return grade.label or shown_answer(version, "", grade.value, is_flipped=False)


def draft_of(item: Item, grades: Iterable[Grade]) -> dict[str, str]:
    """Grades as the fields of the item's form."""
    said = {}
    for grade in grades:
        if grade.state == GradeState.GRADED:
            said[field_of(grade.version)] = shown_answer(
                grade.version, grade.label, grade.value, is_flipped=item.is_flipped
            )
        said["comment"] = grade.comment
    return said
