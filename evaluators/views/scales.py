"""Pages of scales: which there are and who uses them, and the form that makes and changes one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pagination import Order, page_of
from evaluators.editing import as_typed
from evaluators.forms.scale import ScaleForm
from evaluators.models import Scale
from evaluators.scales import uses_of
from evaluators.views.option_rows import blank_row, pressed_row_button, rows_of


@require_safe
@project_page(Role.VIEWER)
def scale_list(request: ProjectRequest) -> HttpResponse:
    """Decides which scale an evaluator should answer on, and which need a word or an option changed."""
    every = Scale.objects.filter(project=request.project)
    page = page_of(every.filter(archived_at=None), Order("name"), request.GET)
    context = {
        "page": page,
        "rows": uses_of(page.rows),
        "archived": list(every.exclude(archived_at=None).order_by("name")),
        "may_edit": request.role >= Role.EDITOR,
    }
    return render(request, "evaluators/scale_list.html", context)


@require_http_methods(["GET", "POST"])
@project_page(Role.EDITOR)
def scale_new(request: ProjectRequest) -> HttpResponse:
    """Decides what evaluators that share this scale may answer, and what each answer is worth."""
    return _form(request, None)


@require_http_methods(["GET", "POST"])
@project_page(Role.EDITOR)
def scale_edit(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides how a scale reads from now on; what was saved with it stays as it was."""
    return _form(request, _scale(request, pk))


@require_POST
@project_page(Role.EDITOR)
def scale_archive(request: ProjectRequest, pk: int) -> HttpResponse:
    scale = _scale(request, pk)
    scale.archive(request.user)
    undo = reverse("scale-restore", args=[request.project.slug, pk])
    messages.success(request, f"{scale.name} is archived. Evaluators that have it keep it.", extra_tags=undo)
    return redirect("scale-list", request.project.slug)


@require_POST
@project_page(Role.EDITOR)
def scale_restore(request: ProjectRequest, pk: int) -> HttpResponse:
    scale = _scale(request, pk)
    scale.restore(request.user)
    messages.success(request, f"{scale.name} can be chosen again.")
    return redirect("scale-list", request.project.slug)


def _scale(request: ProjectRequest, pk: int) -> Scale:
    return get_object_or_404(Scale.objects.select_related("project"), project=request.project, pk=pk)


def _form(request: ProjectRequest, scale: Scale | None) -> HttpResponse:
    if request.method != "POST":
        return _page(request, scale, as_typed(ScaleForm.typed(scale)) if scale else QueryDict("scoring=enum"))
    rows_changed = pressed_row_button(request.POST)
    if rows_changed is not None:
        return _page(request, scale, rows_changed)
    form = ScaleForm(request.POST, project=request.project, scale=scale)
    if not form.is_valid():
        return _page(request, scale, request.POST, form)
    saved = form.save(request.user)
    messages.success(request, _said(saved))
    return redirect("scale-list", request.project.slug)


def _said(scale: Scale) -> str:
    """That it is saved, and who does not have the change."""
    behind = len(uses_of([scale])[0].behind)
    if not behind:
        return f"{scale.name} is saved."
    keep, own = ("1 evaluator keeps", "its") if behind == 1 else (f"{behind} evaluators keep", "their")
    return f"{scale.name} is saved. {keep} the scale as it was; save {own} next version to take this over."


def _page(
    request: ProjectRequest, scale: Scale | None, typed: QueryDict, form: ScaleForm | None = None
) -> HttpResponse:
    faults = form.faults if form else {}
    context = {
        "scale": scale,
        "typed": typed,
        "faults": faults,
        "options": rows_of(typed, faults),
        "blank_row": blank_row(),
        "used": uses_of([scale])[0] if scale else None,
    }
    return render(request, "evaluators/scale.html", context, status=422 if form else 200)
