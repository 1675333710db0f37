"""Drafts: what was typed in the editor and not saved yet."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evaluators.editing import kept_fields
from evaluators.views.editing import posted_place


@require_POST
@project_page(Role.EDITOR)
def evaluator_draft(request: ProjectRequest) -> HttpResponse:
    """Keeps what was typed and answers with what differs, or forgets it when asked to discard."""
    place = posted_place(request)
    if request.POST.get("do") == "discard":
        place.forget()
        messages.info(request, "Your edits are discarded.")
        slug = request.project.slug
        return (
            redirect("evaluator-page", slug, place.evaluator.pk)
            if place.evaluator
            else redirect("evaluator-list", slug)
        )
    fields = kept_fields(request.POST)
    if place.differences(fields):
        place.keep(request.POST)
    else:
        place.forget()  # typed back to what is saved
    return HttpResponse(place.sentence(fields), content_type="text/plain; charset=utf-8")
