"""Pages of how far people agree, and of what they said where they do not."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotations.agreeing import (
    WEIGHTS,
    batches_of,
    counted,
    figures,
    latest_graded,
    level_of,
    pairs_of,
    people_in,
    said_in,
    table_of,
)
from annotations.agreeing_charts import matrix, over_time
from annotations.answers import in_words, number_in
from annotations.called import called, names_for
from annotations.disagreeing import differing, items_of, of_subject, page_of, told
from annotations.models import Grade, Item, ItemState, Queue
from annotations.queueing import ask_again, config_of
from annotations.screen import sides_of
from evalstudio.files.pictures import pictures_in
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import AuditEntry, Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment
from evaluators.models import Evaluator, EvaluatorVersion
from evaluators.scoring import EnumScoring, OffScale
from experiments.analysis import reading

MOST_REPEATED = 50  # per cent


@require_safe
@project_page(Role.VIEWER, reviewers=True)
def evaluator_agreement(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether people's grades can be trusted: how far they agree, where not, and who with themselves.

    Reviewers see their own figures alone.
    """
    evaluator = get_object_or_404(Evaluator, project=request.project, pk=pk, kind="human")
    versions = list(evaluator.versions.select_related("evaluator").order_by("-number"))
    wanted = id_in(request.GET.get("version", ""))
    version = next((one for one in versions if one.number == wanted), None) or latest_graded(versions)
    queues = Queue.objects.filter(project=request.project, versions__evaluator=evaluator).distinct()
    queue = queues.filter(pk=id_in(request.GET.get("queue", "")) or 0).first()
    ctx: dict[str, Any] = {
        "evaluator": evaluator,
        "versions": versions,
        "version": version,
        "queues": list(queues.order_by("-pk")[:100]) if request.role.looks_around else [],
        "queue": queue,
        "may_ask": request.role >= Role.EDITOR,
        "levels": list(WEIGHTS),
    }
    if version:
        ctx["are_labels"] = isinstance(config_of(version).scoring, EnumScoring)
        ctx |= _own(request, version, queue) if not request.role.looks_around else _all(request, version, queue)
    return page_or_fragment(request, "annotations/agreement.html", ctx)


def _own(request: ProjectRequest, version: EvaluatorVersion, queue: Queue | None) -> dict[str, Any]:
    people = people_in(said_in(counted(version, queue)), version, queue)
    return {"people": [(called(request.user), one) for one in people if one.pk == request.user.pk], "is_own": True}


def _all(request: ProjectRequest, version: EvaluatorVersion, queue: Queue | None) -> dict[str, Any]:
    scoring = config_of(version).scoring
    level = next((one for one in WEIGHTS if one == request.GET.get("level")), level_of(scoring))
    said = said_in(counted(version, queue))
    table = table_of(said, scoring, level)
    name = names_for(version, request.role)
    page = page_of(differing(said), request.GET)
    return {
        "level": level,
        "suggested": level_of(scoring),
        "found": figures(table, level),
        "charts": [
            chart
            for chart in (
                matrix(pairs_of(said, table, level), name, weighted=WEIGHTS[level] is not None),
                over_time(batches_of(said, scoring, level), level),
            )
            if chart
        ],
        "people": [(name(one.pk), one) for one in people_in(said, version, queue)],
        "page": page,
        "differing": [
            (one, [(name(grade.person_id), grade, in_words(grade, version)) for grade in one.grades])
            for one in told(page.rows, version, queue)
        ],
    }


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def grades_beside(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides what to make of a disagreement: what was seen, and what everybody said of it with their comments.

    `pk` is any of these grades. An editor may note the answer that must come, which makes its items a test of people.
    """
    grades = Grade.objects.filter(output__experiment__project=request.project)
    seen = ("version__evaluator", "output__case", "output__body", "output__experiment__system")
    others = ("baseline_output__body", "baseline_output__experiment__system", "item__queue")
    grade = get_object_or_404(grades.select_related(*seen, *others), pk=pk)
    items, fault = list(items_of(grade).select_related("queue")[:20]), ""
    if request.method == "POST":
        if request.role < Role.EDITOR:
            raise PermissionDenied("This needs the role editor.")
        try:
            return _know(request, grade, items)
        except OffScale as error:
            fault = str(error)
    name = names_for(grade.version, request.role)
    slug, case = request.project.slug, grade.output.case
    sides = sides_of(Item(output=grade.output, baseline_output=grade.baseline_output), slug)
    ctx = {
        "grade": grade,
        "case": case,
        "inputs": reading.parts(case.inputs),
        "pictures": pictures_in(case.inputs, slug),
        "expected": reading.parts(case.expected_outputs),
        "sides": sides,
        "has_steps": any(side.steps for side in sides),
        "grades": [(name(one.person_id), one, in_words(one, grade.version)) for one in of_subject(grade)],
        "scoring": config_of(grade.version).scoring,
        "is_enum": isinstance(config_of(grade.version).scoring, EnumScoring),
        "items": items,
        "disputed": next((item for item in items if item.state == ItemState.DISPUTED), None),
        "known": _known_as_typed(items, grade.version),
        "typed": request.POST.get("known", "")[:200],
        "fault": fault,
        "may_know": request.role >= Role.EDITOR,
    }
    return page_or_fragment(request, "annotations/grades_beside.html", ctx, status=422 if fault else 200)


def _know(request: ProjectRequest, grade: Grade, items: list[Item]) -> HttpResponse:
    """Note the answer that must come, or that none must. Raises OffScale."""
    scoring, typed = config_of(grade.version).scoring, request.POST.get("known", "").strip()
    answer: str | float | None = None
    if typed and isinstance(scoring, EnumScoring):
        answer = scoring.option(typed).label
    elif typed and not isinstance(scoring, EnumScoring):
        answer = scoring.value(number_in(typed))
    key = str(grade.version_id)
    for item in items:
        known = {name: value for name, value in (item.known or {}).items() if name != key}
        item.known = known | ({key: answer} if answer is not None else {}) or None
        item.save(update_fields=["known"])
    AuditEntry.note(request.project, request.user, "noted the known answer of", grade.output.case.key)
    messages.success(
        request, "Kept. It tells who gets it right." if answer is not None else "No answer is known any more."
    )
    return redirect("grades-beside", request.project.slug, grade.pk)


def _known_as_typed(items: list[Item], version: EvaluatorVersion) -> str:
    known = next((item.known[str(version.pk)] for item in items if item.known and str(version.pk) in item.known), None)
    scoring = config_of(version).scoring
    if known is None or isinstance(scoring, EnumScoring):
        return known or ""
    return f"{scoring.low + known * (scoring.high - scoring.low):g}"


@require_POST
@project_page(Role.EDITOR)
def queue_ask_again(request: ProjectRequest, pk: int) -> HttpResponse:
    """Hide a second asking of some items in a queue."""
    queue = get_object_or_404(Queue, project=request.project, pk=pk, closed_at=None)
    share = id_in(request.POST.get("share", "")) or 0
    if not 1 <= share <= MOST_REPEATED:
        messages.error(request, f"Ask again from 1 to {MOST_REPEATED} per cent of the items.")
        return redirect(queue)
    number = ask_again(queue, share / 100)
    AuditEntry.note(request.project, request.user, "hid second askings in", f"queue {queue.name}")
    messages.success(
        request, f"{number:,} item{'' if number == 1 else 's'} will be asked again, unseen among the others."
    )
    return redirect(queue)
