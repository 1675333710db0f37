"""Deciding where people graded differently."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from annotations.access import may_decide
from annotations.answers import BadAnswer, in_words, read
from annotations.consensus import outcome
from annotations.grading import Subject, submit
from annotations.models import Grade, GradeState, Item, ItemState, Queue
from annotations.queueing import config_of
from annotations.screen import screen_of, with_all
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from evaluators.models import EvaluatorVersion


@require_safe
@project_page(Role.REVIEWER)
def queue_decide(request: ProjectRequest, pk: int) -> HttpResponse:
    """Leads to the next item of a queue that waits for a decision."""
    queue = get_object_or_404(Queue.objects.select_related("project"), project=request.project, pk=pk)
    if not may_decide(queue, request.user, request.role):
        raise PermissionDenied("Somebody else decides here.")
    return _next(request, queue)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.REVIEWER)
def item_decide(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides what an item comes to on which people disagree: their grades and comments beside what they saw."""
    item = get_object_or_404(with_all(Item.objects.filter(queue__project=request.project)), pk=pk)
    if not may_decide(item.queue, request.user, request.role):
        raise PermissionDenied("Somebody else decides here.")
    item.is_flipped = False  # the grades so far are told as if it were not
    subject = Subject.of(item)
    open_ones = [version for version in subject.versions if _is_disputed(subject, version)]
    typed, faults = None, {}
    if request.method == "POST" and open_ones:
        cannot = request.POST.get("do") == "cannot"
        try:
            answers = read(request.POST.dict(), open_ones, is_flipped=False, cannot=cannot)
        except BadAnswer as error:
            typed, faults = request.POST.dict(), error.faults
        else:
            submit(subject, request.user, answers, is_decision=True)
            return _next(request, item.queue)
    ctx = {
        "item": item,
        "screen": screen_of(item, request.user, open_ones, typed=typed or {}, faults=faults),
        "faults": faults,
        "told": [
            (version, [(grade, in_words(grade, version)) for grade in _grades(subject, version)])
            for version in subject.versions
        ],
        "is_open": bool(open_ones),
    }
    return page_or_fragment(request, "annotations/decide.html", ctx, status=422 if faults else 200)


def _is_disputed(subject: Subject, version: EvaluatorVersion) -> bool:
    grades = list(subject.grades(version))
    return outcome(grades, config_of(version), subject.rule, subject.graders).is_disputed


def _grades(subject: Subject, version: EvaluatorVersion) -> list[Grade]:
    """What people said by one evaluator, in the order in which they did; a decision last."""
    told = subject.grades(version).exclude(state=GradeState.SKIPPED).filter(is_repeat=False)
    return list(told.select_related("person", "item__queue").order_by("is_decision", "pk"))


def _next(request: ProjectRequest, queue: Queue) -> HttpResponse:
    waiting: Any = Item.objects.filter(queue=queue, state=ItemState.DISPUTED).order_by("place", "pk").first()
    if waiting is not None:
        return redirect("item-decide", request.project.slug, waiting.pk)
    return redirect(queue) if request.role.looks_around else redirect("queue-list", request.project.slug)
