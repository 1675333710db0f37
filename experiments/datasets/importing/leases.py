"""Who runs an import: one worker at a time, and one import per dataset at a time."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from experiments.models import Dataset, Import, ImportState

LEASE = timedelta(seconds=20)
UNDER_WAY = (ImportState.WAITING, ImportState.RUNNING)


class LeaseLost(Exception):
    """Another worker took the import over; what this one was about to write is rolled back."""


@dataclass(frozen=True, slots=True)
class Hold:
    """The right to write what an import writes."""

    pk: int
    token: str

    def save(self, job: Import, **changes: Any) -> None:
        """Store what has changed and hold on. Raises LeaseLost, which ends the transaction it is called in."""
        changes = {"lease_until": timezone.now() + LEASE, **changes}
        if not Import.objects.filter(pk=self.pk, lease=self.token).update(**changes):
            raise LeaseLost
        for name, value in changes.items():
            setattr(job, name, value)


def take(pk: int) -> Hold | None:
    """The right to run an import, or None while it is settled, held, or its dataset is busy with another one."""
    token, now = secrets.token_hex(16), timezone.now()
    free = Q(lease="") | Q(lease_until__lt=now)
    waiting = Import.objects.filter(free, pk=pk, state__in=UNDER_WAY)
    try:
        with transaction.atomic():
            # Waits for a commit of edits that is being written, so that the next version is not written by two.
            Dataset.objects.select_for_update(of=("self",)).filter(import__pk=pk).first()
            taken = waiting.update(
                state=ImportState.RUNNING,
                lease=token,
                lease_until=now + LEASE,
                tries=F("tries") + 1,
                started_at=Coalesce("started_at", now),
            )
    except IntegrityError:  # one import of a dataset runs at a time
        return None
    return Hold(pk, token) if taken else None


def claim_orphans(**which: Any) -> list[int]:
    """Imports under way that nobody works on and nobody was asked to, each told to one caller only.

    One that nothing comes of is told again after the time of a lease. `which` narrows the imports looked at.
    """
    now = timezone.now()
    left = Q(lease_until=None) | Q(lease_until__lt=now)
    before_it = Import.objects.filter(dataset=OuterRef("dataset"), state=ImportState.RUNNING).exclude(pk=OuterRef("pk"))
    found = Import.objects.filter(left, ~Exists(before_it), state__in=UNDER_WAY, **which)
    return [
        pk
        for pk in found.order_by("pk").values_list("pk", flat=True)
        if Import.objects.filter(left, pk=pk).update(lease="", lease_until=now + LEASE)
    ]
