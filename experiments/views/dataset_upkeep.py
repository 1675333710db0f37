"""Looking after a dataset as a whole: a new one, splits at random, cases that are there twice."""

from __future__ import annotations

from django.contrib import messages
from django.db import IntegrityError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from experiments.datasets import duplicates
from experiments.datasets.browsing import facets_of
from experiments.datasets.committing import Busy, Refused
from experiments.datasets.wholesale import Uncommitted, assign_splits, create, remove_extra
from experiments.forms.datasets import NewDatasetForm, SplitsForm
from experiments.models import Dataset
from experiments.views.datasets import brief
from experiments.views.opening import dataset_of, may_edit


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def dataset_new(request: ProjectRequest) -> HttpResponse:
    """Decides what a dataset is called whose cases are written here or come from outputs."""
    form = NewDatasetForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect(create(request.project, form.cleaned_data["name"], request.user))
        except IntegrityError:
            form.add_error("name", "Another dataset of this project has this name. Add a word to tell them apart.")
    return render(request, "experiments/dataset_new.html", {"form": form}, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def dataset_splits(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides which share of the cases is kept apart, and for what."""
    dataset, is_editor = dataset_of(request, pk), may_edit(request)
    form = SplitsForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            shares = form.cleaned_data["splits"]
            done = assign_splits(dataset, shares, form.cleaned_data["seed"], request.user)
        except (Busy, Uncommitted) as error:
            form.add_error(None, str(error))
        except Refused as refused:
            form.add_error(None, f"{len(refused.faults)} cases break the schema of the dataset. Mend them first.")
        else:
            said = f"Committed as {done.version}." if done.version else "Every case has this split already."
            messages.success(request, said)
            return redirect(dataset)
    version = dataset.versions.filter(number=dataset.latest_version).first()
    facets = facets_of(version) if version else None
    context = {"dataset": dataset, "form": form, "facets": facets, "may_edit": is_editor}
    return render(request, "experiments/dataset_splits.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def dataset_duplicates(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides which cases only count a question twice, and can go."""
    dataset, is_editor = dataset_of(request, pk), may_edit(request)
    if request.method == "POST":
        return _removed(request, dataset)
    found = duplicates.groups(dataset, dataset.latest_version)
    context = {
        "dataset": dataset,
        "may_edit": is_editor,
        "groups": [(group, brief(group.spans[0].case.inputs)) for group in found[: duplicates.SHOWN]],
        "n_groups": len(found),
        "n_more": max(0, len(found) - duplicates.SHOWN),
        "n_extra": len(duplicates.extra_keys(found, by_inputs=False)),
        "n_by_inputs": len(duplicates.extra_keys(found, by_inputs=True)),
    }
    return render(request, "experiments/dataset_duplicates.html", context)


def _removed(request: ProjectRequest, dataset: Dataset) -> HttpResponse:
    try:
        done = remove_extra(dataset, request.user, by_inputs=request.POST.get("by") == "inputs")
    except (Busy, Uncommitted) as error:
        messages.error(request, str(error))
        return redirect("dataset-duplicates", request.project.slug, dataset.pk)
    if done.version is None:
        messages.info(request, "Nothing is there twice, so nothing changed.")
    else:
        messages.success(request, f"Committed as version {done.version.number}: {done.version.note}.")
    return redirect(dataset)
