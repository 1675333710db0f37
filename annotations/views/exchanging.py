"""Grades as files, out of a queue and into one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_safe

from annotations.called import hidden_names
from annotations.exporting import as_csv, as_jsonl
from annotations.exporting_tasks import as_tasks
from annotations.forms import versions_for
from annotations.importing import take, take_by
from annotations.models import Grade, Queue
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import AuditEntry, Role
from evalstudio.web.pages import page_or_fragment
from evaluators.kinds.human import Human
from evaluators.models import Evaluator
from experiments.datasets.importing.rows import BadFile
from experiments.forms.scores import MOST_BYTES, RowsForm, rows_of
from experiments.ledger.outside import Taken
from experiments.ledger.start import CannotStart

FORMATS = {
    "csv": (as_csv, "text/csv; charset=utf-8"),
    "jsonl": (as_jsonl, "application/x-ndjson; charset=utf-8"),
    "json": (as_tasks, "application/json"),
}


@require_safe
@project_page(Role.VIEWER)
def grades_export(request: ProjectRequest, pk: int, form: str) -> StreamingHttpResponse:
    """Every grade of a queue as a file that is written while it is read; with `current` only those that count."""
    queue = _queue(request, pk)
    return _file(request, Grade.objects.filter(item__queue=queue), queue.name, form)


@require_safe
@project_page(Role.VIEWER)
def evaluator_grades(request: ProjectRequest, pk: int, form: str) -> StreamingHttpResponse:
    """Every grade by an evaluator as such a file, those that were given without a queue as well."""
    evaluator = get_object_or_404(Evaluator, project=request.project, pk=pk)
    return _file(request, Grade.objects.filter(version__evaluator=evaluator), evaluator.name, form)


def _file(request: ProjectRequest, grades: QuerySet[Grade], name: str, form: str) -> StreamingHttpResponse:
    if form not in FORMATS:
        raise Http404
    write, content_type = FORMATS[form]
    wanted = grades.filter(is_current=True) if request.GET.get("current") else grades
    response = StreamingHttpResponse(write(wanted, hidden_names(grades, request.role)), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="grades-{slugify(name)}.{form}"'
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def grades_import(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether grades given elsewhere go into a queue, and what is wrong with which row."""
    queue = _queue(request, pk)
    into = {"queue": queue, "back": queue.get_absolute_url()}
    return _import(request, into, f"queue {queue.name}", lambda rows, taken: take(queue, rows, request.user, taken))


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def evaluator_grades_import(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides the same for a human evaluator: grades of outputs whether a queue asks for them or not."""
    evaluator = get_object_or_404(Evaluator, project=request.project, pk=pk, kind=Human.key)
    version = versions_for(request.project, compares=evaluator.compares).filter(evaluator=evaluator).first()
    into = {"evaluator": evaluator, "version": version, "back": evaluator.get_absolute_url()}
    if version is None:
        return page_or_fragment(request, "annotations/grades_import.html", into)
    return _import(request, into, evaluator.name, lambda rows, taken: take_by(version, rows, request.user, taken))


def _import(
    request: ProjectRequest, into: dict[str, Any], name: str, store: Callable[[Iterator[Any], Taken], None]
) -> HttpResponse:
    taken = Taken()
    form = RowsForm(request.POST, request.FILES) if request.method == "POST" else RowsForm()
    if request.method == "POST" and form.is_valid():
        try:
            store(rows_of(form.cleaned_data["file"], taken), taken)
        except (BadFile, CannotStart) as error:
            form.add_error("file", str(error))
        AuditEntry.note(request.project, request.user, "imported grades into", name)
        if not taken.wrong and not form.errors:
            messages.success(request, f"{taken.accepted:,} stored, {taken.unchanged:,} were there already.")
            return redirect(into["back"])
    ctx = into | {"form": form, "taken": taken if taken.wrong else None, "limit_mb": MOST_BYTES // 1024 // 1024}
    status = 422 if request.method == "POST" else 200
    return page_or_fragment(request, "annotations/grades_import.html", ctx, status=status)


def _queue(request: ProjectRequest, pk: int) -> Queue:
    queues = Queue.objects.filter(project=request.project).select_related("project")
    return get_object_or_404(queues, pk=pk)
