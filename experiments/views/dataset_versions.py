"""Versions of a dataset: who made which of what, what differs between two, and going back to one."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pagination import Order, page_of
from experiments.datasets import differing
from experiments.datasets.committing import Busy
from experiments.datasets.wholesale import Uncommitted, restore
from experiments.models import Dataset, DatasetVersion
from experiments.views.opening import dataset_of, may_edit

SHOWN = 25  # cases of a difference on a page


@require_safe
@project_page(Role.VIEWER)
def dataset_versions(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides which version to look at, compare or go back to."""
    dataset = dataset_of(request, pk)
    versions = dataset.versions.filter(number__lte=dataset.latest_version).select_related("author")
    context = {
        "dataset": dataset,
        "latest": dataset.latest_version,
        "page": page_of(versions, Order("number", descending=True), request.GET),
        "may_edit": may_edit(request),
    }
    return render(request, "experiments/dataset_versions.html", context)


@require_safe
@project_page(Role.VIEWER)
def dataset_difference(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether a version is still fit to compare results on: what came, went and changed since another one."""
    dataset = dataset_of(request, pk)
    old, new = (_version(dataset, request.GET.get(name, "")) for name in ("from", "to"))
    found = differing.between(dataset, old.number, new.number)
    start = (id_in(request.GET.get("at", "")) or 0) // SHOWN * SHOWN
    context = {
        "dataset": dataset,
        "old": old,
        "new": new,
        "numbers": range(dataset.latest_version, 0, -1)[:200],
        "counts": [(sort, sum(each.sort == sort for each in found)) for sort in ("added", "removed", "changed")],
        "n_found": len(found),
        "rows": differing.with_changes(found[start : start + SHOWN]),
        "previous": max(0, start - SHOWN) if start else None,
        "next": start + SHOWN if start + SHOWN < len(found) else None,
    }
    return render(request, "experiments/dataset_difference.html", context)


@require_POST
@project_page(Role.EDITOR)
def dataset_restore(request: ProjectRequest, pk: int) -> HttpResponse:
    """Makes a new version with the cases of an earlier one."""
    dataset = dataset_of(request, pk)
    wanted = _version(dataset, request.POST.get("version", ""))
    try:
        version = restore(dataset, wanted.number, request.user).version
    except (Busy, Uncommitted) as error:
        messages.error(request, str(error))
        return redirect("dataset-versions", request.project.slug, dataset.pk)
    if version is None:
        messages.info(request, f"Version {wanted.number} has the same cases as the latest one, so nothing changed.")
    else:
        messages.success(request, f"Version {version.number} has the cases of version {wanted.number} again.")
    return redirect(dataset)


def _version(dataset: Dataset, number: str) -> DatasetVersion:
    wanted = id_in(number)
    if wanted is None or not 1 <= wanted <= dataset.latest_version:
        raise Http404
    version: DatasetVersion = get_object_or_404(dataset.versions, number=wanted)
    return version
