"""Keeping a result as a golden case: its sample is copied down to the evaluator, with the verdict that must come."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import AuditEntry, Role
from evalstudio.web.pages import page_or_fragment, wants_fragment
from evaluators.engine import Work, work_of
from evaluators.forms.golden import MustForm
from evaluators.golden import Must, NotKept, checked_must, digest_of, given, in_words, keep, stored_sample
from evaluators.kinds import BadConfig
from evaluators.models import GoldenCase
from experiments.analysis.grid import label
from experiments.models import Evaluation
from experiments.samples import sample_of


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def golden_keep(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether this verdict must come again: as it was given, or as it should have been."""
    evaluation = _evaluation(request, pk)
    work, evaluator = _work(evaluation), evaluation.run.version.evaluator
    context: dict[str, Any] = {"evaluation": evaluation, "evaluator": evaluator}
    try:
        sample = stored_sample(sample_of(evaluation.output, evaluation.baseline_output))
    except NotKept as error:
        return _page(request, context | {"refused": str(error)}, 422)
    known = GoldenCase.objects.filter(evaluator=evaluator, digest=digest_of(sample)).first()
    proposed = _proposed(evaluation, work)
    asks = request.method == "POST" and ("must" in request.POST or proposed is None)
    form = _form(evaluation, work, known.must if known else proposed, request.POST if asks else None)
    if request.method != "POST" or (asks and not form.is_valid()):
        return _page(request, context | {"form": form, "case": known}, 422 if asks else 200)
    must = proposed if proposed and not asks else form.wanted()
    try:
        case, made = keep(evaluator, sample, must, title=evaluation.output.case.key, author=request.user)
    except NotKept as error:
        return _page(request, context | {"refused": str(error)}, 422)
    if made:
        AuditEntry.note(request.project, request.user, "kept golden case of", f"evaluator {evaluator.name}")
    words = in_words(case.must, compares=work.needs.compares)
    if wants_fragment(request):
        return _page(request, context | {"case": case, "must": words, "form": _form(evaluation, work, case.must)})
    messages.success(request, f"“{case.title}” must be {words}.")
    return redirect("golden-case", request.project.slug, case.pk)


def _page(request: ProjectRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    return page_or_fragment(request, "experiments/golden_keep.html", context, status=status)


def _form(evaluation: Evaluation, work: Work, must: Must | None, typed: Any = None) -> MustForm:
    """What must come; the panel of a case may hold several of these forms, so their ids are their own."""
    return MustForm(typed, work=work, must=must, auto_id=f"golden-{evaluation.pk}-%s")


def _evaluation(request: ProjectRequest, pk: int) -> Evaluation:
    evaluations = Evaluation.objects.select_related(
        "run__version__evaluator__project",
        "output__case",
        "output__body",
        "baseline_output__body",
    ).annotate(label=label())
    return get_object_or_404(evaluations, pk=pk, run__experiment__project=request.project)


def _work(evaluation: Evaluation) -> Work:
    """What the version that judged it does. 404 where it cannot be read any more, or people grade."""
    try:
        work = work_of(evaluation.run.version)
    except BadConfig:
        raise Http404 from None
    if not work.needs.is_judged_here:
        raise Http404
    return work


def _proposed(evaluation: Evaluation, work: Work) -> Must | None:
    """The verdict that was given, where it can be asked for; None where there was none."""
    must = given(evaluation.label, evaluation.passed, evaluation.score)  # type: ignore[attr-defined]  # annotated
    try:
        return checked_must(must, work) if must else None
    except NotKept:  # its label is no option; whether it passed, or its number, says it too
        return given(None, evaluation.passed, evaluation.score)
