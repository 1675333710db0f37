"""Where a new evaluator begins: a starting point, or a blank of a kind."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evaluators.kinds import KINDS
from evaluators.starters import STARTERS


@require_GET
@project_page(Role.EDITOR)
def evaluator_pick(request: ProjectRequest) -> HttpResponse:
    """Helps to decide what to start the new evaluator from."""
    return render(request, "evaluators/new.html", starting_points())


def starting_points() -> dict[str, Any]:
    """What the gallery shows: the starting points with their kinds, and the blanks."""
    return {
        "starters": [(starter, KINDS[starter.kind]) for starter in STARTERS.values() if starter.kind in KINDS],
        "kinds": list(KINDS.values()),
    }
