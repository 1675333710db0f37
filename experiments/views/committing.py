"""The changes of a person that are not committed yet: looked over, committed as one version, or discarded."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in, storable
from experiments.datasets.committing import Busy, Refused
from experiments.datasets.working import WorkingSet
from experiments.models import Dataset
from experiments.views.opening import dataset_of

SHOWN = 200  # edits of which the differences are written out


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def dataset_changes(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether what was gathered becomes the next version, and which of two edits of the same case counts."""
    dataset = dataset_of(request, pk)
    note = " ".join(storable(request.POST.get("note", "")).split())[:300]
    if request.method != "POST":
        return _page(request, dataset)
    try:
        done = WorkingSet(dataset, request.user).commit(note)
    except Busy as error:
        return _page(request, dataset, str(error), note)
    except Refused as refused:
        return _page(request, dataset, _why(refused), note)
    if done.version is None:
        messages.info(request, "Nothing differs from the latest version, so there is no new one.")
    else:
        messages.success(request, f"Committed as version {done.version.number}: {done.version.note}.")
    return redirect(dataset)


@require_POST
@project_page(Role.EDITOR)
def changes_discard(request: ProjectRequest, pk: int) -> HttpResponse:
    """Forgets one edit, or all of them."""
    dataset = dataset_of(request, pk)
    named = request.POST.get("edit")
    count = WorkingSet(dataset, request.user).discard(None if named is None else [id_in(named) or 0])
    messages.success(request, f"{count} change{'' if count == 1 else 's'} discarded.")
    return redirect("dataset-changes" if named is not None else "dataset-page", request.project.slug, dataset.pk)


@require_POST
@project_page(Role.EDITOR)
def changes_keep(request: ProjectRequest, pk: int) -> HttpResponse:
    """Lets one's own edit go over what others changed meanwhile."""
    dataset = dataset_of(request, pk)
    WorkingSet(dataset, request.user).insist(id_in(request.POST.get("edit", "")) or 0)
    return redirect("dataset-changes", request.project.slug, dataset.pk)


def _why(refused: Refused) -> str:
    if refused.faults:
        wrong = len({fault.key for fault in refused.faults})
        return f"Not committed: {wrong} change{'' if wrong == 1 else 's'} cannot go in as typed. Each says why below."
    both = len(refused.conflicts)
    cases = "1 case was" if both == 1 else f"{both} cases were"
    return f"Not committed: {cases} changed by somebody else meanwhile. Choose below which edit counts."


def _page(request: ProjectRequest, dataset: Dataset, refused: str = "", note: str = "") -> HttpResponse:
    gathered = WorkingSet(dataset, request.user).gathered()
    context: dict[str, Any] = {
        "dataset": dataset,
        "gathered": gathered[:SHOWN],
        "n_edits": len(gathered),
        "n_more": max(0, len(gathered) - SHOWN),
        "next_number": dataset.latest_version + 1,
        "refused": refused,
        "note": note,
    }
    return render(request, "experiments/dataset_changes.html", context, status=422 if refused else 200)
