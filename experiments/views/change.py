"""What would change between two versions of an evaluator, told on stored outputs before anything is published."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import AuditEntry, Role
from evalstudio.web.pages import page_or_fragment
from evaluators.models import Draft, Evaluator
from experiments.analysis import reading
from experiments.analysis.change import Trial, change
from experiments.analysis.columns import RunProgress
from experiments.analysis.grid import label
from experiments.analysis.peek import Verdict, judgement_of
from experiments.analysis.repeats import passing_of
from experiments.forms.trials import ASKED, TRIED, ChangeForm, Offer
from experiments.ledger.progress import progress_of
from experiments.models import Evaluation, Run
from experiments.views.noise import evaluator_of


@require_safe
@project_page(Role.VIEWER)
def evaluator_change(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether to publish a version: which verdicts on stored outputs would differ, and why."""
    evaluator = evaluator_of(request, pk)
    offer = Offer.of(evaluator)
    first = {"n": TRIED, **offer.first_versions(), **offer.first_sample()}
    chosen = {name: request.GET[name] for name in ASKED if name in request.GET}
    form = ChangeForm({**first, **chosen}, offer=offer)
    return _page(request, evaluator, form)


@require_POST
@project_page(Role.EDITOR)
def change_start(request: ProjectRequest, pk: int) -> HttpResponse:
    evaluator = evaluator_of(request, pk)
    form = ChangeForm(request.POST, offer=Offer.of(evaluator))
    if not (form.is_valid() and form.start(request.user)):
        return _page(request, evaluator, form, status=422)
    trial = form.trial()
    AuditEntry.note(request.project, request.user, "tried", f"{evaluator.name} {trial.before} and {trial.after}")
    return HttpResponseRedirect(f"{address_of(evaluator)}?{urlencode(query_of(trial))}")


def query_of(trial: Trial) -> dict[str, int]:
    """The address of a trial's page."""
    query = {"from": trial.before.number, "to": trial.after.number, "experiment": trial.experiment.pk, "n": trial.n}
    return query | ({"against": trial.baseline.pk} if trial.baseline else {})


def address_of(evaluator: Evaluator) -> str:
    return reverse("evaluator-change", args=[evaluator.project.slug, evaluator.pk])


def _page(request: ProjectRequest, evaluator: Evaluator, form: ChangeForm, status: int = 200) -> HttpResponse:
    trial = form.trial() if form.is_valid() else None
    runs = trial.runs() if trial else None
    ctx = {
        "evaluator": evaluator,
        "form": form,
        "trial": trial,
        "draft": Draft.objects.of(request.user, evaluator, "").first(),
        "may_run": request.role >= Role.EDITOR,
        **(_results(runs) if runs else {}),
    }
    return page_or_fragment(request, "experiments/evaluator_change.html", ctx, status=status)


def _results(runs: tuple[Run, Run]) -> dict[str, Any]:
    """How far the two runs are and, once nothing moves any more, what came of them."""
    now = progress_of(runs)
    is_going = any(not now[run.pk].is_over for run in runs)
    return {
        "runs": [(run, RunProgress(now[run.pk])) for run in runs],
        "is_going": is_going,
        "change": None if is_going else change(*runs),
    }


@require_safe
@project_page(Role.VIEWER)
def evaluations_beside(request: ProjectRequest, pk: int, other: int) -> HttpResponse:
    """Decides which of two verdicts on one output is right: both reasons side by side, with what was judged."""
    found = Evaluation.objects.filter(run__experiment__project=request.project).annotate(label=label())
    rows = found.select_related(
        "run__version__evaluator", "run__experiment__system", "run__baseline__system", "run__connection",
        "output__case", "output__body", "baseline_output__body", "body",
    )  # fmt: skip
    before, after = (get_object_or_404(rows, pk=each) for each in (pk, other))
    if _judged(before) != _judged(after):
        raise Http404
    case, baseline = before.output.case, before.baseline_output
    ctx = {
        "case": case,
        "run": before.run,
        "verdicts": [_verdict(row) for row in (before, after)],
        "inputs": reading.parts(case.inputs),
        "outputs": reading.parts(before.output.body.outputs),
        "expected": reading.parts(case.expected_outputs),
        "baseline": reading.parts(baseline.body.outputs) if baseline else None,
    }
    return page_or_fragment(request, "experiments/evaluations_beside.html", ctx)


def _judged(row: Evaluation) -> tuple[int, int | None, int | None]:
    """Who judged what: two verdicts belong together where this is the same."""
    return row.run.version.evaluator_id, row.output_id, row.baseline_output_id


def _verdict(row: Evaluation) -> Verdict:
    judgement = judgement_of(row)
    return Verdict(row.run, passing_of(row.run.version), judgement.cell, [judgement], None, None)
