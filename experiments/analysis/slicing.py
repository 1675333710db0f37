"""Slices of a data set: the cases of a split, or with a value of a field of their metadata."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Func, Q, QuerySet, TextField, Value
from django.db.models.lookups import Exact

from evalstudio.web.foreign import storable
from experiments.models import Case

SLICED_BY = ("split", "field", "value")  # of an address
LONGEST = 200  # characters of each
SAID = "CASE WHEN field.type IN ('true', 'false') THEN field.type ELSE CAST(field.value AS TEXT) END"


class _Said(Func):
    """What a field of a JSON object says, as text, whatever its name. To a JSON path "2024" is a place in a list."""

    output_field = TextField()
    template, arg_joiner = "(%(expressions)s)", " ->> "

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        opened = f"(SELECT {SAID} FROM json_each(%(expressions)s)"  # noqa: S608
        return self.as_sql(compiler, connection, template=opened, arg_joiner=") AS field WHERE field.key = ", **context)


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
            said = _Said(f"{to_case}metadata", Value(self.field, TextField()))
            found &= Q(Exact(said, self.value))
        return found


EVERY_CASE = Slice()
