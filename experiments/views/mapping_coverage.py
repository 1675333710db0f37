"""Beside the mapping of an evaluator: in how many cases each path of it finds nothing."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evaluators.core import COMPARISON
from evaluators.processing import is_processed, processor_of
from evaluators.views.editing import posted_place
from experiments.analysis.mapping import (
    MOST_LOOKED_AT,
    MOST_PROCESSED,
    OUTPUT_ROOTS,
    reach_of,
    samples_to_read,
    through,
)
from experiments.views.case_source import CaseSource


@require_POST
@project_page(Role.EDITOR)
def mapping_coverage(request: ProjectRequest) -> HttpResponse:
    """Helps to decide whether the paths typed in the editor fit the cases that the bench is set to."""
    typed = request.POST
    place, source = posted_place(request), CaseSource.chosen(request.project, typed)
    paths = place.paths(typed)
    pasted = [] if source.experiment else [path for path in paths if path.startswith(OUTPUT_ROOTS)]
    if not source.compared:
        pasted += [path for path in paths if path.startswith(COMPARISON) and path not in pasted]
    context = {"source": source, "paths": paths, "pasted": pasted, "most": MOST_LOOKED_AT}
    if source.dataset and paths:
        looked_up = [path for path in paths if path not in pasted]
        samples, total = samples_to_read(source.dataset, source.experiment, source.compared, looked_up)
        if any(is_processed(path) for path in looked_up) and (processor := processor_of(request.project.pk)):
            samples, context["most"] = through(processor, samples), MOST_PROCESSED
        context |= {"reaches": reach_of(looked_up, samples), "total": total}
    return render(request, "experiments/_mapping_coverage.html", context)
