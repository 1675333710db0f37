"""Pages of results: the list of experiments, and the grid of one with its figures."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import Order, page_of
from experiments.analysis.columns import Column, columns
from experiments.models import Experiment, Output, Run
from experiments.views.grids import figures, results_grid

EXPERIMENTS = 15  # on a page of the list, each with a figure for every evaluator


def experiment_of(request: ProjectRequest, pk: int) -> Experiment:
    """An experiment of the request's project, or 404."""
    return get_object_or_404(experiments_of(request), pk=pk)


def experiments_of(request: ProjectRequest) -> QuerySet[Experiment]:
    """The experiments of the request's project, with what pages name of them."""
    found = Experiment.objects.filter(project=request.project)
    return found.select_related("system", "dataset_version__dataset__project", "author", "project__rundefaults")


@require_safe
@project_page(Role.VIEWER)
def experiment_list(request: ProjectRequest) -> HttpResponse:
    """Decides which result to open: the latest first, all figures of one evaluator under one another on one scale."""
    words = request.GET.get("q", "").strip()
    found = Experiment.objects.filter(project=request.project)
    found = found.filter(system__name__icontains=words) if words else found
    rows = found.select_related("system", "dataset_version__dataset__project", "author", "project")
    page = page_of(rows, Order("pk", descending=True), request.GET, size=EXPERIMENTS)
    runs = Run.objects.filter(experiment__in=page.rows, is_current=True, baseline=None).select_related(
        "version__evaluator", "version__publication", "calibration", "connection"
    )
    # Of several versions of an evaluator the newest is shown: it comes last and stays.
    cells = {
        (column.run.experiment_id, column.evaluator.pk): column
        for column in columns(list(runs.order_by("version__number", "pk")))
    }
    evaluators = sorted({column.evaluator for column in cells.values()}, key=lambda evaluator: evaluator.pk)
    sizes = _sizes(page.rows, cells.values())
    ctx = {
        "page": page,
        "words": words,
        "evaluators": evaluators,
        "rows": [
            (each, sizes.get(each.pk, 0), [cells.get((each.pk, evaluator.pk)) for evaluator in evaluators])
            for each in page.rows
        ],
    }
    return page_or_fragment(request, "experiments/experiment_list.html", ctx)


def _sizes(experiments: list[Experiment], shown: Iterable[Column]) -> dict[int, int]:
    """How many outputs each experiment has: as many as a run was asked for, counted where no run can tell."""
    sizes: dict[int, int] = {}
    for column in shown:
        if column.outputs is not None:
            pk = column.run.experiment_id
            sizes[pk] = max(sizes.get(pk, 0), column.outputs)
    uncounted = [each for each in experiments if each.is_open or each.pk not in sizes]
    counted = Output.objects.filter(experiment__in=uncounted).order_by().values("experiment").annotate(n=Count("pk"))
    return sizes | dict(counted.values_list("experiment", "n"))


@require_safe
@project_page(Role.VIEWER)
def experiment_page(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether this result is good enough, and which of its cases to read: figures above, worst cases first.

    htmx, when it asks for a fragment, gets the grid alone.
    """
    ctx = results_grid(request, experiment_of(request, pk))
    return page_or_fragment(request, "experiments/experiment_page.html", ctx, fragment="experiments/_results.html")


@require_safe
@project_page(Role.VIEWER)
def experiment_columns(request: ProjectRequest, pk: int) -> HttpResponse:
    """The figures and the progress of an experiment, polled while something runs."""
    ctx = figures(request, experiment_of(request, pk))
    return render(request, "experiments/_columns.html", {**ctx, "was_polled": True})
