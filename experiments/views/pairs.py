"""Pages of two results: which to compare with, and what comparative evaluators said about the two."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import Order, page_of
from experiments.analysis.pairing import comparable, in_common
from experiments.models import Experiment, Run
from experiments.views.grids import figures, results_grid
from experiments.views.peeks import peek
from experiments.views.results import experiment_of

CHOICES = 15  # on a page, each with the count of cases in common


@require_safe
@project_page(Role.VIEWER)
def comparison_choice(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides which result to compare this one with: the others of its data set, and how many cases both have."""
    experiment = experiment_of(request, pk)
    words = request.GET.get("q", "").strip()
    found = comparable(experiment)
    found = found.filter(system__name__icontains=words) if words else found
    found = found.select_related("system", "dataset_version__dataset", "author", "project")
    page = page_of(found, Order("pk", descending=True), request.GET, size=CHOICES)
    common, done = in_common(experiment, page.rows), _compared(experiment, page.rows)
    ctx = {
        "experiment": experiment,
        "page": page,
        "words": words,
        "rows": [
            (each, experiment.url_against(each.pk), common.get(each.pk, 0), done.get(each.pk, [])) for each in page.rows
        ],
    }
    return page_or_fragment(request, "experiments/comparison_choice.html", ctx)


def _compared(experiment: Experiment, others: list[Experiment]) -> dict[int, list[str]]:
    """The comparative evaluators that have run against each of the others, by name."""
    runs = experiment.runs.filter(is_current=True, baseline__in=others)
    found: dict[int, list[str]] = {}
    for baseline, name in runs.order_by("version__evaluator__name").values_list("baseline", "version__evaluator__name"):
        names = found.setdefault(baseline, [])
        if name not in names:
            names.append(name)
    return found


def pair_of(request: ProjectRequest, pk: int, baseline: int) -> tuple[Experiment, Experiment]:
    """An experiment and another one of its data set, or 404."""
    experiment = experiment_of(request, pk)
    others = comparable(experiment).select_related("system", "dataset_version__dataset", "project")
    return experiment, get_object_or_404(others, pk=baseline)


@require_safe
@project_page(Role.VIEWER)
def experiment_against(request: ProjectRequest, pk: int, baseline: int) -> HttpResponse:
    """Decides which of two results is better, as far as comparative evaluators can tell, and which cases to read.

    htmx, when it asks for a fragment, gets the grid alone.
    """
    experiment, other = pair_of(request, pk, baseline)
    ctx = results_grid(request, experiment, other)
    ctx["swapped_url"] = other.url_against(experiment.pk)
    ctx["mirrored_runs"] = Run.objects.filter(experiment=other, baseline=experiment, is_current=True).count()
    return page_or_fragment(request, "experiments/experiment_against.html", ctx, fragment="experiments/_results.html")


@require_safe
@project_page(Role.VIEWER)
def against_columns(request: ProjectRequest, pk: int, baseline: int) -> HttpResponse:
    """The figures and the progress of a comparison, polled while something runs."""
    ctx = figures(request, *pair_of(request, pk, baseline))
    return render(request, "experiments/_against_columns.html", {**ctx, "was_polled": True})


@require_safe
@project_page(Role.VIEWER)
def against_peek(request: ProjectRequest, pk: int, baseline: int, output: int) -> HttpResponse:
    """Decides which of two answers to one case is better: both side by side, and what was said about them."""
    experiment, other = pair_of(request, pk, baseline)
    return peek(request, experiment, output, other)
