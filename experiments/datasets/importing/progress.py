"""How far an import is."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils import timezone

from experiments.models import Import, Stage

READ = ("added", "changed", "unchanged", "bad")


@dataclass(frozen=True, slots=True)
class Progress:
    """`share` of the bytes of both stages that were read, in [0, 1]; the rate is unknown in the first second."""

    share: float
    rows_per_second: int | None

    @classmethod
    def of(cls, job: Import) -> Progress:
        stages = 2 if job.counts.get("with_output") else 1
        read = job.bytes_read / max(1, job.size) + (job.stage == Stage.OUTPUTS)
        rows = job.read_to
        if job.stage == Stage.OUTPUTS:
            rows += sum(job.counts.get(name, 0) for name in READ)
        seconds = (timezone.now() - job.started_at).total_seconds() if job.started_at else 0.0
        return cls(min(1.0, read / stages), round(rows / seconds) if rows and seconds > 1 else None)

    @property
    def percent(self) -> str:
        return f"{100 * self.share:.1f}"
