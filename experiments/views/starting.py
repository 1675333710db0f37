"""Starting a run: with one click where the plain one is meant, or with options."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import url_has_allowed_host_and_scheme as is_ours
from django.views.decorators.http import require_http_methods

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment
from evaluators.models import EvaluatorVersion
from experiments.forms.starting import OptionsForm, splits_of
from experiments.ledger.asked import Asked, selected
from experiments.ledger.start import CannotStart, start
from experiments.models import Experiment, Run, RunDefaults
from experiments.views.pairs import pair_of
from experiments.views.peeks import address
from experiments.views.results import experiment_of
from experiments.views.runs import note


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def run_start(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides how a version judges a result: which outputs, how often, what is kept, and how far it may go.

    A form that names a version alone starts the plain run. `like` names a run, to judge what it lacks.
    """
    asked_for = request.POST if request.method == "POST" else request.GET
    experiment, baseline = _judged(request, pk, asked_for)
    versions = EvaluatorVersion.objects.filter(evaluator__project=request.project).select_related("evaluator")
    version = get_object_or_404(versions, pk=id_in(asked_for.get("version", "")))
    runs = Run.objects.filter(version=version, experiment=experiment, baseline=baseline)
    offered: dict[str, Any] = {"splits": splits_of(experiment), "defaults": RunDefaults.of(request.project)}
    if request.method != "POST":
        current = runs.filter(is_current=True).first()
        form = OptionsForm.like(current, **offered) if current else OptionsForm(**offered)
        return _page(request, experiment, baseline, version, form, current)
    if "like" in request.POST:
        like = get_object_or_404(runs, pk=id_in(request.POST["like"]))
        return _started(request, version, experiment, baseline, Asked.like(like)) or redirect(like)
    form = OptionsForm(request.POST, **offered)
    if form.is_valid() and (done := _started(request, version, experiment, baseline, form.asked(), form)):
        return done
    return _page(request, experiment, baseline, version, form, runs.filter(is_current=True).first(), status=422)


def _judged(request: ProjectRequest, pk: int, asked_for: Any) -> tuple[Experiment, Experiment | None]:
    if "baseline" in asked_for:
        return pair_of(request, pk, id_in(asked_for["baseline"]) or 0)
    return experiment_of(request, pk), None


def _started(
    request: ProjectRequest,
    version: EvaluatorVersion,
    experiment: Experiment,
    baseline: Experiment | None,
    asked: Asked,
    form: OptionsForm | None = None,
) -> HttpResponse | None:
    """Back to the results once it runs; None where it cannot, which the form says, or else a message."""
    try:
        run = start(version, experiment, request.user, baseline=baseline, asked=asked)
    except CannotStart as error:
        form.add_error(None, str(error)) if form else messages.error(request, str(error))
        return None
    note(request, "ran", run)
    said = {"people": "awaits people", "outside": "awaits its scores"}.get(run.lane, "is running")
    messages.success(request, f"{version.evaluator.name} {version} {said}.")
    back = request.POST.get("next", "")
    return redirect(back if is_ours(back, {request.get_host()}) else address(experiment, baseline))


def _page(
    request: ProjectRequest,
    experiment: Experiment,
    baseline: Experiment | None,
    version: EvaluatorVersion,
    form: OptionsForm,
    current: Run | None,
    status: int = 200,
) -> HttpResponse:
    ctx = {
        "experiment": experiment,
        "baseline": baseline,
        "version": version,
        "form": form,
        "current": current,
        "back": address(experiment, baseline),
        "chosen_before": selected(current) if current else "",
    }
    return page_or_fragment(request, "experiments/run_new.html", ctx, status=status)
