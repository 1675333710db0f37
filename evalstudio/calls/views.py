"""Pages of connections. Every member sees which there are; owners add, change, test and archive them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evalstudio.calls.checking import check
from evalstudio.calls.forms import ConnectionForm, RehearsalForm, sign_found
from evalstudio.calls.models import Connection, ModelTraits, connections_for
from evalstudio.calls.sharing import limit_of
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import wants_fragment


@dataclass(frozen=True, slots=True)
class Row:
    """A connection in the list; `bears` is how many calls at once workers keep open now, when less than allowed."""

    connection: Connection
    traits: list[ModelTraits]

    @property
    def bears(self) -> int | None:
        limit = limit_of(self.connection)
        return limit if limit < self.connection.max_in_flight else None


@require_safe
@project_page(Role.VIEWER)
def connection_list(request: ProjectRequest) -> HttpResponse:
    """Decides which models this project can call, and which of its connections needs attention."""
    connections = list(connections_for(request.project).prefetch_related("modeltraits_set"))
    archived = Connection.objects.filter(project=request.project, archived_at__isnull=False).order_by("name", "pk")
    context = {
        "rows": [Row(connection, list(connection.modeltraits_set.all())) for connection in connections],
        "archived": list(archived),
        "has_rehearsal": any(connection.is_rehearsal for connection in connections),
        "may_change": request.role >= Role.OWNER,
    }
    return render(request, "calls/connections.html", context)


@require_http_methods(["GET", "POST"])
@project_page(Role.OWNER)
def connection_new(request: ProjectRequest) -> HttpResponse:
    """Decides where a new connection calls, as whom, and how much at once."""
    form = ConnectionForm(request.POST or None, project=request.project)
    if request.method == "POST" and form.is_valid():
        return _saved(request, form)
    return _form_page(request, form)


@require_http_methods(["GET", "POST"])
@project_page(Role.OWNER)
def connection_edit(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides what changes about a connection; runs under way take it up with their next turn."""
    form = _form_of(request, _connection(request, pk))
    if request.method == "POST" and form.is_valid():
        return _saved(request, form)
    return _form_page(request, form)


@require_POST
@project_page(Role.OWNER)
def connection_test(request: ProjectRequest, pk: int | None = None) -> HttpResponse:
    """Decides whether the values in the form work, saved or not; what a model refuses is remembered."""
    connection = None if pk is None else _connection(request, pk)
    form = ConnectionForm(request.POST, project=request.project, instance=connection)
    if not form.is_valid():
        return _test_page(request, form, status=422)
    checkup = check(form.instance)
    found = ""
    if checkup.works and form.is_where_it_was:
        ModelTraits.remember(form.instance.pk, checkup.model, dict(checkup.found))
    elif checkup.works:
        found = sign_found(form.instance, dict(checkup.found))
    return _test_page(request, form, checkup=checkup, found=found)


@require_POST
@project_page(Role.OWNER)
def connection_rehearsal(request: ProjectRequest) -> HttpResponse:
    connection = Connection.add_rehearsal(request.project, request.user)
    messages.success(request, f"{connection.name} is ready. It answers by rules, without a key or a network.")
    return redirect("connection-list", request.project.slug)


@require_POST
@project_page(Role.OWNER)
def connection_archive(request: ProjectRequest, pk: int) -> HttpResponse:
    connection = _connection(request, pk)
    connection.archive(request.user)
    messages.success(request, f"{connection.name} is archived. What uses it keeps working; nothing new can choose it.")
    return redirect("connection-list", request.project.slug)


@require_POST
@project_page(Role.OWNER)
def connection_restore(request: ProjectRequest, pk: int) -> HttpResponse:
    connection = _connection(request, pk)
    connection.restore(request.user)
    messages.success(request, f"{connection.name} can be chosen again.")
    return redirect("connection-list", request.project.slug)


def _connection(request: ProjectRequest, pk: int) -> Connection:
    return get_object_or_404(Connection, project=request.project, pk=pk)


def _form_of(request: ProjectRequest, connection: Connection) -> ConnectionForm | RehearsalForm:
    form = RehearsalForm if connection.is_rehearsal else ConnectionForm
    return form(request.POST or None, project=request.project, instance=connection)


def _saved(request: ProjectRequest, form: ConnectionForm | RehearsalForm) -> HttpResponse:
    connection = form.save_for(request.user)
    messages.success(request, f"{connection.name} is saved.")
    return redirect("connection-list", request.project.slug)


def _form_page(request: ProjectRequest, form: ConnectionForm | RehearsalForm, **more: Any) -> HttpResponse:
    status = 422 if form.is_bound and not form.is_valid() else 200
    return render(request, "calls/connection.html", {"form": form, "stored": _stored(form), **more}, status=status)


def _stored(form: ConnectionForm | RehearsalForm) -> Connection | None:
    """The connection as it is saved, which the form's own instance no longer says."""
    return Connection.objects.filter(pk=form.instance.pk).prefetch_related("modeltraits_set").first()


def _test_page(request: ProjectRequest, form: ConnectionForm, *, status: int = 200, **more: Any) -> HttpResponse:
    """The outcome alone for htmx; without JavaScript the whole form with what was typed, but for the key."""
    if wants_fragment(request):
        return render(request, "calls/_tested.html", {"form": form, "stored": _stored(form), **more}, status=status)
    return _form_page(request, form, **more)
