"""One case beside the grid: what was asked, answered and expected, and what every evaluator said about it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import NoReverseMatch, reverse
from django.views.decorators.http import require_safe

from evalstudio.files.attachments import attachments_in
from evalstudio.files.pictures import Picture, pictures_in
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import Page
from evaluators.models import ProcessorVersion
from experiments.analysis import reading
from experiments.analysis.columns import Column, columns, current_runs
from experiments.analysis.grid import View
from experiments.analysis.neighbours import neighbours_of, next_error
from experiments.analysis.peek import exchange, verdicts
from experiments.models import Evaluation, Experiment, Output

MOST_TAGS = 5
TABS = ("results", "metrics")


@require_safe
@project_page(Role.VIEWER)
def experiment_peek(request: ProjectRequest, pk: int, output: int) -> HttpResponse:
    """Decides what to think of one case: what was asked, answered and expected, and every verdict with its reason."""
    experiment = get_object_or_404(
        Experiment.objects.select_related("project", "dataset_version"), project=request.project, pk=pk
    )
    found = get_object_or_404(Output.objects.select_related("case", "body"), experiment=experiment, pk=output)
    runs = current_runs(experiment, by=request.GET.get("by", ""))
    ctx = peek_context(request, experiment, columns(runs), View.of(request.GET, runs), found)
    return render(request, "experiments/_peek.html", {"experiment": experiment, **ctx})


@require_safe
@project_page(Role.VIEWER)
def evaluation_exchange(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether an evaluator was asked the right thing: the message it was shown, and what came back."""
    evaluations = Evaluation.objects.select_related(
        "run__version__evaluator",
        "run__experiment__system",
        "run__experiment__project",
        "run__baseline__system",
        "output__case",
        "output__body",
        "baseline_output__body",
        "body",
    )
    evaluation = get_object_or_404(evaluations, pk=pk, run__experiment__project=request.project)
    ctx = {"evaluation": evaluation, "run": evaluation.run, "exchange": exchange(evaluation)}
    return page_or_fragment(request, "experiments/exchange.html", ctx)


def address(experiment: Experiment, baseline: Experiment | None = None) -> str:
    """The page on which results are read; the addresses of their parts begin with it."""
    return experiment.url_against(baseline.pk) if baseline else experiment.get_absolute_url()


def peeked(request: ProjectRequest, experiment: Experiment) -> Output | None:
    """The output that the address of the page opens, if any."""
    wanted = id_in(request.GET.get("peek", ""))
    outputs = Output.objects.filter(experiment=experiment).select_related("case", "body")
    return outputs.filter(pk=wanted).first() if wanted is not None else None


def peek_context(
    request: ProjectRequest,
    experiment: Experiment,
    shown: list[Column],
    view: View,
    output: Output,
    page: Page | None = None,
) -> dict[str, Any]:
    """What the panel of one output shows; `shown` are the columns, `page` the rows beside the panel."""
    body, case = output.body, output.case
    chosen = next((column for column in shown if view.run and column.run.pk == view.run.pk), None)
    tokens = [count for count in (output.tokens_in, output.tokens_out) if count is not None]
    tab = request.GET.get("tab", "")
    return {
        "output": output,
        "here": address(experiment),
        "place": neighbours_of(experiment, view, chosen.summary if chosen else None, output, page),
        "next_error": next_error([column.run for column in shown], output),
        "tab": tab if tab in TABS else TABS[0],
        "tokens": sum(tokens) if tokens else None,
        "tags": tags_of(case.metadata),
        "inputs": reading.parts(case.inputs),
        "actual": reading.parts(body.outputs),
        "actual_calls": reading.tool_calls(body.outputs),
        "expected": reading.parts(case.expected_outputs),
        "expected_calls": reading.tool_calls(case.expected_outputs),
        "steps": reading.steps(body.steps),
        "pictures": pictures_of(request.project.slug, output),
        "attachments": attachments_in(_data(output), request.project),
        "has_processor": ProcessorVersion.objects.filter(project=request.project).exists(),
        "verdicts": verdicts([output], [column.run for column in shown]),
        "grade_url": grade_url(request.project.slug, output.pk) if request.role >= Role.EDITOR else "",
        "may_keep": request.role >= Role.EDITOR,
    }


def _data(output: Output) -> dict[str, Any]:
    """All that may name a file, by the names that paths begin with."""
    case, body = output.case, output.body
    data = {"outputs": body.outputs, "steps": body.steps, "inputs": case.inputs, "metadata": case.metadata}
    return data | {"expectedOutputs": case.expected_outputs}


def grade_url(slug: str, output: int, baseline: int | None = None) -> str:
    """Where people grade an output in place, if the project has anybody do so; against a baseline's output."""
    try:
        place = reverse("grade-here", args=[slug, output])
    except NoReverseMatch:
        return ""
    return f"{place}?baseline={baseline}" if baseline else place


def pictures_of(slug: str, output: Output) -> dict[str, list[Picture]]:
    """The pictures that a case and its output name, by where they stand."""
    body, case = output.body, output.case
    places = {"input": case.inputs, "actual": body.outputs, "expected": case.expected_outputs}
    places |= {"metadata": case.metadata, "steps": body.steps}
    return {place: pictures_in(value, slug) for place, value in places.items()}


def tags_of(metadata: Any) -> list[tuple[str, Any]]:
    """The first plain values of a case's metadata."""
    known = metadata.items() if isinstance(metadata, dict) else ()
    return [(name, value) for name, value in known if isinstance(value, str | int | float)][:MOST_TAGS]
