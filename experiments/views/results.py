"""Pages of results: the list of experiments, and the grid of one with its figures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, F
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import Order, page_of
from evaluators.models import EvaluatorVersion
from experiments.analysis.columns import Column, columns, current_runs, facts
from experiments.analysis.grid import SHOWS, View, rows_of, walk
from experiments.analysis.neighbours import next_error
from experiments.models import Experiment, Output, Run
from experiments.views.peeks import peek_context, peeked

EXPERIMENTS = 15  # on a page of the list, each with a figure for every evaluator
PLACES = ("after", "before", "peek", "tab")  # in an address; another view of the rows begins without them


def experiment_of(request: ProjectRequest, pk: int) -> Experiment:
    """An experiment of the request's project, or 404."""
    experiments = Experiment.objects.select_related("system", "dataset_version__dataset__project", "author", "project")
    return get_object_or_404(experiments, project=request.project, pk=pk)


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
        "version__evaluator", "connection"
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
        pk = column.run.experiment_id
        sizes[pk] = max(sizes.get(pk, 0), column.summary.asked)
    uncounted = [each for each in experiments if each.is_open or each.pk not in sizes]
    counted = Output.objects.filter(experiment__in=uncounted).order_by().values("experiment").annotate(n=Count("pk"))
    return sizes | dict(counted.values_list("experiment", "n"))


@require_safe
@project_page(Role.VIEWER)
def experiment_page(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether this result is good enough, and which of its cases to read: figures above, worst cases first.

    htmx, when it asks for a fragment, gets the grid alone.
    """
    experiment = experiment_of(request, pk)
    runs = current_runs(experiment)
    view = View.of(request.GET, runs)
    frame = _frame(request, experiment, columns(runs), view)
    chosen, can_run = frame["chosen"], frame["can_run"]
    summary = chosen.summary if chosen else None
    page = walk(experiment, view, summary, frame["facts"]["outputs"]).page(request.GET)
    classes = ["r is-chosen" if column is chosen else "r" for column in frame["columns"]]
    ctx: dict[str, Any] = {
        **frame,
        "page": page,
        "rows": [(row, zip(row.cells, classes, strict=True)) for row in rows_of(page.rows, runs)],
        "chips": _chips(request, view, chosen),
        "heads": [_head(request, view, column) for column in frame["columns"]],
        "kept": [(name, request.GET[name]) for name in ("by", "show", "sort") if name in request.GET],
        "order_sentence": _order_sentence(view),
        **_row_links(request, experiment),
        "case_sort_url": _link(request, sort="case"),
        "all_url": request.path,
        "addable": _addable(request, runs) if can_run else [],
    }
    if output := peeked(request, experiment):
        ctx |= {"peek_id": output.pk, **peek_context(request, experiment, frame["columns"], view, output, page)}
    else:
        ctx["first_error"] = next_error(runs) if any(map(_has_errors, frame["columns"])) else None
    return page_or_fragment(request, "experiments/experiment_page.html", ctx, fragment="experiments/_results.html")


@require_safe
@project_page(Role.VIEWER)
def experiment_columns(request: ProjectRequest, pk: int) -> HttpResponse:
    """The figures and the progress of an experiment, polled while something runs."""
    experiment = experiment_of(request, pk)
    runs = current_runs(experiment)
    frame = _frame(request, experiment, columns(runs), View.of(request.GET, runs))
    return render(request, "experiments/_columns.html", {**frame, "was_polled": True})


def _frame(request: ProjectRequest, experiment: Experiment, shown: list[Column], view: View) -> dict[str, Any]:
    """What the figures of an experiment need, on its page and when they are polled."""
    return {
        "experiment": experiment,
        "here": experiment.get_absolute_url(),
        "facts": facts(experiment),
        "view": view,
        "columns": shown,
        "chosen": next((column for column in shown if view.run and column.run.pk == view.run.pk), None),
        "is_going": any(column.progress and not column.progress.now.is_over for column in shown),
        "can_run": request.role >= Role.EDITOR,
    }


def _row_links(request: ProjectRequest, experiment: Experiment) -> dict[str, str]:
    """What the links of the rows share: a row puts its output's id behind `open_url`, or between the other two."""
    kept = urlencode({name: value for name, value in request.GET.items() if name not in ("peek", "tab")})
    peek_url = reverse("experiment-peek", args=[request.project.slug, experiment.pk, 0])
    return {
        "open_url": f"{request.path}?{kept}{'&' if kept else ''}peek=",
        "peek_url": peek_url.removesuffix("0/"),
        "peek_query": f"?{kept}" if kept else "",
    }


def _has_errors(column: Column) -> bool:
    return bool(column.summary.counts["unscored"] + column.summary.counts["failed"])


def _link(request: ProjectRequest, **changes: Any) -> str:
    """This page under another view; a change of view starts at its first page."""
    kept = {name: value for name, value in request.GET.items() if name not in PLACES}
    return f"{request.path}?{urlencode(kept | changes)}"


def _chips(request: ProjectRequest, view: View, chosen: Column | None) -> list[dict[str, Any]]:
    """The filters with the number of cases each keeps, for the column that counts; empty ones are left out."""
    if chosen is None:
        return []
    counts = {"all": chosen.summary.asked, "below": chosen.summary.below, **chosen.summary.counts}
    words = {"below": "Above threshold" if chosen.passing.direction == "lower" else "Below threshold"}
    return [
        {
            "word": words.get(show, show.capitalize()),
            "count": counts[show],
            "url": _link(request, show=show),
            "is_chosen": show == view.show,
        }
        for show in SHOWS
        if counts[show] or show in ("all", view.show)
    ]


def _head(request: ProjectRequest, view: View, column: Column) -> dict[str, Any]:
    """The head of a column: a click sorts by it, another one turns the order."""
    is_chosen = view.run is not None and column.run.pk == view.run.pk
    is_sorted = is_chosen and view.sort != "case"
    turned = "high" if is_sorted and view.sort == "low" else "low"
    return {
        "column": column,
        "is_chosen": is_chosen,
        "sorted": {"low": "ascending", "high": "descending"}[view.sort] if is_sorted else "",
        "url": _link(request, by=column.run.pk, sort=turned),
    }


def _order_sentence(view: View) -> str:
    if view.run is None or view.sort == "case":
        return "In the order in which they came"
    return f"{'Lowest' if view.sort == 'low' else 'Highest'} {view.run.version.evaluator.name} first"


def _addable(request: ProjectRequest, runs: list[Run]) -> list[EvaluatorVersion]:
    """Published versions of the project's evaluators that have not run here."""
    published = EvaluatorVersion.objects.filter(
        evaluator__project=request.project, evaluator__archived_at=None, evaluator__published_version=F("pk")
    )
    return list(
        published.exclude(pk__in=[run.version_id for run in runs])
        .select_related("evaluator")
        .order_by("evaluator__name")
    )
