"""Archiving an evaluator, bringing it back, and making another from it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evaluators.listed import in_project
from evaluators.models import Evaluator


@require_POST
@project_page(Role.EDITOR)
def evaluator_archive(request: ProjectRequest, pk: int) -> HttpResponse:
    evaluator = _evaluator(request, pk)
    evaluator.archive(request.user)
    undo = reverse("evaluator-restore", args=[request.project.slug, pk])
    messages.success(request, f"{evaluator.name} is archived. Its runs and scores stay.", extra_tags=undo)
    return _back(request)


@require_POST
@project_page(Role.EDITOR)
def evaluator_restore(request: ProjectRequest, pk: int) -> HttpResponse:
    evaluator = _evaluator(request, pk)
    evaluator.restore(request.user)
    messages.success(request, f"{evaluator.name} is back in the list.")
    return _back(request)


@require_POST
@project_page(Role.EDITOR)
def evaluator_duplicate(request: ProjectRequest, pk: int) -> HttpResponse:
    evaluator = _evaluator(request, pk)
    if not evaluator.versions.exists():
        messages.error(request, f"{evaluator.name} has no saved version yet, so there is nothing to copy.")
        return _back(request)
    copy = evaluator.duplicate(request.user)
    messages.success(request, f"{copy.name} is saved as v1. Rename it when you edit it.")
    return redirect("evaluator-page", request.project.slug, copy.pk)


def _evaluator(request: ProjectRequest, pk: int) -> Evaluator:
    return get_object_or_404(in_project(request.project).select_related("project"), pk=pk)


def _back(request: ProjectRequest) -> HttpResponse:
    """To the list as it was searched and sorted, where the form says how."""
    back = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(back, {request.get_host()})
    return HttpResponseRedirect(back) if is_ours else redirect("evaluator-list", request.project.slug)
