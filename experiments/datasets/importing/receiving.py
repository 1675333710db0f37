"""Keeping an upload until its columns are mapped, and letting it go on from there."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.utils import timezone

from evalstudio.projects.models import Project, User
from experiments.datasets.importing import files, preview
from experiments.datasets.importing.leases import LEASE
from experiments.datasets.importing.rows import BadFile
from experiments.models import Dataset, Import, ImportState


def receive(project: Project, author: User | None, file: File, dataset: str) -> Import:
    """Check a file and keep it until its columns are mapped. Raises BadFile."""
    if file.size > settings.IMPORT_MAX_BYTES:
        raise BadFile(files.too_large("The file has"))
    files.check(file)
    name = PurePath(file.name or "file").name
    look = preview.look(file, name)
    job = Import(
        project=project,
        author=author,
        file_name=name[-200:],
        size=file.size,
        format=look.shape.format,
        options={**look.stored(), "dataset": dataset},
    )
    file.seek(0)
    job.file.save(secrets.token_hex(8), file, save=False)  # names on disk are ours, those of people can be anything
    job.save()
    return job


def begin(job: Import, options: Mapping[str, Any]) -> bool:
    """Store the mapping and the system's name, and let the import wait for a worker. False where it began already."""
    with transaction.atomic():
        dataset, _ = Dataset.objects.get_or_create(project=job.project, name=job.options["dataset"])
        begun = Import.objects.filter(pk=job.pk, state=ImportState.MAPPING).update(
            options={**job.options, **options},
            dataset=dataset,
            state=ImportState.WAITING,
            waiting_since=timezone.now(),
            lease_until=timezone.now() + LEASE,  # from then on a sweep asks for a worker again
        )
    job.refresh_from_db()
    return bool(begun)
