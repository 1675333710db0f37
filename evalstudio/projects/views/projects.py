"""Pages of projects: the list, a new one, home, tokens."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evalstudio.projects.access import ProjectRequest, SignedInRequest, project_page
from evalstudio.projects.forms import ProjectForm, TokenForm
from evalstudio.projects.models import ApiToken, AuditEntry, Project, Role


@require_http_methods(["GET", "POST"])
@login_required
def project_list(request: SignedInRequest) -> HttpResponse:
    """Decides which project to work in, or starts a new one."""
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return redirect(Project.start(form.cleaned_data["name"], request.user))
    ctx = {"form": form, "projects": Project.objects.of(request.user)}
    return render(request, "projects/project_list.html", ctx, status=422 if form.is_bound else 200)


@require_safe
@project_page(Role.VIEWER, reviewers=True)
def project_home(request: ProjectRequest) -> HttpResponse:
    """Decides what to look at next: what changed and what is running; the parts of higher floors come as panels.

    Reviewers go to what there is to grade.
    """
    request.session["project"] = request.project.slug
    if not request.role.looks_around:
        return redirect("queue-list", request.project.slug)
    entries = AuditEntry.objects.filter(project=request.project).select_related("actor").order_by("-id")[:8]
    return render(request, "projects/home.html", {"entries": entries})


def _tokens_page(request: ProjectRequest, form: TokenForm, **more: Any) -> HttpResponse:
    tokens = ApiToken.objects.filter(project=request.project, revoked_at=None).select_related("user").order_by("-id")
    status = 422 if form.is_bound and not form.is_valid() else 200
    return render(request, "projects/token_list.html", {"form": form, "tokens": tokens, **more}, status=status)


@require_http_methods(["GET", "POST"])
@project_page(Role.EDITOR)
def token_list(request: ProjectRequest) -> HttpResponse:
    """Decides which pipelines may speak to this project. A new token is shown on this page once."""
    form = TokenForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        token, secret = ApiToken.issue(request.project, request.user, said["name"], said["scope"])
        AuditEntry.note(request.project, request.user, "issued token", token.name)
        return _tokens_page(request, TokenForm(), issued=token, secret=secret)
    return _tokens_page(request, form)


@require_POST
@project_page(Role.EDITOR)
def token_revoke(request: ProjectRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, pk=pk, project=request.project, revoked_at=None)
    token.revoked_at = timezone.now()
    token.save(update_fields=["revoked_at"])
    AuditEntry.note(request.project, request.user, "revoked token", token.name)
    messages.success(request, f"{token.name} no longer works.")
    return redirect("token-list", request.project.slug)
