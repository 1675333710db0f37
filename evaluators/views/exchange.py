"""Pages that move evaluators out of a project and into one."""

from __future__ import annotations

import json

from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in, is_storable
from evalstudio.web.pages import page_or_fragment
from evaluators.arriving import Arrival, arrival, bring, free_name
from evaluators.exchange import MOST_BYTES, Incoming, NotAnExport, exported, read
from evaluators.views.showing import evaluator_of


@require_safe
@project_page(Role.VIEWER)
def evaluator_export(request: ProjectRequest, pk: int) -> HttpResponse:
    """The evaluator with its versions and golden cases as one file."""
    evaluator = evaluator_of(request, pk)
    text = json.dumps(exported(evaluator), ensure_ascii=False, indent=1)
    name = slugify(evaluator.name)[:60] or "evaluator"
    headers = {"Content-Disposition": f'attachment; filename="{name}.evaluator.json"'}
    return HttpResponse(text, content_type="application/json; charset=utf-8", headers=headers)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def evaluator_import(request: ProjectRequest) -> HttpResponse:
    """Decides whether an exported evaluator fits here: what will come, what does not fit, and under which name."""
    if request.method != "POST":
        return _page(request)
    try:
        come = _arrival(request, _read(request))
    except NotAnExport as error:
        return _page(request, 422, fault=str(error))
    if request.POST.get("do") != "import":
        return _page(request, come=come)
    if come.faults:
        return _page(request, 422, come=come)
    try:
        evaluator = bring(come, request.user)
    except IntegrityError:
        return _page(request, 422, come=_arrival(request, come.incoming))
    messages.success(request, f"{evaluator.name} is here, with {len(come.incoming.versions)} versions.")
    return redirect(evaluator)


def _page(request: ProjectRequest, status: int = 200, **more: object) -> HttpResponse:
    context = {"limit_mb": MOST_BYTES // 1_000_000, **more}
    return page_or_fragment(request, "evaluators/import.html", context, status=status)


def _read(request: ProjectRequest) -> Incoming:
    """What the uploaded file tells. Raises NotAnExport."""
    file = request.FILES.get("file")
    if file is None:
        raise NotAnExport("Choose a file that was exported from an evaluator's page.")
    return read(file.read(MOST_BYTES + 1))


def _arrival(request: ProjectRequest, incoming: Incoming) -> Arrival:
    """The file under the typed name and with the chosen connections; at first under a name that is free."""
    posted = request.POST
    typed = posted.get("name", "").strip()
    name = typed if typed and is_storable(typed) else free_name(request.project, incoming.name)
    pairs = zip(posted.getlist("connection_name"), posted.getlist("connection_to"), strict=False)
    chosen = {wanted: number for wanted, told in pairs if (number := id_in(told)) is not None}
    return arrival(incoming, request.project, name=name, chosen=chosen)
