"""Pages of importing: choose a file, say what its columns are, watch it go in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from experiments.datasets.importing import receiving, tasks
from experiments.datasets.importing.effects import Effect, reported
from experiments.datasets.importing.foretelling import foretell
from experiments.datasets.importing.formats import Shape
from experiments.datasets.importing.progress import Progress
from experiments.forms.imports import ImportFileForm, MappingForm
from experiments.models import Import, ImportState

LONG_WAIT = timedelta(seconds=8)
FORMAT_TITLES = {"csv": "CSV", "jsonl": "JSON Lines", "json": "JSON list"}


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def import_new(request: ProjectRequest) -> HttpResponse:
    """Decides which file goes into which dataset. Nothing is imported before its columns are mapped."""
    if request.method != "POST":
        return _choosing(request, ImportFileForm(project=request.project, initial=request.GET.dict()))
    form = ImportFileForm(request.POST, request.FILES, project=request.project, meta=request.META)
    job = form.receive(request.user) if form.is_valid() else None
    if job is None:
        return _choosing(request, form, status=422)
    return redirect(job)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def import_page(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides what the columns become; from then on, whether the import does what it should."""
    job = _import_of(request, pk)
    if job.state != ImportState.MAPPING:
        return _progress(request, job)
    if request.method != "POST":
        return _mapping(request, job, MappingForm(job=job))
    form = MappingForm(request.POST, job=job)
    if not form.is_valid():
        return _mapping(request, job, form, status=422)
    with transaction.atomic():
        if receiving.begin(job, form.to_options()):
            transaction.on_commit(lambda: tasks.enqueue(job.pk))
    return redirect(job)


@require_POST
@project_page(Role.EDITOR)
def import_forecast(request: ProjectRequest, pk: int) -> HttpResponse:
    """What the import would do with the columns as they are chosen now."""
    job = _import_of(request, pk)
    if job.state != ImportState.MAPPING:
        return redirect(job)
    return render(request, "experiments/_import_forecast.html", _forecast(job, MappingForm(request.POST, job=job)))


@require_POST
@project_page(Role.EDITOR)
def import_discard(request: ProjectRequest, pk: int) -> HttpResponse:
    job = _import_of(request, pk)
    job.discard()
    messages.info(request, f"{job.file_name} was not imported.")
    return redirect("dataset-list", request.project.slug)


def _import_of(request: ProjectRequest, pk: int) -> Import:
    jobs = Import.objects.select_related("project", "dataset__project", "experiment__project", "experiment__system")
    return get_object_or_404(jobs, project=request.project, pk=pk)


def _choosing(request: ProjectRequest, form: ImportFileForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "limit_mb": settings.IMPORT_MAX_BYTES // 1024 // 1024}
    return render(request, "experiments/import_new.html", context, status=status)


def _mapping(request: ProjectRequest, job: Import, form: MappingForm, *, status: int = 200) -> HttpResponse:
    """The page of the columns. It opens with a forecast of the guesses, but without complaints about them."""
    context = {
        "job": job,
        "form": form,
        "columns": list(form.column_fields()),
        **_first_rows(job, form),
        "format_title": FORMAT_TITLES[job.format],
        **_forecast(job, form if form.is_bound else MappingForm.answering(job, {}, form.offer)),
    }
    return render(request, "experiments/import_mapping.html", context, status=status)


def _first_rows(job: Import, form: MappingForm) -> dict[str, Any]:
    """The first rows without the objects whose parts are columns of their own."""
    shown = [number for number, column in enumerate(form.columns) if not column.is_object]
    return {
        "shown_columns": [form.columns[number] for number in shown],
        "rows": [(line, [cells[number] for number in shown]) for line, cells in job.options["rows"]],
    }


def _forecast(job: Import, form: MappingForm) -> dict[str, Any]:
    can_foretell = form.foretellable()
    return {
        "job": job,
        "forecast": foretell(job, form.to_options()) if can_foretell else None,
        "unit": form.shape.unit,
    }


def _progress(request: ProjectRequest, job: Import) -> HttpResponse:
    """Whoever looks also brings back an import whose worker died, so that nobody waits for a sweep."""
    context: dict[str, Any] = {"job": job, "unit": Shape(job.format).unit, "progress": Progress.of(job)}
    if job.is_under_way:
        tasks.resume_orphans(pk=job.pk)
    if job.state == ImportState.WAITING:
        running = Import.objects.filter(dataset=job.dataset, state=ImportState.RUNNING).select_related("project")
        before = running.first()
        context |= {
            "before": before,
            "waits_long": not before and timezone.now() - (job.waiting_since or job.created_at) > LONG_WAIT,
        }
    if job.state == ImportState.DONE:
        effect = Effect.of(job)
        context |= {"effect": effect, "said": reported(effect)}
    return page_or_fragment(request, "experiments/import.html", context)
