"""One case beside the grid: what was asked, answered and expected, and what every evaluator said about it."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from evalstudio.files.pictures import Picture, pictures_in
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import Page
from experiments.analysis import reading
from experiments.analysis.columns import Column, columns, current_runs
from experiments.analysis.grid import View
from experiments.analysis.neighbours import neighbours_of, next_error
from experiments.analysis.pairing import names_of, outputs_of, partner_of
from experiments.analysis.peek import exchange, verdicts
from experiments.models import Evaluation, Experiment, Output

MOST_TAGS = 5
ROLES = ("baseline", "compared")
TABS = ("results", "metrics")


@require_safe
@project_page(Role.VIEWER)
def experiment_peek(request: ProjectRequest, pk: int, output: int) -> HttpResponse:
    """Decides what to think of one case: what was asked, answered and expected, and every verdict with its reason."""
    experiment = get_object_or_404(
        Experiment.objects.select_related("project", "dataset_version"), project=request.project, pk=pk
    )
    return peek(request, experiment, output)


def peek(
    request: ProjectRequest, experiment: Experiment, output: int, baseline: Experiment | None = None
) -> HttpResponse:
    """The panel of one output, of its experiment alone or against a baseline."""
    found = get_object_or_404(_outputs(experiment, baseline), pk=output)
    runs = current_runs(experiment, baseline, request.GET.get("by", ""))
    ctx = peek_context(request, experiment, columns(runs), View.of(request.GET, runs, baseline), found)
    return render(request, "experiments/_peek.html", {"experiment": experiment, "baseline": baseline, **ctx})


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


def peeked(request: ProjectRequest, experiment: Experiment, baseline: Experiment | None = None) -> Output | None:
    """The output that the address of the page opens, if any."""
    wanted = id_in(request.GET.get("peek", ""))
    return _outputs(experiment, baseline).filter(pk=wanted).first() if wanted is not None else None


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
        "here": address(experiment, view.baseline),
        "place": neighbours_of(experiment, view, chosen.summary if chosen else None, output, page),
        "next_error": next_error([column.run for column in shown], output),
        "tab": tab if tab in TABS else TABS[0],
        "tokens": sum(tokens) if tokens else None,
        "tags": _tags(case.metadata),
        "inputs": reading.parts(case.inputs),
        "actual": reading.parts(body.outputs),
        "actual_calls": reading.tool_calls(body.outputs),
        "expected": reading.parts(case.expected_outputs),
        "expected_calls": reading.tool_calls(case.expected_outputs),
        "steps": reading.steps(body.steps),
        "pictures": _pictures(request.project.slug, output),
        "verdicts": verdicts(output, shown),
        "may_keep": request.role >= Role.EDITOR,
        **(_two_sides(experiment, view.baseline, output) if view.baseline else {}),
    }


def _pictures(slug: str, output: Output) -> dict[str, list[Picture]]:
    """The pictures that a case and its output name, by where they stand."""
    body, case = output.body, output.case
    places = {"input": case.inputs, "actual": body.outputs, "expected": case.expected_outputs}
    places |= {"metadata": case.metadata, "steps": body.steps}
    return {place: pictures_in(value, slug) for place, value in places.items()}


def _two_sides(experiment: Experiment, baseline: Experiment, output: Output) -> dict[str, Any]:
    """What both results answered to the case, the baseline first, with their differences marked."""
    sides, slug = (partner_of(output, baseline), output), experiment.project.slug
    texts = reading.marked_parts(*(each.body.outputs for each in sides))
    names = names_of(experiment, baseline)
    return {
        "names": names,
        "is_marked": any(part.pieces for text in texts for part in text),
        "sides": [
            {
                "role": role,
                "name": name,
                "output": each,
                "parts": parts,
                "calls": reading.tool_calls(each.body.outputs),
                "pictures": pictures_in(each.body.outputs, slug),
            }
            for role, name, each, parts in zip(ROLES, reversed(names), sides, texts, strict=True)
        ],
    }


def _outputs(experiment: Experiment, baseline: Experiment | None) -> QuerySet[Output]:
    return outputs_of(experiment, baseline).select_related("case", "body")


def _tags(metadata: Any) -> list[tuple[str, Any]]:
    """The first plain values of a case's metadata."""
    known = metadata.items() if isinstance(metadata, dict) else ()
    return [(name, value) for name, value in known if isinstance(value, str | int | float)][:MOST_TAGS]
