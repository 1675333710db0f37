"""The noise floor of an evaluator: a panel on its page, and what starts a measurement."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import AuditEntry, Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment, wants_fragment
from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.models import Evaluator, EvaluatorVersion
from experiments.analysis.columns import RunProgress
from experiments.analysis.noise import cost_of_one, flips, measurements, measuring
from experiments.forms.trials import NoiseForm, Offer
from experiments.ledger.progress import progress


@require_safe
@project_page(Role.VIEWER)
def evaluator_noise(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides which differences of an evaluator's figures to believe: how far they move when nothing has changed."""
    evaluator = evaluator_of(request, pk)
    version = version_of(evaluator, request.GET.get("version", ""))
    return _panel(request, evaluator, version, _blank_form(request, evaluator, version))


@require_POST
@project_page(Role.EDITOR)
def noise_start(request: ProjectRequest, pk: int) -> HttpResponse:
    evaluator = evaluator_of(request, pk)
    version = version_of(evaluator, request.POST.get("version", ""))
    form = NoiseForm(request.POST, offer=Offer.of(evaluator))
    run = form.start(request.user) if form.is_valid() else None
    if run is None:
        return _panel(request, evaluator, version, form, status=422)
    AuditEntry.note(request.project, request.user, "measured", f"the noise of {evaluator.name} {run.version}")
    if wants_fragment(request):
        return _panel(request, evaluator, run.version, _blank_form(request, evaluator, run.version))
    messages.success(request, f"{evaluator.name} {run.version} is being measured.")
    return HttpResponseRedirect(f"{address_of(evaluator)}?version={run.version.number}")


def evaluator_of(request: ProjectRequest, pk: int) -> Evaluator:
    """An evaluator of the request's project, or 404."""
    evaluators = Evaluator.objects.select_related("project", "published_version__evaluator")
    return get_object_or_404(evaluators, project=request.project, pk=pk)


def version_of(evaluator: Evaluator, number: str) -> EvaluatorVersion | None:
    """The version of that number, else the published one, else the latest; None before the first."""
    versions = evaluator.versions.select_related("evaluator")
    asked = versions.filter(number=id_in(number) or 0).first() if number else None
    return asked or evaluator.published_version or versions.order_by("-number").first()


def address_of(evaluator: Evaluator) -> str:
    return reverse("evaluator-noise", args=[evaluator.project.slug, evaluator.pk])


def _blank_form(request: ProjectRequest, evaluator: Evaluator, version: EvaluatorVersion | None) -> NoiseForm:
    """The form with what the address says is being typed, so that the estimate of calls can follow it."""
    offer = Offer.of(evaluator)
    typed = {name: request.GET[name] for name in ("experiment", "against", "outputs", "repeats") if name in request.GET}
    return NoiseForm(offer=offer, initial={"version": version and version.number, **offer.first_sample(), **typed})


def _panel(
    request: ProjectRequest, evaluator: Evaluator, version: EvaluatorVersion | None, form: NoiseForm, status: int = 200
) -> HttpResponse:
    going = measuring(version) if version else None
    history = measurements(evaluator)
    ctx = {
        "evaluator": evaluator,
        "version": version,
        "form": form,
        "history": history,
        "latest": next((each for each in history if each.run.version_id == getattr(version, "pk", None)), None),
        "going": going,
        "progress": RunProgress(progress(going)) if going else None,
        "flips": flips(version) if version else [],
        "may_measure": request.role >= Role.EDITOR,
        **_effort(version, form),
    }
    return page_or_fragment(request, "experiments/evaluator_noise.html", ctx, status=status)


def _effort(version: EvaluatorVersion | None, form: NoiseForm) -> dict[str, Any]:
    """What the version needs, and what a measurement as it is typed would take."""
    try:
        needs = work_of(version).needs if version else None
    except BadConfig:
        needs = None
    if needs is None:
        return {"needs": None}
    sizes = [id_in(str(form[name].value() or "")) for name in ("outputs", "repeats")]
    ranges = [(form.fields[name].min_value, form.fields[name].max_value) for name in ("outputs", "repeats")]  # type: ignore[attr-defined]
    if not all(size and least <= size <= most for size, (least, most) in zip(sizes, ranges, strict=True)):
        return {"needs": needs}
    judgements = (sizes[0] or 0) * (sizes[1] or 0)
    each = cost_of_one(version) if needs.lane == "net" and version else None
    return {
        "needs": needs,
        "judgements": judgements,
        "calls": judgements * needs.calls if needs.lane == "net" else 0,
        "cost_usd": each and each * judgements,
        "cost_of_one_usd": each,
    }
