"""Slices of a data set: the cases of a split, or with a value of a field of their metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Q, QuerySet, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.db.models.lookups import Exact

from evalstudio.web.foreign import storable
from experiments.models import Case

SLICED_BY = ("split", "field", "value")  # of an address
LONGEST = 200  # characters of each


@dataclass(frozen=True, slots=True)
class Slice:
    """Which cases count: those of a split, or with a value of a field of their metadata; all where it is empty."""

    split: str = ""
    field: str = ""
    value: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Slice:
        """Read an address."""
        return cls(*(storable(query.get(name, ""))[:LONGEST] for name in SLICED_BY))

    def __bool__(self) -> bool:
        return bool(self.split or self.field)

    def __str__(self) -> str:
        return f"split {self.split}" if self.split else f"{self.field} {self.value}".strip()

    @property
    def query(self) -> dict[str, str]:
        """What an address says for it."""
        return {name: said for name in SLICED_BY if (said := getattr(self, name))}

    def cases(self, dataset_id: int) -> QuerySet[Case]:
        return Case.objects.filter(self.where(), dataset=dataset_id)

    def where(self, to_case: str = "") -> Q:
        """What keeps the rows whose case counts. `to_case` leads from a row to its case: "case__" from an output."""
        found = Q()
        if self.split:
            found &= Q(**{f"{to_case}split": self.split.strip()})
        if self.field:
            said = Cast(KeyTextTransform(self.field, f"{to_case}metadata"), TextField())
            found &= Q(Exact(said, self.value))
        return found


EVERY_CASE = Slice()
