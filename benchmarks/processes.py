"""What a process and its children use, from /proc: processor seconds and memory (PSS)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> Iterator[int]:
    """The process and everything it started that still runs."""
    yield pid
    for child in _children(pid):
        yield from family(child)


def cpu_s(pid: int) -> float:
    """Processor seconds of the family so far, those of children that have ended included."""
    return sum(_cpu_of(one) for one in family(pid))


def pss_mb(pid: int) -> float:
    """Memory of the family with shared pages counted once, in megabytes."""
    return sum(_pss_kb(one) for one in family(pid)) / 1024


def _children(pid: int) -> list[int]:
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        return [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return []


def _cpu_of(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(int(ticks) for ticks in fields[11:15]) / _TICKS


def _pss_kb(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
