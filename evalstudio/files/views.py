"""Pages of files: the list with its upload, the files themselves, and pictures from elsewhere."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.files import File
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from evalstudio.files.keeping import NotTaken, keep
from evalstudio.files.models import StoredFile
from evalstudio.files.pictures import signed_url
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import Order, page_of

FOR_EVER = "private, max-age=31536000, immutable"  # an address holds its content's digest
FOR_A_WHILE = "private, max-age=3600"
PLAIN = "text/plain; charset=utf-8"
NO_RIGHTS = "default-src 'none'; sandbox"  # should a browser ever take one for a page


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def file_list(request: ProjectRequest) -> HttpResponse:
    """Decides which address stands for a file in a case or an output: upload it here, copy what it is called."""
    may_edit = request.role >= Role.EDITOR
    if request.method == "POST":
        if not may_edit:
            return render(request, "403.html", status=403)
        faults = _upload(request)
        if not faults:
            return redirect("file-list", request.project.slug)
        return _page(request, may_edit, faults, status=422)
    return _page(request, may_edit, [])


def _upload(request: ProjectRequest) -> list[str]:
    """Keep what was sent; a sentence for each file that was not."""
    sent = request.FILES.getlist("files")
    if not sent:
        return ["Choose a file first; one that is too large counts as none."]
    faults = []
    for file in sent:
        try:
            stored = keep(request.project, request.user, File(file.file, name=file.name))
            messages.success(request, f"{stored.name} is kept.")
        except NotTaken as error:
            faults.append(f"{file.name}: {error}")
    return faults


def _page(request: ProjectRequest, may_edit: bool, faults: list[str], status: int = 200) -> HttpResponse:
    rows = StoredFile.objects.filter(project=request.project).select_related("author", "project")
    page = page_of(rows, Order("pk", descending=True), request.GET)
    ctx: dict[str, Any] = {
        "page": page,
        "rows": [(row, request.build_absolute_uri(row.get_absolute_url())) for row in page.rows],
        "faults": faults,
        "may_edit": may_edit,
        "limit_mb": settings.FILE_MAX_BYTES // 1024**2,
    }
    return page_or_fragment(request, "files/list.html", ctx, status=status)


@require_safe
@project_page(Role.VIEWER, reviewers=True)
def file_content(request: ProjectRequest, digest: str, name: str = "") -> HttpResponseBase:
    """The file itself, under any name: a picture to look at, anything else to save. `?as=text` shows text as text."""
    stored = get_object_or_404(StoredFile, project=request.project, digest=digest)
    try:
        content = stored.content.open()
    except OSError:
        raise Http404 from None
    as_text = stored.is_text and request.GET.get("as") == "text"
    response = FileResponse(
        content,
        content_type=PLAIN if as_text else stored.content_type,
        filename=stored.name,
        as_attachment=not (stored.is_picture or as_text),
    )
    return _guarded(response, FOR_EVER)


@require_safe
@project_page(Role.VIEWER, reviewers=True)
def file_outside(request: ProjectRequest) -> HttpResponseBase:
    """A picture from another host, for a page of ours that names it; the visitor's browser never goes there."""
    from evalstudio.files.outside import NotFetched, fetch  # brings an HTTP library that no other page needs

    url = signed_url(request.GET.get("url", ""))
    if url is None:
        raise Http404
    try:
        content, content_type = fetch(url)
    except NotFetched as error:
        return HttpResponse(str(error), status=502, content_type=PLAIN)
    return _guarded(HttpResponse(content, content_type=content_type), FOR_A_WHILE)


def _guarded(response: HttpResponseBase, keep_for: str) -> HttpResponseBase:
    response["Cache-Control"] = keep_for
    response["Content-Security-Policy"] = NO_RIGHTS
    response["X-Content-Type-Options"] = "nosniff"
    return response
