"""Cases of a version that say the same: with equal inputs, and of these the ones that expect the same as well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count

from experiments.datasets.contents import digest_of
from experiments.models import CaseSpan, Dataset

SHOWN = 50  # groups on a page
MOST = 2_000  # groups looked at


@dataclass(frozen=True, slots=True)
class Group:
    """Cases with equal inputs, in the order of the dataset. `extra` expect what an earlier one of them does."""

    spans: list[CaseSpan]
    extra: frozenset[int]  # ids of spans

    @property
    def is_exact(self) -> bool:
        """Whether all but the first can go without losing anything that is expected."""
        return len(self.extra) == len(self.spans) - 1


def groups(dataset: Dataset, number: int) -> list[Group]:
    """The first MOST groups of equal inputs in a version. Three queries, however many there are."""
    spans = CaseSpan.objects.filter(dataset=dataset).at(number)
    repeated = spans.values("case__inputs_hash").annotate(n=Count("pk")).filter(n__gt=1).exclude(case__inputs_hash="")
    hashes = repeated.order_by("case__inputs_hash").values_list("case__inputs_hash", flat=True)[:MOST]
    found = spans.filter(case__inputs_hash__in=hashes).select_related("case").order_by("position", "pk")
    return list(_grouped(found))


def extra_keys(found: list[Group], *, by_inputs: bool) -> list[tuple[str, int]]:
    """Key and case of what can go: what is said twice, or all but the first of each group."""
    return [
        (span.key, span.case_id)
        for group in found
        for at, span in enumerate(group.spans)
        if span.pk in group.extra or (by_inputs and at)
    ]


def _grouped(spans: Any) -> Iterator[Group]:
    together: dict[str, list[CaseSpan]] = {}
    for span in spans:
        together.setdefault(span.case.inputs_hash, []).append(span)
    for each in together.values():
        seen: set[str] = set()
        extra = set()
        for span in each:
            expected = digest_of(span.case.expected_outputs)
            extra |= {span.pk} if expected in seen else set()
            seen.add(expected)
        yield Group(each, frozenset(extra))
