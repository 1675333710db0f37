"""Publishing: let a version stand for its evaluator, and what a project asks of it before."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import AuditEntry, Role
from evalstudio.web.pages import wants_fragment
from evaluators.forms.publishing import PublishingRuleForm
from evaluators.publishing import GateClosed, publish, rule_of
from evaluators.views.golden import golden_page, version_asked
from evaluators.views.showing import evaluator_of, page_of_evaluator


@require_POST
@project_page(Role.EDITOR)
def evaluator_publish(request: ProjectRequest, pk: int) -> HttpResponse:
    """Publishes a version, or says what is missing."""
    evaluator = evaluator_of(request, pk)
    version = version_asked(evaluator, request.POST)
    if version is None:
        raise Http404
    try:
        publish(version, request.user)
    except GateClosed as closed:
        if wants_fragment(request):
            return golden_page(request, evaluator, version, status=422, refused=closed.reasons)
        return page_of_evaluator(request, evaluator, status=422, refused=closed.reasons)
    messages.success(request, f"{version} of {evaluator.name} is published. New runs use it.")
    return redirect(evaluator)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def publishing_rule(request: ProjectRequest) -> HttpResponse:
    """Decides what golden cases must show before a version of any evaluator is published."""
    may_edit = request.role >= Role.OWNER
    if request.method == "POST" and not may_edit:
        return render(request, "403.html", status=403)
    rule = rule_of(request.project.pk)
    form = PublishingRuleForm(request.POST if request.method == "POST" else None, rule=rule)
    if form.is_bound and form.is_valid():
        saved = form.save(request.project)
        AuditEntry.note(request.project, request.user, "set" if saved else "lifted", "the publishing rule")
        messages.success(request, "The rule is saved." if saved else "Nothing is asked any more: saving publishes.")
        return redirect("publishing-rule", request.project.slug)
    context = {"form": form, "rule": rule, "may_edit": may_edit}
    return render(request, "evaluators/publishing_rule.html", context, status=422 if form.is_bound else 200)
