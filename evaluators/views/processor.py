"""The page of a project's processor: write it, try it on a case, save it as the next version, see what changed."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import wants_fragment
from evalstudio.web.pagination import Order, page_of
from evaluators import textdiff
from evaluators.editing import as_typed
from evaluators.forms.processor import Overtaken, ProcessorForm
from evaluators.models import ProcessorVersion
from evaluators.paths import existing_paths
from evaluators.processing import BLANK_CODE, Processor, sentence
from evaluators.views.benching import posted_sample
from evaluators.views.editing import Faults


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def processor_page(request: ProjectRequest) -> HttpResponse:
    """Decides what evaluators see of every output besides what the system sent."""
    if request.method != "POST":
        return _page(request)
    if request.role < Role.EDITOR:
        raise PermissionDenied(f"This needs the role {Role.EDITOR.title}.")
    form = ProcessorForm(request.POST)
    faults = form.faults()
    if faults:
        return _page(request, request.POST, faults, refused="What is wrong stands beside the field.")
    try:
        saved, is_new = form.save(request.project, request.user)
    except Overtaken:
        return _page(request, request.POST, refused="Somebody saved a newer version since you began. See it below.")
    messages.success(request, f"The processor is saved as {saved}." if is_new else "Nothing differs, nothing is saved.")
    return redirect("processor-page", request.project.slug)


@require_POST
@project_page(Role.EDITOR)
def processor_try(request: ProjectRequest) -> HttpResponse:
    """Decides whether the unsaved code makes of this output what evaluators need."""
    form = ProcessorForm(request.POST)
    faults = form.faults()
    sample = posted_sample(request.POST, faults)
    tried: dict[str, Any] = {}
    if sample and not faults:
        tried = _tried(form.cleaned_data["code"], sample)
    if not wants_fragment(request):
        return _page(request, request.POST, faults, status=422 if faults else 200, **tried)
    context = {
        "faults": faults,
        "slots": [(name, faults.get(name, [])) for name in ("code", "note", "sample")],
        **tried,
    }
    return render(request, "evaluators/_processor_result.html", context, status=422 if faults else 200)


def _tried(code: str, sample: Any) -> dict[str, Any]:
    """What comes of one output."""
    if not code:
        return {"is_blank": True}
    outcome = Processor(0, code).outcomes([sample])[0]
    paths = [] if outcome.fault else existing_paths({"processed": outcome.value})
    return {"outcome": outcome, "failure": sentence(outcome) if outcome.fault else "", "paths": paths}


def _page(
    request: ProjectRequest,
    typed: QueryDict | None = None,
    faults: Faults | None = None,
    *,
    status: int | None = None,
    **more: Any,
) -> HttpResponse:
    versions = ProcessorVersion.objects.filter(project=request.project)
    latest = versions.order_by("-number").first()
    blank = {"code": [latest.code if latest else BLANK_CODE], "base": [str(latest.number if latest else 0)]}
    context = {
        "latest": latest,
        "next_number": latest.number + 1 if latest else 1,
        "typed": typed if typed is not None else as_typed(blank),
        "differs": typed is not None,
        "faults": faults or {},
        "may_edit": request.role >= Role.EDITOR,
        "page": page_of(versions.select_related("author"), Order("number", descending=True), request.GET),
        **_difference(request),
        **more,
    }
    code = status or (422 if faults or "refused" in more else 200)
    return render(request, "evaluators/processor.html", context, status=code)


def _difference(request: ProjectRequest) -> dict[str, Any]:
    """The version that the address names, beside the one before it or another."""
    if not request.GET.get("version"):
        return {}
    shown = _version(request, request.GET["version"])
    before = str(shown.number - 1)
    against = _version(request, request.GET.get("against") or before) if shown.number > 1 else None
    lines = textdiff.lines(against.code if against else "", shown.code)
    return {"shown": shown, "against": against, "lines": lines}


def _version(request: ProjectRequest, number: str) -> ProcessorVersion:
    found = ProcessorVersion.objects.filter(project=request.project, number=id_in(number) or 0)
    version = found.select_related("author").first()
    if version is None:
        raise Http404
    return version
