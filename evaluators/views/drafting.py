"""Drafts: what was typed in the editor and not saved yet."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evaluators.editing import kept_fields
from evaluators.models import Draft
from evaluators.views.editing import posted_place

NEWER = (
    "Another tab of yours kept edits of this at {:%H:%M:%S} UTC. Load the page again to see them; "
    "if you type on here, yours take their place."
)


@require_POST
@project_page(Role.EDITOR)
def evaluator_draft(request: ProjectRequest) -> HttpResponse:
    """Keeps what was typed and answers with what differs, or forgets it when asked to discard.

    The header Draft-Kept says when it was kept, or "none". `kept_at` is the time of the draft that the page knows:
    where another page kept one since, nothing is kept this time and the answer is 409, so that no unseen edits go.
    """
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
    fields, kept = kept_fields(request.POST), place.draft()
    if kept and _is_of_another_page(kept, request.POST):
        return _said(NEWER.format(kept.updated_at), kept, status=409)
    if place.differences(fields):
        return _said(place.sentence(fields), place.keep(request.POST))
    place.forget()  # typed back to what is saved
    return _said(place.sentence(fields), None)


def _is_of_another_page(kept: Draft, posted: QueryDict) -> bool:
    """Whether the draft comes from another page than this one, which has not seen it."""
    others = kept.fields.get("page", posted.getlist("page")) != posted.getlist("page")
    return others and posted.get("kept_at", "") != kept.updated_at.isoformat()


def _said(sentence: str, draft: Draft | None, status: int = 200) -> HttpResponse:
    response = HttpResponse(sentence, content_type="text/plain; charset=utf-8", status=status)
    response["Draft-Kept"] = draft.updated_at.isoformat() if draft else "none"
    return response
