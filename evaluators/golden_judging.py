"""Judging golden cases within a request: as many as the time allows, several calls at once, and then the next round."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from evalstudio.calls import evidence, sharing
from evalstudio.calls.models import Connection
from evalstudio.calls.replies import NotNow
from evalstudio.web.foreign import storable
from evaluators.core import Sample, Score, Status, Why
from evaluators.engine import Boarding, Computation, Flight, Work, work_of
from evaluators.golden import sample_in
from evaluators.models import EvaluatorVersion, GoldenCase, GoldenVerdict
from evaluators.processing import behind, processor_of
from evaluators.tools import Tools, javascript

ROUND_S = 10.0  # how long a round starts anything new
LANDING_S = 20.0  # how long after that what was asked may take
AT_ONCE = 8  # calls in flight
BATCH = 16  # computed at a time, between looks at the clock

Judged = tuple[int, Score]  # a case by its id


class PeopleGrade(Exception):
    """The evaluator is graded by people, so nothing can judge its cases at once."""


@dataclass(frozen=True, slots=True)
class Round:
    """What a round did. `not_now` is a sentence where the endpoint put it off."""

    judged: int
    left: int
    not_now: str = ""


def judge(version: EvaluatorVersion, limit_s: float = ROUND_S) -> Round:
    """Judge the golden cases that the version has no verdict on, as many as fit, and store what it says.

    Raises PeopleGrade, and BadConfig for a version that cannot be read any more.
    """
    work = behind(work_of(version), processor_of(version.evaluator.project_id))
    missing = GoldenCase.objects.filter(evaluator=version.evaluator_id).exclude(verdicts__version=version)
    cases = list(missing.order_by("pk").values_list("pk", "sample"))
    not_now, judged = "", 0
    try:
        for scores in judge_with(work, [(pk, sample_in(sample)) for pk, sample in cases], limit_s):
            judged += len(_store(version, scores))
    except NotNow as reason:
        not_now = str(reason)
    return Round(judged, len(cases) - judged, not_now)


def forget_failures(version: EvaluatorVersion) -> int:
    """Let the cases that something went wrong with be judged again; how many there are."""
    return GoldenVerdict.objects.filter(version=version, state=Status.FAILED).delete()[0]


def judge_with(work: Work, cases: Sequence[tuple[int, Sample]], limit_s: float = ROUND_S) -> Iterator[list[Judged]]:
    """The scores of cases under a configuration, saved or not, as they come. Raises PeopleGrade and NotNow."""
    if not work.needs.is_judged_here:
        raise PeopleGrade("Nothing here judges for this evaluator, so nothing could judge golden cases.")
    if cases:
        yield from (_compute if work.needs.lane == "cpu" else _call)(work, cases, limit_s)


def _compute(work: Work, cases: Sequence[tuple[int, Sample]], limit_s: float) -> Iterator[list[Judged]]:
    until = time.monotonic() + limit_s
    computation = Computation(work, Tools(javascript=javascript()))
    for at in range(0, len(cases), BATCH):
        batch = cases[at : at + BATCH]
        scores = computation.scores([sample for _, sample in batch])
        yield [(pk, score) for (pk, _), score in zip(batch, scores, strict=True)]
        if time.monotonic() >= until:
            return


def _call(work: Work, cases: Sequence[tuple[int, Sample]], limit_s: float) -> Iterator[list[Judged]]:
    """Several in the air at once; those that take longer than anybody would wait have failed."""
    connection = Connection.objects.filter(pk=work.needs.connection_id or 0).first()
    if connection is None or connection.is_rehearsal:
        yield from _fly(work, cases, limit_s, AT_ONCE)
        return
    slots = min(AT_ONCE, len(cases), sharing.limit_of(connection))
    with sharing.borrow(connection, slots):
        yield from _fly(work, cases, limit_s, slots)


def _fly(work: Work, cases: Sequence[tuple[int, Sample]], limit_s: float, at_once: int) -> Iterator[list[Judged]]:
    began, waiting, put_off = time.monotonic(), list(reversed(cases)), ""
    with Flight(_tools, collect=at_once) as flight:
        flying: set[int] = set()
        while True:
            in_time = time.monotonic() < began + limit_s and not put_off
            going = [waiting.pop() for _ in range(min(at_once - len(flying), len(waiting)))] if in_time else []
            flight.admit(Boarding(pk, None, work, sample) for pk, sample in going)
            flying |= {pk for pk, _ in going}
            if not flying or time.monotonic() >= began + limit_s + LANDING_S:
                break
            landings = flight.landed(0.1)
            flying -= {landing.ticket for landing in landings}
            put_off = next((landing.not_now for landing in landings if landing.score is None), put_off)
            yield [(landing.ticket, landing.score) for landing in landings if landing.score]
        if flying:
            late = Score.failed(Why.TIME, f"There was no score within {LANDING_S:g} s.")
            yield [(pk, late) for pk in sorted(flying)]
    if put_off:
        raise NotNow(put_off)


@asynccontextmanager
async def _tools() -> AsyncIterator[Tools]:
    """A client that tries once: somebody is waiting, and what failed can be asked for again."""
    from evalstudio.calls.chat import ONCE, open_chat

    async with open_chat(patience=ONCE) as chat:
        yield Tools(chat=chat)


def keep_replies(scores: Sequence[Judged]) -> None:
    """Keep the replies that could be read: the same question again is then free."""
    evidence.store(reply for _, score in scores for reply in score.replies if reply.reusable)


def _store(version: EvaluatorVersion, scores: Sequence[Judged]) -> Sequence[Any]:
    """Store verdicts; one that is there already stays, and those of deleted cases are dropped."""
    keep_replies(scores)
    there = set(GoldenCase.objects.filter(pk__in=[pk for pk, _ in scores]).values_list("pk", flat=True))
    rows = [_row(version, pk, score) for pk, score in scores if pk in there]
    GoldenVerdict.objects.bulk_create(rows, ignore_conflicts=True)
    return scores


def _row(version: EvaluatorVersion, case_id: int, score: Score) -> GoldenVerdict:
    return GoldenVerdict(
        version=version,
        case_id=case_id,
        state=score.status,
        value=score.value,
        label=None if score.label is None else storable(score.label)[:200],
        passed=score.passed,
        reason=storable(score.reason),
    )
