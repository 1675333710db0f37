"""Where a new evaluator begins: the gallery of starting points, with a look at each, and blanks."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.template.loader import select_template
from django.views.decorators.http import require_GET

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Project, Role
from evalstudio.web.pages import page_or_fragment
from evaluators.described import SCALE, settings_of
from evaluators.gallery import groups, wants
from evaluators.kinds import KINDS
from evaluators.models import EvaluatorVersion
from evaluators.starters import STARTERS, Starter

HIDDEN = SCALE | {"runs_on"}  # settings that a preview shows in other words


@require_GET
@project_page(Role.EDITOR)
def evaluator_pick(request: ProjectRequest) -> HttpResponse:
    """Helps to decide what to start the new evaluator from."""
    starter = STARTERS.get(request.GET.get("peek", ""))
    context = gallery(request.GET.get("q", "").strip())
    context |= _preview(starter, request.project) if starter else {}
    return page_or_fragment(request, "evaluators/new.html", context, fragment="evaluators/_gallery.html")


@require_GET
@project_page(Role.EDITOR)
def evaluator_preview(request: ProjectRequest, key: str) -> HttpResponse:
    """Helps to decide whether this starting point is the one: its prompt or code, its scale, and what it needs."""
    starter = STARTERS.get(key)
    if starter is None:
        raise Http404
    return render(request, "evaluators/_preview.html", _preview(starter, request.project))


def gallery(words: str = "") -> dict[str, Any]:
    """What the gallery shows."""
    return {"groups": groups(words), "words": words}


def _preview(starter: Starter, project: Project) -> dict[str, Any]:
    """A starting point as the page of an evaluator shows a version, without what every blank of its kind says."""
    kind = KINDS[starter.kind]
    ours, blank = (
        settings_of(kind, EvaluatorVersion(config=config, config_schema=kind.schema), project)
        for config in (starter.config, kind.blank())
    )
    settings = [one for one in ours if one.text and one not in blank]
    return {
        "starter": starter,
        "starter_kind": kind,
        "wants": wants(starter),
        "config": starter.config,
        "shown_template": select_template([f"evaluators/kinds/_{kind.key}_shown.html", "evaluators/_shown.html"]),
        "texts": [one for one in settings if one.is_long],
        "settings": [one for one in settings if not one.is_long and one.name not in HIDDEN],
    }
