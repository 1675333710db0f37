"""Where an evaluator should run: the page behind "Run" in the list of evaluators."""

from __future__ import annotations

from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import Order, page_of
from evaluators.models import Evaluator
from experiments.models import Experiment, Output, Run

CHOICES = 15  # on a page, each with the count of its outputs


@require_safe
@project_page(Role.VIEWER)
def evaluator_run(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides which result the evaluator should judge: the latest first, with how much there is to do."""
    evaluators = Evaluator.objects.filter(project=request.project).select_related("published_version", "project")
    evaluator = get_object_or_404(evaluators, pk=pk)
    version = evaluator.published_version or evaluator.versions.order_by("-number").first()
    words = request.GET.get("q", "").strip()
    found = Experiment.objects.filter(project=request.project).select_related(
        "system", "dataset_version__dataset", "project"
    )
    found = found.filter(system__name__icontains=words) if words else found
    page = page_of(found, Order("pk", descending=True), request.GET, size=CHOICES)
    outputs = Output.objects.filter(experiment__in=page.rows).order_by().values_list("experiment")
    sizes = dict(outputs.annotate(Count("pk")))
    runs = Run.objects.filter(experiment__in=page.rows, version=version, is_current=True, baseline=None)
    done = {run.experiment_id: run for run in runs.select_related("experiment__project")}
    context = {
        "evaluator": evaluator,
        "version": version,
        "page": page,
        "words": words,
        "rows": [_row(each, sizes.get(each.pk, 0), done.get(each.pk)) for each in page.rows],
        "may_run": request.role >= Role.EDITOR and version is not None and evaluator.archived_at is None,
    }
    return page_or_fragment(request, "experiments/evaluator_run.html", context)


def _row(experiment: Experiment, size: int, run: Run | None) -> tuple[Experiment, int, Run | None, bool]:
    """An experiment, its outputs, the run there is, and whether that has yet to take up some of them."""
    asked = sum(run.summary["counts"].values()) if run and run.summary else 0
    return experiment, size, run, run is None or (run.covers_all and size > asked)
