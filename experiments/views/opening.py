"""What the pages of a dataset begin with: finding it, and whether its reader may change it."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.shortcuts import get_object_or_404

from evalstudio.projects.access import ProjectRequest
from evalstudio.projects.models import Role
from experiments.models import Dataset


def dataset_of(request: ProjectRequest, pk: int) -> Dataset:
    dataset: Dataset = get_object_or_404(Dataset.objects.select_related("project"), project=request.project, pk=pk)
    return dataset


def may_edit(request: ProjectRequest) -> bool:
    """Whether the reader may change datasets. Raises PermissionDenied where they try though they may not."""
    if request.role >= Role.EDITOR:
        return True
    if request.method == "POST":
        raise PermissionDenied(f"This needs the role {Role.EDITOR.title}.")
    return False
