"""Answers that have to look at all rows of several runs: kept, worked out at once where that is little, or by a worker.

A question is a function with plain arguments, and what its answer rests on: runs with their revisions. Who asks again
while that is the same gets what was kept, so no hook has to throw anything away.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.module_loading import import_string
from django_q.models import OrmQ
from django_q.tasks import async_task

from experiments.models import Derived, Run

WORK_OUT = "experiments.analysis.working_out.work_out"  # a queued task keeps this path: it must never move
FORMAT = 4  # of answers: raised whenever the code works any of them out otherwise
AT_ONCE = 60_000  # rows that one page may look at itself
MOST_KEPT = 2_000  # answers of one project
LOST_AFTER = timedelta(minutes=3)  # a task that a worker took so long ago will not be done


@dataclass(frozen=True, slots=True)
class Question:
    """`topic` is the path of a function that takes `about` and answers in plain JSON; `rows` is what it looks at."""

    topic: str
    about: tuple[Any, ...]
    made_from: str
    rows: int

    @property
    def key(self) -> str:
        return _digest(FORMAT, self.topic, self.about)


def made_from(runs: Iterable[Run]) -> str:
    return _digest([(run.pk, run.revision) for run in runs])


def answers(project_id: int, questions: Sequence[Question]) -> dict[Question, Any]:
    """What is known, of some questions; those that are not in it are being worked out. One query where all are kept."""
    by_key = {question.key: question for question in questions}
    found: dict[Question, Any] = {}
    for kept in Derived.objects.filter(question__in=by_key):
        if kept.made_from == by_key[kept.question].made_from:
            found[by_key[kept.question]] = kept.answer
    room, too_much = AT_ONCE, []
    for question in sorted(by_key.values(), key=lambda question: question.rows):
        if question in found:
            continue
        if question.rows <= room:
            room -= question.rows
            found[question] = _worked_out(project_id, question)
        else:
            too_much.append(question)
    if too_much:
        _ask_for(project_id, too_much)
    return found


def work_out(project_id: int, topic: str, about: Sequence[Any], made_from: str) -> None:
    """The same in a worker. What it rests on may have changed meanwhile: then nobody asks for this answer any more."""
    question = Question(topic, _hashable(about), made_from, 0)
    if not Derived.objects.filter(question=question.key, made_from=made_from).exists():
        _worked_out(project_id, question)


def _worked_out(project_id: int, question: Question) -> Any:
    answer = import_string(question.topic)(*question.about)
    Derived.objects.update_or_create(
        question=question.key,
        defaults={
            "project_id": project_id,
            "made_from": question.made_from,
            "answer": answer,
            "made_at": timezone.now(),
        },
    )
    of_project = Derived.objects.filter(project=project_id).order_by("-made_at", "-pk")
    if old := list(of_project.values_list("pk", flat=True)[MOST_KEPT : MOST_KEPT + 100]):
        Derived.objects.filter(pk__in=old).delete()
    return answer


def _ask_for(project_id: int, questions: Sequence[Question]) -> None:
    """Queue them, but for those that are. Once a worker has taken a task, its lock lies `retry` ahead of that time."""
    horizon = timezone.now() + _ahead() - LOST_AFTER
    rows = OrmQ.objects.exclude(lock__gt=timezone.now(), lock__lte=horizon)
    queued = {row.task.get("name") for row in rows}
    for question in questions:
        if (name := f"work out {question.key}") not in queued:
            about = question.topic, list(question.about), question.made_from
            async_task(WORK_OUT, project_id, *about, task_name=name)


def _ahead() -> timedelta:
    from django_q.conf import Conf

    return timedelta(seconds=Conf.RETRY)


def _hashable(about: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(tuple(each) if isinstance(each, list) else each for each in about)


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
