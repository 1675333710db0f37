"""Settings of a project for new runs."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import AuditEntry, Role
from experiments.forms.defaults import RunDefaultsForm
from experiments.views.opening import may_edit


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def run_defaults(request: ProjectRequest) -> HttpResponse:
    """Decides how far a run may go, and who judges a new result, where nobody says otherwise."""
    editor = may_edit(request)
    form = RunDefaultsForm(request.POST if request.method == "POST" else None, project=request.project)
    if form.is_bound and form.is_valid():
        form.save()
        AuditEntry.note(request.project, request.user, "set", "the defaults of new runs")
        messages.success(request, "Saved. Runs that are started from now on begin with this.")
        return redirect("run-defaults", request.project.slug)
    context = {"form": form, "may_edit": editor}
    return render(request, "experiments/run_defaults.html", context, status=422 if form.is_bound else 200)
