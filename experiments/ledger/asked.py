"""What may be asked of a run when it is started: which outputs, how often, what is kept, and how far it may go."""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import QuerySet, Window
from django.db.models.functions import RowNumber

from experiments.models import Priority, Run

MOST_OUTPUTS = 10_000  # of a fixed number; their ids are kept with the run
MOST_REPEATS = 20


class Take(StrEnum):
    """Which outputs a run judges."""

    ALL = ""
    FIRST = "first"  # the first n
    RANDOM = "random"  # n at random, the same ones for the same seed
    SPLIT = "split"  # those whose case is in one split, also those that come later


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of a run. `again` asks for a new run although there is one alike, from no reply that is kept."""

    take: Take = Take.ALL
    n: int = 0
    seed: int = 0
    split: str = ""
    repeats: int = 1  # how often each output is judged, never from one reply
    keeps_details: bool = True
    again: bool = False
    priority: Priority | None = None
    limit_usd: float | None = None
    limit_s: int | None = None
    lifted: frozenset[str] = frozenset()  # limits, by their names here, that are said to be none

    @property
    def bounds(self) -> dict[str, Any]:
        """How far it may go and who comes first, by the names of a run's columns."""
        return {"priority": self.priority, "limit_usd": self.limit_usd, "limit_s": self.limit_s}

    @classmethod
    def like(cls, run: Run) -> Asked:
        """The options of a run, to ask for what it lacks."""
        known = dict(run.selection or {})
        return cls(Take(known.pop("take", "")), repeats=run.repeats, keeps_details=run.keeps_details, **known)

    @property
    def selection(self) -> dict[str, Any] | None:
        """The choice of outputs as a run keeps it; None for all."""
        known: dict[Take, dict[str, Any]] = {
            Take.FIRST: {"n": self.n},
            Take.RANDOM: {"n": self.n, "seed": self.seed},
            Take.SPLIT: {"split": self.split},
        }
        return {"take": str(self.take), **known[self.take]} if self.take else None

    def is_met_by(self, run: Run) -> bool:
        """Whether a run judges the same outputs as often, and keeps as much of it."""
        return (run.selection, run.repeats, run.keeps_details) == (self.selection, self.repeats, self.keeps_details)

    def sample(self, found: QuerySet[Any], order: str = "pk") -> list[int] | None:
        """The ids of what was found, where it is a fixed number of it. At most two queries."""
        if self.take == Take.FIRST:
            return list(found.order_by(order, "pk").values_list("pk", flat=True)[: self.n])
        if self.take != Take.RANDOM:
            return None
        total = found.count()
        chance = random.Random(self.seed)  # noqa: S311 - a sample, not a secret
        places = [place + 1 for place in chance.sample(range(total), min(self.n, total))]
        numbered = found.annotate(place=Window(RowNumber(), order_by="pk"))
        return sorted(numbered.filter(place__in=places).values_list("pk", flat=True))


def selected(run: Run) -> str:
    """Which outputs a run was asked to judge, in words for people; empty for all of them."""
    known = run.selection or {}
    n, split = known.get("n", 0), known.get("split", "")
    said = {
        Take.FIRST: f"the first {n:,}",
        Take.RANDOM: f"{n:,} at random, seed {known.get('seed')}",
        Take.SPLIT: f"split {split}",
    }
    return said.get(known.get("take", ""), "")
