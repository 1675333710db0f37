"""What the background queue calls. Every entry is safe to call twice, late, or not at all: a sweep makes up for it."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from django_q.tasks import async_task

from experiments.datasets.importing import leases, running
from experiments.models import Import, ImportState

UNMAPPED_KEPT = timedelta(days=7)


def run_import(pk: int) -> None:
    """Carry one import out, then ask for the one that waited for its dataset."""
    if not running.run(pk):
        return
    dataset_id = Import.objects.values_list("dataset_id", flat=True).get(pk=pk)
    following = Import.objects.filter(dataset=dataset_id, state=ImportState.WAITING).order_by("pk").first()
    if dataset_id and following:
        enqueue(following.pk)


def enqueue(pk: int) -> None:
    async_task("experiments.datasets.importing.tasks.run_import", pk, group="imports")


def resume_orphans(**which: object) -> int:
    """Enqueue imports under way that nobody works on, such as those of a killed worker. Returns how many."""
    orphans = leases.claim_orphans(**which)
    for pk in orphans:
        enqueue(pk)
    return len(orphans)


def drop_stale_uploads() -> int:
    """Delete uploads that were never mapped, with their files. Returns how many."""
    stale = Import.objects.filter(state=ImportState.MAPPING, created_at__lt=timezone.now() - UNMAPPED_KEPT)
    dropped = list(stale)
    for upload in dropped:
        upload.discard()
    return len(dropped)
