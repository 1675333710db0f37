"""Downloads of results."""

from __future__ import annotations

from django.http import Http404, StreamingHttpResponse
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from experiments.analysis.columns import current_runs
from experiments.analysis.exporting import as_csv, as_jsonl
from experiments.models import Experiment
from experiments.views.pairs import pair_of
from experiments.views.results import experiment_of

FORMATS = {"csv": (as_csv, "text/csv; charset=utf-8"), "jsonl": (as_jsonl, "application/x-ndjson; charset=utf-8")}


@require_safe
@project_page(Role.VIEWER)
def experiment_export(request: ProjectRequest, pk: int, form: str) -> StreamingHttpResponse:
    """The experiment with every evaluation, as a file that is written while it is read."""
    experiment = experiment_of(request, pk)
    return _file(experiment, None, f"{experiment.system.name}-{experiment.dataset_version}", form)


@require_safe
@project_page(Role.VIEWER)
def against_export(request: ProjectRequest, pk: int, baseline: int, form: str) -> StreamingHttpResponse:
    """The cases that two experiments answered, with both outputs and every comparative evaluation."""
    experiment, other = pair_of(request, pk, baseline)
    name = f"{experiment.system.name}-against-{other.system.name}-{experiment.dataset_version}"
    return _file(experiment, other, name, form)


def _file(experiment: Experiment, baseline: Experiment | None, name: str, form: str) -> StreamingHttpResponse:
    if form not in FORMATS:
        raise Http404
    write, content_type = FORMATS[form]
    runs = current_runs(experiment, baseline)
    response = StreamingHttpResponse(write(experiment, runs, baseline), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{slugify(name)}.{form}"'
    return response
