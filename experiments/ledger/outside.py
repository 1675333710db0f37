"""Scores that another program made: rows from a file or a pipeline, read one by one and settled like any worker's.

A row that is there already, word for word, changes nothing, so everything may be sent again after a lost answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from evalstudio.web.foreign import is_storable
from evaluators.core import Score, Status
from evaluators.engine import work_of
from evaluators.models import EvaluatorVersion
from evaluators.scoring import EnumScoring, OffScale, Passing, Scoring
from experiments.ledger.finish import finish_run
from experiments.ledger.settle import MOST_ROWS, Book, settle
from experiments.models import Evaluation, Experiment, Output, Run, RunLabel, RunState

NAMES = ("case", "attempt", "score", "label", "passed", "reason")
ALIASES = {"key": "case"}  # what exports call it
TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
MOST_LABEL = RunLabel._meta.get_field("label").max_length or 0
MOST_REASON = 100_000
MOST_FAULTS = 100  # kept; all are counted


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a row: its line or place, the field at fault, its case as sent, and why."""

    place: int
    field: str
    case: str
    reason: str


@dataclass(slots=True)
class Taken:
    """What became of rows. `unchanged` ones were there already; `ignored` are fields that say nothing here."""

    accepted: int = 0
    unchanged: int = 0
    wrong: int = 0
    faults: list[Fault] = field(default_factory=list)
    ignored: set[str] = field(default_factory=set)

    def refuse(self, fault: Fault) -> None:
        self.wrong += 1
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(fault)


class WrongField(ValueError):
    """What is wrong with one field of a row that was sent."""

    def __init__(self, at: str, reason: str) -> None:
        super().__init__(reason)
        self.at = at


@dataclass(frozen=True, slots=True)
class _Sent:
    place: int
    case: str
    attempt: int
    score: Score


def take(run: Run, rows: Iterable[tuple[int, Any]], taken: Taken | None = None) -> Taken:
    """Settle rows of a run, each with its line or place; those that are wrong are named, the others are stored."""
    taken = taken or Taken()
    config = work_of(run.version).config
    book = Book(run.pk, run.keeps_details)
    waiting = iter(rows)
    while batch := list(islice(waiting, MOST_ROWS)):
        _take_some(run, book, list(_read(batch, config.scoring, config.passing, taken)), taken)
    taken.faults.sort(key=lambda fault: fault.place)
    finish_run(run.pk)
    return taken


def finds_place(
    version: EvaluatorVersion, experiment: Experiment, rows: Iterable[tuple[int, Any]], taken: Taken
) -> bool:
    """Whether any row could be stored, so that wrong ones alone begin no run. Where none could, all are named."""
    config = work_of(version).config
    waiting = iter(rows)
    while batch := list(islice(waiting, MOST_ROWS)):
        sent = list(_read(batch, config.scoring, config.passing, taken))
        there = Output.objects.filter(experiment=experiment, case__key__in={each.case for each in sent})
        places = set(there.values_list("case__key", "attempt"))
        if any((each.case, each.attempt) in places for each in sent):
            return True
        for each in sent:
            taken.refuse(_homeless(each))
    taken.faults.sort(key=lambda fault: fault.place)
    return False


def _take_some(run: Run, book: Book, sent: list[_Sent], taken: Taken) -> None:
    open_rows: dict[tuple[str, int], Evaluation] = {}
    settled: dict[tuple[str, int], tuple[Any, ...]] = {}
    labels = dict(RunLabel.objects.filter(run=run).values_list("label_id", "label"))
    found = Evaluation.objects.filter(run=run, output__case__key__in={each.case for each in sent})
    for row in found.select_related("output__case", "body"):
        place = (row.output.case.key, row.output.attempt)
        if row.settled_at is None:
            open_rows[place] = row
        else:
            reason = row.body.reason if hasattr(row, "body") else ""
            label = None if row.label_id is None else labels.get(row.label_id)
            settled[place] = row.score, label, row.passed, reason
    fresh: dict[tuple[str, int], _Sent] = {}
    for each in sent:
        place, score = (each.case, each.attempt), each.score
        said = score.value, score.label, score.passed, score.reason if run.keeps_details else ""
        if settled.get(place, said) != said:
            was = f"{settled[place][0]:g}" if settled[place][0] is not None else "none"
            taken.refuse(Fault(each.place, "score", each.case, f"It has another score already, {was}. {AGAIN}"))
        elif place in settled:
            taken.unchanged += 1
        elif place not in open_rows:
            taken.refuse(_homeless(each))
        elif run.state != RunState.ACTIVE:
            taken.refuse(Fault(each.place, "case", each.case, "The run was stopped. Resume it, then send again."))
        else:
            fresh[place] = each
            settled[place] = said
    done = settle(book, [(open_rows[place].pk, each.score) for place, each in fresh.items()])
    taken.accepted += len(done)
    if overtaken := [each for place, each in fresh.items() if open_rows[place].pk not in done]:
        _take_some(run, book, overtaken, taken)  # somebody else was first just now: the same, or something else


