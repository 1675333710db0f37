"""How far an import is."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from experiments.datasets.importing.leases import LEASE
from experiments.models import Import, ImportState

SILENCE_S = 6.0


@dataclass(frozen=True, slots=True)
class Progress:
    """`share` of the bytes that were read, in [0, 1]; the rate is unknown in the first second.

    `silent_s` are the seconds since its worker gave a sign of life, 0 where none is at work.
    """

    share: float
    rows_per_second: int | None
    silent_s: float

    @classmethod
    def of(cls, job: Import) -> Progress:
        now = timezone.now()
        seconds = (now - job.started_at).total_seconds() if job.started_at else 0.0
        silent_s = 0.0
        if job.state == ImportState.RUNNING and job.lease_until:
            silent_s = (now + LEASE - job.lease_until).total_seconds()
        rate = round(job.read_to / seconds) if job.read_to and seconds > 1 else None
        return cls(min(1.0, job.bytes_read / max(1, job.size)), rate, silent_s)

    @property
    def is_silent(self) -> bool:
        return self.silent_s > SILENCE_S

    @property
    def percent(self) -> str:
        return f"{100 * self.share:.1f}"
