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

from experiments.analysis.summary import summaries
from experiments.analysis.vectors import is_kept, keep
from experiments.models import Derived, Run, RunState

WORK_OUT = "experiments.analysis.working_out.work_out"  # a queued task keeps these paths: they must never move
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
        return _digest(self.topic, self.about)


def made_from(runs: Iterable[Run]) -> str:
    return _digest([(run.pk, run.revision) for run in runs])


def answers(project_id: int, questions: Sequence[Question]) -> dict[Question, Any]:
    """What is known, of some questions; those that are not in it are being worked out. One query where all are kept."""
    by_key = {question.key: question for question in questions}
    found: dict[Question, Any] = {}
    for kept in Derived.objects.filter(question__in=by_key):
        if kept.made_from == by_key[kept.question].made_from:
            found[by_key[kept.question]] = kept.answer
    room = AT_ONCE
    for question in sorted(by_key.values(), key=lambda question: question.rows):
        if question in found:
            continue
        if question.rows <= room:
            room -= question.rows
            found[question] = _worked_out(project_id, question)
        else:
            _ask_for(project_id, question)
    return found


def work_out(project_id: int, topic: str, about: Sequence[Any], made_from: str) -> None:
    """The same in a worker. What it rests on may have changed meanwhile: then nobody asks for this answer any more."""
    question = Question(topic, _hashable(about), made_from, 0)
    if not Derived.objects.filter(question=question.key, made_from=made_from).exists():
        _worked_out(project_id, question)


def keep_results(run_id: int) -> None:
    """Of a run that has finished: what pages read of it, ready before the first of them asks."""
    runs = Run.objects.select_related("version__evaluator", "experiment")
    run = runs.filter(pk=run_id, state=RunState.FINISHED).first()
    if run is None:
        return
    from experiments.analysis.curves import keep_areas  # which asks questions itself

    summaries([run])
    if not is_kept(run):
        keep(run)
    keep_areas(run)


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


def _ask_for(project_id: int, question: Question) -> None:
    """Queue it, unless that has been done. Once a worker has taken a task, its lock lies `retry` ahead of that time."""
    name = f"work out {question.key}"
    horizon = timezone.now() + _ahead() - LOST_AFTER
    for row in OrmQ.objects.all():
        if row.task.get("name") == name and (row.lock <= timezone.now() or row.lock > horizon):
            return
    async_task(WORK_OUT, project_id, question.topic, list(question.about), question.made_from, task_name=name)


def _ahead() -> timedelta:
    from django_q.conf import Conf

    return timedelta(seconds=Conf.RETRY)


def _hashable(about: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(tuple(each) if isinstance(each, list) else each for each in about)


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
