"""Finding cases of a version: by words, split and tag; and how many cases there are of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, F, QuerySet, Value
from django.db.models.functions import StrIndex, Substr
from django.db.models.lookups import GreaterThan

from evalstudio.web.foreign import storable
from experiments.datasets.contents import MARK
from experiments.models import CaseSpan, DatasetVersion

NO_SPLIT = " "  # in an address: the cases without a split; no split is a blank
MOST_WORDS = 12
MOST_TAGS = 200


@dataclass(frozen=True, slots=True)
class Filter:
    """Which cases are looked for. Words are found in key and values, whatever their case; each has to be there."""

    words: str = ""
    split: str = ""
    tag: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Filter:
        words, split, tag = (storable(query.get(name, ""))[:400] for name in ("q", "split", "tag"))
        return cls(words.strip(), split, tag.strip())

    def __bool__(self) -> bool:
        return bool(self.words or self.split or self.tag)

    def among(self, spans: QuerySet[CaseSpan]) -> QuerySet[CaseSpan]:
        """The spans whose cases fit."""
        if self.split:
            spans = spans.filter(case__split=self.split.strip())
        if self.tag:
            spans = _holding(spans, f"{MARK}{self.tag}{MARK}")
        for word in self.words.casefold().split()[:MOST_WORDS]:
            spans = _holding(spans, word)
        return spans


@dataclass(frozen=True, slots=True)
class Facets:
    """How many cases of a version have which split and which tag, "" for those without a split."""

    splits: dict[str, int]
    tags: dict[str, int]
    repeated: int  # cases whose inputs an earlier one has already

    @property
    def has_splits(self) -> bool:
        return any(self.splits)


def facets_of(version: DatasetVersion) -> Facets:
    """The facets of a version, counted once: a version never changes."""
    if version.facets is None:
        version.facets = _counted(CaseSpan.objects.filter(dataset=version.dataset_id).at(version.number))
        DatasetVersion.objects.filter(pk=version.pk).update(facets=version.facets)
    return Facets(**version.facets)


def _holding(spans: QuerySet[CaseSpan], text: str) -> QuerySet[CaseSpan]:
    return spans.filter(GreaterThan(StrIndex(F("case__searched__words"), Value(text)), 0))


def _counted(spans: QuerySet[CaseSpan]) -> dict[str, Any]:
    splits = dict(spans.order_by().values_list("case__split").annotate(Count("pk")))
    counts = spans.exclude(case__inputs_hash="").aggregate(
        cases=Count("pk"), kinds=Count("case__inputs_hash", distinct=True)
    )
    # The words of a case without a tag begin with its only mark, so those with one hold another after it.
    tagged = spans.annotate(second=StrIndex(Substr("case__searched__words", 2), Value(MARK))).filter(second__gt=0)
    words = tagged.values_list("case__searched__words", flat=True).iterator(chunk_size=2000)
    tags = Counter(tag for each in words for tag in set(each.split(MARK)[1:-1]))
    return {
        "splits": dict(sorted(splits.items())),
        "tags": dict(sorted(tags.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_TAGS]),
        "repeated": counts["cases"] - counts["kinds"],
    }
