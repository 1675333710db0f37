"""Golden cases: add, judge, read, correct and delete them."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import AuditEntry, Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment, wants_fragment
from evaluators.engine import Work, work_of
from evaluators.forms.golden import GoldenForm, NewGoldenForm
from evaluators.golden import NotKept, agrees, in_words, keep
from evaluators.golden_judging import PeopleGrade, forget_failures, judge
from evaluators.kinds import KINDS, BadConfig
from evaluators.models import Evaluator, EvaluatorVersion, GoldenCase
from evaluators.views.showing import evaluator_of
from evaluators.views.standing import standing, verdict_words


@require_safe
@project_page(Role.VIEWER)
def golden_list(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether a version can be trusted: what must come of each golden case, and what came."""
    evaluator = evaluator_of(request, pk)
    return golden_page(request, evaluator, version_asked(evaluator, request.GET))


def golden_page(
    request: ProjectRequest, evaluator: Evaluator, version: EvaluatorVersion | None, status: int = 200, **more: Any
) -> HttpResponse:
    """The golden cases and the gate, as a page or the panel of one."""
    context = standing(request, evaluator, version, request.GET) | more
    return page_or_fragment(request, "evaluators/golden.html", context, status=status)


def version_asked(evaluator: Evaluator, said: QueryDict) -> EvaluatorVersion | None:
    """The version that `version` names by its number; the latest where it names none. Raises Http404."""
    versions = evaluator.versions.select_related("author", "publication").order_by("-number")
    asked = said.get("version", "")
    version = versions.filter(number=id_in(asked) or 0).first() if asked else versions.first()
    if version is None and asked:
        raise Http404
    if version:
        version.evaluator = evaluator
    return version


@require_POST
@project_page(Role.EDITOR)
def golden_judge(request: ProjectRequest, pk: int) -> HttpResponse:
    """Judges the golden cases that a version has no verdict on, as many as fit into a request."""
    evaluator = evaluator_of(request, pk)
    version = version_asked(evaluator, request.POST)
    if version is None:
        raise Http404
    if request.POST.get("do") == "again":
        forget_failures(version)
    try:
        more: dict[str, Any] = {"round": judge(version)}
        status = 200
    except (PeopleGrade, BadConfig) as error:
        more, status = {"refused": [str(error)]}, 422
    if not wants_fragment(request) and status == 200:
        return redirect(f"{reverse('evaluator-golden', args=[request.project.slug, pk])}?version={version.number}")
    return golden_page(request, evaluator, version, status, **more)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def golden_new(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides what must come of a sample that somebody pasted, so that every later version is held to it."""
    evaluator = evaluator_of(request, pk)
    work = work_to_ask(evaluator)
    typed = request.POST if request.method == "POST" else None
    form = NewGoldenForm(typed, work=work)
    if typed is not None and form.is_valid():
        said = form.cleaned_data
        try:
            case, made = keep(
                evaluator,
                said["sample"],
                form.wanted(),
                title=said["title"],
                note=said["note"],
                author=request.user,
            )
        except NotKept as error:
            form.add_error(None, str(error))
        else:
            note_kept(request, case, made)
            return redirect("golden-case", request.project.slug, case.pk)
    context = {"evaluator": evaluator, "form": form}
    return render(request, "evaluators/golden_new.html", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def golden_case(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether a golden case asks for the right verdict: the sample, what must come, and what came."""
    case = _case_of(request, pk)
    may_edit = request.role >= Role.EDITOR
    if request.method == "POST" and not may_edit:
        return render(request, "403.html", status=403)
    try:
        work = work_to_ask(case.evaluator)
    except Http404:
        work = None
    form = _case_form(request, case, work) if work else None
    if form and form.is_bound and form.is_valid():
        said = form.cleaned_data
        GoldenCase.objects.filter(pk=case.pk).update(title=said["title"], note=said["note"], must=form.wanted())
        AuditEntry.note(request.project, request.user, "changed golden case of", f"evaluator {case.evaluator.name}")
        messages.success(request, f"“{said['title']}” is saved.")
        return redirect("golden-case", request.project.slug, case.pk)
    compares = bool(work and work.needs.compares)
    verdicts = case.verdicts.select_related("version").order_by("-version__number")[:20]
    context = {
        "case": case,
        "evaluator": case.evaluator,
        "form": form,
        "must": in_words(case.must, compares=compares),
        "sample": [(name, json.dumps(part, ensure_ascii=False, indent=2)) for name, part in case.sample.items()],
        "verdicts": [(one, verdict_words(one, compares=compares), agrees(case.must, one)) for one in verdicts],
        "may_edit": may_edit,
    }
    return render(request, "evaluators/golden_case.html", context, status=422 if form and form.is_bound else 200)


@require_POST
@project_page(Role.EDITOR)
def golden_delete(request: ProjectRequest, pk: int) -> HttpResponse:
    case = _case_of(request, pk)
    AuditEntry.note(request.project, request.user, "deleted golden case of", f"evaluator {case.evaluator.name}")
    messages.success(request, f"“{case.title}” is deleted.")
    evaluator_id = case.evaluator_id
    case.delete()
    return redirect("evaluator-golden", request.project.slug, evaluator_id)


def work_to_ask(evaluator: Evaluator) -> Work:
    """What the latest version does, and so what may be asked for. 404 where it cannot be read, or people grade."""
    version = evaluator.versions.order_by("-number").first()
    if version is None:
        raise Http404
    version.evaluator = evaluator
    try:
        work = work_of(version)
    except BadConfig:
        raise Http404 from None
    if not work.needs.is_judged_here:
        raise Http404
    return work


def note_kept(request: ProjectRequest, case: GoldenCase, made: bool) -> None:
    """Say what became of a sample that was to be kept."""
    if made:
        AuditEntry.note(request.project, request.user, "kept golden case of", f"evaluator {case.evaluator.name}")
        messages.success(request, f"“{case.title}” is a golden case now.")
    else:
        messages.info(request, f"This sample was kept already, as “{case.title}”.")


def _case_form(request: ProjectRequest, case: GoldenCase, work: Work) -> GoldenForm:
    initial = {"title": case.title, "note": case.note}
    return GoldenForm(request.POST if request.method == "POST" else None, work=work, must=case.must, initial=initial)


def _case_of(request: ProjectRequest, pk: int) -> GoldenCase:
    cases = GoldenCase.objects.select_related("evaluator", "author")
    case = get_object_or_404(cases, pk=pk, evaluator__project=request.project, evaluator__kind__in=KINDS)
    case.evaluator.project = request.project
    return case
