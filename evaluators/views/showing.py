"""The page of one evaluator: what it does, its versions and how they differ, and how it stands."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import select_template
from django.views.decorators.http import require_GET

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pagination import Order, page_of
from evaluators.described import SCALE, Setting, differences, settings_of
from evaluators.kinds import KINDS, BadConfig
from evaluators.models import Draft, Evaluator, EvaluatorVersion
from evaluators.views.standing import standing


@require_GET
@project_page(Role.VIEWER)
def evaluator_page(request: ProjectRequest, pk: int) -> HttpResponse:
    """Helps to decide whether this evaluator, in this version, is the one to run, read, mend or publish."""
    return page_of_evaluator(request, evaluator_of(request, pk))


def evaluator_of(request: ProjectRequest, pk: int) -> Evaluator:
    """An evaluator of the project, whose kind is known here. Raises Http404."""
    evaluator = get_object_or_404(
        Evaluator.objects.select_related("published_version"), pk=pk, project=request.project, kind__in=KINDS
    )
    evaluator.project = request.project
    return evaluator


def page_of_evaluator(request: ProjectRequest, evaluator: Evaluator, status: int = 200, **more: Any) -> HttpResponse:
    """The whole page; `version` and `against` in the address choose what it shows."""
    kind = KINDS[evaluator.kind]
    numbers = list(evaluator.versions.order_by("-number").values_list("number", flat=True))
    number = _asked(request, "version", numbers) or next(iter(numbers), None)
    version = _version(evaluator, number)
    against = _version(evaluator, _asked(request, "against", numbers))
    rows = evaluator.versions.select_related("author", "publication").defer("config")
    context = {
        "evaluator": evaluator,
        "kind": kind,
        "numbers": numbers,
        "page": page_of(rows, Order("number", descending=True), request.GET),
        "version": version,
        "against": against,
        "compared_with": next((one for one in numbers if number and one < number), None),
        "is_latest": bool(numbers) and number == numbers[0],
        "draft": Draft.objects.of(request.user, evaluator, "").first(),
        "may_edit": request.role >= Role.EDITOR,
        **_shown(request, kind, version, against),
        **standing(request, evaluator, version),
        **more,
    }
    return render(request, "evaluators/page.html", context, status=status)


def _asked(request: ProjectRequest, name: str, numbers: list[int]) -> int | None:
    """The version that the address names; None where it names none. Raises Http404 for one that there is not."""
    asked = request.GET.get(name, "")
    if asked and id_in(asked) not in numbers:
        raise Http404
    return id_in(asked)


def _version(evaluator: Evaluator, number: int | None) -> EvaluatorVersion | None:
    found = evaluator.versions.select_related("author", "publication").filter(number=number).first() if number else None
    if found:
        found.evaluator = evaluator
    return found


def _shown(
    request: ProjectRequest, kind: Any, version: EvaluatorVersion | None, against: EvaluatorVersion | None
) -> dict[str, Any]:
    """What a version says, or how it differs from another; `unreadable` where one of them cannot be read any more."""
    if version is None:
        return {}
    try:
        settings = settings_of(kind, version, request.project)
        if against:
            texts, changes = differences(settings_of(kind, against, request.project), settings)
            return {"texts": texts, "changes": changes}
    except BadConfig as error:
        return {"unreadable": str(error)}
    return {
        "config": kind.upgraded(version.config, version.config_schema),
        "shown_template": select_template([f"evaluators/kinds/_{kind.key}_shown.html", "evaluators/_shown.html"]),
        "texts": [one for one in settings if one.is_long and one.text],
        "settings": _without_scale(settings),
    }


def _without_scale(settings: list[Setting]) -> list[Setting]:
    return [one for one in settings if not one.is_long and one.text and one.name not in SCALE]