def _homeless(each: _Sent) -> Fault:
    what = f"attempt {each.attempt} of “{each.case}”" if each.attempt else f"“{each.case}”"
    return Fault(each.place, "case", each.case, f"This result has no output for {what}.")


AGAIN = "Send all of them as a new round to judge again."


# --- Reading ----------------------------------------------------------------------------------------------------------
def _read(rows: Iterable[tuple[int, Any]], scoring: Scoring, passing: Passing, taken: Taken) -> Iterator[_Sent]:
    for place, row in rows:
        case = str(row.get("case", row.get("key", "")))[:200] if isinstance(row, Mapping) else ""
        try:
            if not isinstance(row, Mapping):
                raise WrongField("", "A row is an object with the fields case, score and so on.")
            named = {ALIASES.get(str(name), str(name)): value for name, value in row.items()}
            taken.ignored |= named.keys() - set(NAMES)
            yield _Sent(
                place, _case(named.get("case")), _attempt(named.get("attempt")), _score(named, scoring, passing)
            )
        except WrongField as wrong:
            taken.refuse(Fault(place, wrong.at, case, str(wrong)))


def _case(value: Any) -> str:
    key = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not key or not is_storable(key):
        raise WrongField("case", "Give the key of the case.")
    return key


def _attempt(value: Any) -> int:
    if value in (None, ""):
        return 0
    if isinstance(value, bool) or not str(value).strip().isascii() or not str(value).strip().isdecimal():
        raise WrongField("attempt", "Give the number of the attempt, from 0.")
    return int(str(value).strip()[:9])


def _score(row: Mapping[str, Any], scoring: Scoring, passing: Passing) -> Score:
    label = _text(row, "label", MOST_LABEL) or None
    value = _number(row.get("score"))
    if value is None:
        if label is None:
            raise WrongField("score", "Give a score from 0 to 1, or a label of the evaluator's scale.")
        if not isinstance(scoring, EnumScoring):
            raise WrongField(
                "label", f"What “{label}” counts is not known. Give a score as well, or the evaluator options."
            )
        try:
            option = scoring.option(label)
        except OffScale as error:
            raise WrongField("label", str(error)) from None
        value, label = option.value, option.label
    passed = _truth(row.get("passed"))
    return Score(
        Status.SCORED,
        value=value,
        label=label,
        passed=passing.passed(value) if passed is None else passed,
        reason=_text(row, "reason", MOST_REASON),
    )


def _number(value: Any) -> float | None:
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    try:
        number = math.nan if isinstance(value, bool) or "_" in str(value) else float(value)  # "0_1" is no number
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0 <= number <= 1:
        raise WrongField("score", f"A score is a number from 0 to 1, not {str(value)[:40]}.")
    return number + 0.0  # turns -0.0 into 0.0


def _truth(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    text = str(value).strip().casefold()
    if text and text not in TRUTHS:
        raise WrongField("passed", f"Say true or false, not {str(value)[:40]}.")
    return TRUTHS.get(text)


def _text(row: Mapping[str, Any], name: str, most: int) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise WrongField(name, f"Give the {name} as text.")
    text = str(value).strip()
    if len(text) > most or not is_storable(text):
        raise WrongField(name, f"Give at most {most:,} characters that can be stored.")
    return text
