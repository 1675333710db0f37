"""What one call of an evaluator's code may use."""

from __future__ import annotations

from dataclasses import dataclass, fields

BOUNDS = {
    "time_ms": (1, 10_000),
    "memory_mb": (8, 256),
    "output_bytes": (16, 4_000_000),
    "log_lines": (0, 1_000),
}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one call, and of loading the code. A value out of `BOUNDS` raises ValueError.

    time_ms: processor time of the call. A machine that has to share its processor gets up to five times as long.
    memory_mb: the whole machine in MiB, about 3 of which it needs for itself.
    output_bytes: the returned value as JSON.
    log_lines: console lines kept; 1,000 characters of each and some 32,000 bytes of all are kept.
    """

    time_ms: int = 200
    memory_mb: int = 32
    output_bytes: int = 256_000
    log_lines: int = 100

    def __post_init__(self) -> None:
        for field in fields(self):
            low, high = BOUNDS[field.name]
            if not low <= getattr(self, field.name) <= high:
                raise ValueError(f"{field.name} must lie between {low:,} and {high:,}.")


DEFAULT = Limits()
