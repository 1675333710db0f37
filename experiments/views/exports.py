"""Downloads of results."""

from __future__ import annotations

from django.http import Http404, StreamingHttpResponse
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from experiments.analysis.columns import current_runs
from experiments.analysis.exporting import as_csv, as_jsonl
from experiments.views.results import experiment_of

FORMATS = {"csv": (as_csv, "text/csv; charset=utf-8"), "jsonl": (as_jsonl, "application/x-ndjson; charset=utf-8")}


@require_safe
@project_page(Role.VIEWER)
def experiment_export(request: ProjectRequest, pk: int, form: str) -> StreamingHttpResponse:
    """The experiment with every evaluation, as a file that is written while it is read."""
    if form not in FORMATS:
        raise Http404
    experiment = experiment_of(request, pk)
    write, content_type = FORMATS[form]
    response = StreamingHttpResponse(write(experiment, current_runs(experiment)), content_type=content_type)
    name = slugify(f"{experiment.system.name}-{experiment.dataset_version}")
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response
