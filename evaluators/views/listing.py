"""The list of a project's evaluators."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import page_of
from evaluators.kinds import KINDS
from evaluators.listed import chosen, counts, heads, in_project, listed, ordered
from evaluators.models import Draft
from evaluators.views.picking import gallery

MOST_DRAFTS = 5  # named above the list, the latest first
ARCHIVED = "archived"


@require_GET
@project_page(Role.VIEWER)
def evaluator_list(request: ProjectRequest) -> HttpResponse:
    """Helps to decide which evaluator to open, run or mend next."""
    words, choice = request.GET.get("q", "").strip(), request.GET.get("kind", "")
    shows_archived = request.GET.get("show") == ARCHIVED
    every = in_project(request.project)
    found = every.exclude(archived_at=None) if shows_archived else every.in_use()
    sorted_, order, sort = ordered(chosen(found, choice).matching(words), request.GET.get("sort", ""))
    page = page_of(sorted_, order, request.GET)
    there_are = counts(request.project)
    is_empty = not there_are.in_use and not there_are.archived
    context = {
        "page": page,
        "rows": list(listed(page.rows, request.user)),
        "heads": heads(sort),
        "sort": sort,
        "counts": there_are,
        "kind": choice,
        "words": words,
        "shows_archived": shows_archived,
        "is_empty": is_empty,
        "drafts": _drafts_of_new(request),
        "may_edit": request.role >= Role.EDITOR,
        **(gallery() if is_empty else {}),
    }
    return page_or_fragment(request, "evaluators/list.html", context)


def _drafts_of_new(request: ProjectRequest) -> list[tuple[Draft, str]]:
    """Evaluators begun by this person and never saved, with the title of their kind."""
    drafts = Draft.objects.filter(project=request.project, author=request.user, evaluator=None).order_by("-updated_at")
    return [(draft, KINDS[draft.kind].title) for draft in drafts.filter(kind__in=KINDS)[:MOST_DRAFTS]]
