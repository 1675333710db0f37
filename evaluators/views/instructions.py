"""Instructions for reviewers as they will be read."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from evaluators.kinds.human import MOST_INSTRUCTIONS


@require_POST
@project_page(Role.EDITOR)
def evaluator_instructions(request: ProjectRequest) -> HttpResponse:
    """Helps to decide whether the instructions just typed can be read at a glance; too long a text is shown cut."""
    text = request.POST.get("instructions", "")[:MOST_INSTRUCTIONS]
    return page_or_fragment(request, "evaluators/instructions.html", {"instructions": text})
