"""Pages of two results: which to compare with, and what comparative evaluators said about the two."""

from __future__ import annotations

from typing import Any

from django.db.models import Case, Q, When
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import Order, page_of
from experiments.analysis.comparing.changed import changed
from experiments.analysis.comparing.kept import recent
from experiments.analysis.comparing.names import CHANGED
from experiments.analysis.pairing import comparable, in_common
from experiments.models import DatasetVersion, Experiment
from experiments.views.comparing import compared, link, peek, polled
from experiments.views.results import experiment_of, experiments_of
from experiments.views.several import MOST, further, several_page, several_peek

CHOICES = 15  # on a page, each with the count of cases in common


@require_safe
@project_page(Role.VIEWER)
def comparison_choice(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides which result to compare this one with: the others of its data set, the most cases in common first.

    `with` and `also` in the address are results that are compared already, to which another one is added.
    """
    experiment = experiment_of(request, pk)
    words = request.GET.get("q", "").strip()
    baseline, also = id_in(request.GET.get("with", "")), _ids(request.GET.get("also", ""))
    found = comparable(experiment).exclude(pk__in=[*also, *([baseline] if baseline else [])])
    found = found.filter(system__name__icontains=words) if words else found
    is_same = Case(When(dataset_version=experiment.dataset_version_id, then=1), default=0)
    found = found.select_related("system", "dataset_version__dataset", "author", "project").annotate(is_same=is_same)
    page = page_of(found, Order("is_same", descending=True), request.GET, size=CHOICES)
    common, done = in_common(experiment, page.rows), _compared(experiment, page.rows)
    rows = [
        (each, _address(experiment, each.pk, baseline, also), common.get(each.pk, 0), done.get(each.pk, []))
        for each in page.rows
    ]
    ctx = {
        "experiment": experiment,
        "is_third": baseline is not None,
        "kept_fields": [(name, request.GET[name]) for name in ("with", "also") if name in request.GET],
        "page": page,
        "words": words,
        "rows": sorted(rows, key=lambda row: -row[2]),
    }
    return page_or_fragment(request, "experiments/comparison_choice.html", ctx)


def _ids(text: str) -> list[int]:
    return [pk for part in text.split(",") if (pk := id_in(part))]


def _address(experiment: Experiment, other: int, baseline: int | None, also: list[int]) -> str:
    """The comparison with another one as the baseline; where there is one already, beside the two."""
    if baseline is None:
        return experiment.url_against(other)
    return f"{experiment.url_against(baseline)}?also={','.join(map(str, [*also, other]))}"


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
    """An experiment and another one of its data set, or 404. One query."""
    both = experiments_of(request).filter(Q(pk=pk) | Q(pk=baseline)).in_bulk()  # ids without end are found to be none
    if len(both) < 2 or len({each.dataset_version.dataset_id for each in both.values()}) > 1:
        raise Http404
    return both[pk], both[baseline]


@require_safe
@project_page(Role.VIEWER)
def compare(request: ProjectRequest) -> HttpResponse:
    """Decides which comparison to read: of the results that were ticked in a list, or one of the latest."""
    ticked = [pk for text in request.GET.getlist("experiment") if (pk := id_in(text))]
    if not ticked:
        return render(request, "experiments/compare_start.html", {"recent": recent(request.project)})
    chosen = list(Experiment.objects.filter(project=request.project, pk__in=ticked).order_by("created_at", "pk"))
    datasets = {dataset for (dataset,) in _datasets(chosen)}
    if not 2 <= len(chosen) <= MOST + 2 or len(datasets) > 1:
        few = "Tick two results or more." if len(chosen) < 2 else f"Tick {MOST + 2} results at most."
        fault = "Tick results of one and the same data set." if len(datasets) > 1 else few
        ctx = {"recent": recent(request.project), "fault": fault}
        return render(request, "experiments/compare_start.html", ctx, status=422)
    baseline, *others, latest = chosen
    also = f"?also={','.join(str(each.pk) for each in reversed(others))}" if others else ""
    return redirect(f"{reverse('experiment-against', args=[request.project.slug, latest.pk, baseline.pk])}{also}")


def _datasets(experiments: list[Experiment]) -> Any:
    versions = [each.dataset_version_id for each in experiments]
    return DatasetVersion.objects.filter(pk__in=versions).values_list("dataset")


@require_safe
@project_page(Role.VIEWER)
def experiment_against(request: ProjectRequest, pk: int, baseline: int) -> HttpResponse:
    """Decides whether a result is better than its baseline, by which evaluators, and which cases to read.

    `also` in the address sets further results beside the two.
    """
    experiment, other = pair_of(request, pk, baseline)
    if others := further(request, experiment, other):
        ctx = several_page(request, experiment, other, others)
        return page_or_fragment(request, "experiments/several.html", ctx, fragment="experiments/_several_cases.html")
    ctx = compared(request, experiment, other)
    ctx["swapped_url"] = other.url_against(experiment.pk)
    ctx["mirrored_runs"] = ctx["judges"].mirrored
    return page_or_fragment(request, "experiments/experiment_against.html", ctx, fragment="experiments/_pairs.html")


@require_safe
@project_page(Role.VIEWER)
def against_columns(request: ProjectRequest, pk: int, baseline: int) -> HttpResponse:
    """What comparative evaluators say and the progress of all runs, polled while something runs."""
    ctx = polled(request, *pair_of(request, pk, baseline))
    return render(request, "experiments/_against_columns.html", {**ctx, "was_polled": True})


@require_safe
@project_page(Role.VIEWER)
def against_changed(request: ProjectRequest, pk: int, baseline: int) -> HttpResponse:
    """The filter of the pairs whose texts differ, with their number: reading both texts of all takes a moment."""
    experiment, other = pair_of(request, pk, baseline)
    ctx = {
        "count": len(changed(experiment, other)),
        "url": link(request, experiment.url_against(other.pk), show=CHANGED),
    }
    return render(request, "experiments/_changed_chip.html", ctx)


@require_safe
@project_page(Role.VIEWER)
def against_peek(request: ProjectRequest, pk: int, baseline: int, output: int) -> HttpResponse:
    """Decides which of two answers to one case is better: both side by side, and what was said about them."""
    experiment, other = pair_of(request, pk, baseline)
    others = further(request, experiment, other)
    ctx = (
        several_peek(request, experiment, other, others, output) if others else peek(request, experiment, other, output)
    )
    return render(request, "experiments/_peek.html", ctx)
