"""The schema of a dataset: what its cases must look like, and which of them do not."""

from __future__ import annotations

from zlib import crc32

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import AuditEntry, Role
from evalstudio.web.pages import page_or_fragment
from experiments.analysis.reading import pretty
from experiments.datasets import schemas
from experiments.datasets.inferring import inferred
from experiments.forms.datasets import SchemaForm
from experiments.models import Dataset
from experiments.views.opening import dataset_of, may_edit

OVERTAKEN = (
    "Somebody else has saved another schema since you began. Look at it in another tab; saved again, yours takes its"
    " place."
)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def dataset_schema(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides what every case that comes must look like."""
    dataset, is_editor = dataset_of(request, pk), may_edit(request)
    is_inferred = "inferred" in request.GET and request.method != "POST"
    schema = inferred(dataset, dataset.latest_version) if is_inferred else dataset.schema
    texts = {part: pretty(schema[part]) for part in schemas.ROOTS if part in schema}
    form = SchemaForm(request.POST if request.method == "POST" else None, initial=texts)
    base = str(crc32(pretty(dataset.schema).encode()))
    if request.method == "POST" and request.POST.get("base", base) != base:
        form.add_error(None, OVERTAKEN)
    if request.method == "POST" and form.is_valid():
        save_schema(request, dataset, form.to_schema())
        said = "The schema is saved; new cases are checked by it." if dataset.schema else "The schema is gone."
        messages.success(request, said)
        return redirect("dataset-schema", request.project.slug, dataset.pk)
    context = {"dataset": dataset, "form": form, "base": base, "is_inferred": is_inferred, "may_edit": is_editor}
    return render(request, "experiments/dataset_schema.html", context, status=422 if form.errors else 200)


@require_safe
@project_page(Role.VIEWER)
def dataset_breaking(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides which cases have to be mended, or whether the schema asks too much."""
    dataset = dataset_of(request, pk)
    context = {
        "dataset": dataset,
        "breaking": schemas.breaking(dataset, dataset.latest_version),
        "may_edit": may_edit(request),
    }
    return page_or_fragment(request, "experiments/dataset_breaking.html", context)


def save_schema(request: ProjectRequest, dataset: Dataset, schema: dict) -> None:
    dataset.schema = schema
    dataset.save(update_fields=["schema"])
    AuditEntry.note(request.project, request.user, "changed", f"schema of {dataset.name}")
