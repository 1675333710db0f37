"""The page of one evaluator: what it does, its versions, its runs."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evaluators.kinds import KINDS
from evaluators.models import Draft, Evaluator


@require_GET
@project_page(Role.VIEWER)
def evaluator_page(request: ProjectRequest, pk: int) -> HttpResponse:
    """Helps to decide whether this evaluator, in this version, is the one to run, read or mend."""
    evaluator = get_object_or_404(Evaluator, pk=pk, project=request.project, kind__in=KINDS)
    kind = KINDS[evaluator.kind]
    versions = list(evaluator.versions.select_related("author").defer("config").order_by("-number"))
    asked = request.GET.get("version", "")
    number = id_in(asked) if asked else (versions[0].number if versions else None)
    version = evaluator.versions.select_related("author").filter(number=number).first() if number else None
    if asked and version is None:
        raise Http404
    context = {
        "evaluator": evaluator,
        "kind": kind,
        "versions": versions,
        "version": version,
        "is_latest": bool(versions) and version == versions[0],
        "config": version.config if version else None,
        "shown_template": f"evaluators/kinds/_{kind.key}_shown.html",
        "draft": Draft.objects.of(request.user, evaluator, "").first(),
        "may_edit": request.role >= Role.EDITOR,
    }
    return render(request, "evaluators/page.html", context)
