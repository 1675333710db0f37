"""What a processor means for results: what it makes of an output, and which results an older one made."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Project, Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment
from evaluators.models import ProcessorVersion
from evaluators.processing import processor_of, sentence
from experiments.analysis import reading
from experiments.analysis.columns import columns
from experiments.ledger.asked import Asked
from experiments.ledger.start import CannotStart, start
from experiments.models import Output, Purpose, Run
from experiments.samples import sample_of
from experiments.views.opening import may_edit
from experiments.views.runs import note, runs_of

MOST = 50  # shown, and judged again at a time


def overtaken(project: Project) -> QuerySet[Run]:
    """The current results of evaluators that read `processed` from another processor than the one saved last."""
    latest = ProcessorVersion.objects.filter(project=project).order_by("-number").values_list("number", flat=True)
    read = runs_of(project).filter(is_current=True, purpose=Purpose.RESULTS, processor__isnull=False)
    return read.exclude(processor=latest.first() or 0).order_by("-pk")


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def processor_runs(request: ProjectRequest) -> HttpResponse:
    """Decides which results are judged again because the processor has changed since."""
    editor = may_edit(request)
    if request.method == "POST":
        return _again(request)
    found = list(overtaken(request.project)[: MOST + 1])
    context = {"columns": columns(found[:MOST]), "has_more": len(found) > MOST, "most": MOST, "may_edit": editor}
    return page_or_fragment(request, "experiments/processor_runs.html", context)


@require_safe
@project_page(Role.VIEWER)
def output_processed(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether evaluators see the right thing of one output: what the processor makes of it, or its error."""
    outputs = Output.objects.filter(experiment__project=request.project).select_related("case", "body", "experiment")
    output = get_object_or_404(outputs, pk=pk)
    processor = processor_of(request.project.pk)
    outcome = processor.outcomes([sample_of(output)])[0] if processor and processor.code else None
    context = {
        "output": output,
        "processor": processor,
        "outcome": outcome,
        "failure": sentence(outcome) if outcome and outcome.fault else "",
        "parts": reading.parts(outcome.value) if outcome else [],
    }
    return page_or_fragment(request, "experiments/output_processed.html", context)


def _again(request: ProjectRequest) -> HttpResponse:
    chosen = {pk for text in request.POST.getlist("run") if (pk := id_in(text)) is not None}
    started = 0
    for run in overtaken(request.project).filter(pk__in=chosen)[:MOST]:
        try:
            asked = Asked.like(run)
            note(request, "ran", start(run.version, run.experiment, request.user, baseline=run.baseline, asked=asked))
            started += 1
        except CannotStart as error:
            messages.error(request, f"{run.version.evaluator.name}: {error}")
    if started:
        messages.success(request, f"{started} result{'s' if started > 1 else ''} will be judged again.")
    elif not chosen:
        messages.error(request, "Choose the results to judge again.")
    return redirect("processor-page", request.project.slug)
