"""Counting what an import does, batch by batch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from experiments.datasets.importing.mapping import Draft
from experiments.datasets.importing.merging import Merged
from experiments.datasets.importing.reading import Batch

COUNTED = ("added", "changed", "unchanged", "with_output", "bad")


@dataclass(frozen=True, slots=True)
class Tally:
    """`digest` stands for all outputs so far: the same for the same outputs in any order and any batches."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    with_output: int = 0
    bad: int = 0
    digest: str = ""

    @classmethod
    def load(cls, counts: Mapping[str, Any], digest: str) -> Tally:
        return cls(**{name: counts.get(name, 0) for name in COUNTED}, digest=digest)

    def counts(self) -> dict[str, int]:
        return {name: getattr(self, name) for name in COUNTED}

    def plus(self, batch: Batch, merged: Merged) -> Tally:
        return Tally(
            self.added + merged.added,
            self.changed + merged.changed,
            self.unchanged + merged.unchanged,
            self.with_output + sum(draft.output is not None for draft in merged.accepted),
            self.bad + len(batch.bad) + len(merged.bad),
            _sum(self.digest, merged.accepted),
        )


def _sum(digest: str, drafts: Iterable[Draft]) -> str:
    total = int(digest or "0", 16)
    for draft in drafts:
        if draft.output:
            total += int(hashlib.sha256(f"{draft.key}\0{draft.output.digest}".encode()).hexdigest(), 16)
    return f"{total % 2**256:064x}"
