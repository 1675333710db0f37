"""Pages of a long list by key: "the 25 rows after this one", the same cost on page 1 and on page 4,000.

Rows are ordered by a sort value and then by id. The cursor in the address is the place of a row, its sort value and id,
so a row that arrives or leaves elsewhere shifts nothing.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import F, Q, QuerySet, Value
from django.db.models.expressions import OrderBy

PAGE_SIZE = 25


@dataclass(frozen=True, slots=True)
class Order:
    """Sort by `by` (a field, path or annotation) and then by id, both in one direction; unknown values come last.

    Say `nullable=True` where `by` can be NULL; without it the query stays a plain walk along an index.
    """

    by: str
    descending: bool = False
    nullable: bool = False

    def applied_to(self, queryset: QuerySet, *, backwards: bool) -> QuerySet:
        down = self.descending != backwards
        by = OrderBy(
            F("sort_value"),
            descending=down,
            nulls_first=(self.nullable and backwards) or None,
            nulls_last=(self.nullable and not backwards) or None,
        )
        return queryset.order_by(by, OrderBy(F("sort_id"), descending=down))

    def beyond(self, value: Any, key: int, *, backwards: bool) -> Q:
        """The rows that come after (value, key) in the order, or before it."""
        side = "lt" if self.descending != backwards else "gt"
        further = Q(**{f"sort_id__{side}": key})
        if value is None:
            same = Q(sort_value__isnull=True) & further
            return Q(sort_value__isnull=False) | same if backwards else same
        known = Q(**{f"sort_value__{side}": value}) | (Q(sort_value=value) & further)
        # The first condition follows from the second; alone it lets a database begin at the right place of an index.
        known = Q(**{f"sort_value__{side}e": value}) & known
        return known | Q(sort_value__isnull=True) if self.nullable and not backwards else known


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows, and the cursors of the pages beside them; None where there is no more."""

    rows: list[Any]
    previous: str | None
    next: str | None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a row stands in a walk: in which part, with which sort value, under which id."""

    part: int
    value: Any
    key: int

    @classmethod
    def of(cls, row: Any) -> Place:
        """The place of a row that a walk gave, be it an object or a dict."""
        names = ("sort_part", "sort_value", "sort_id")
        return cls(*(row[name] if isinstance(row, dict) else getattr(row, name) for name in names))


@dataclass(frozen=True, slots=True)
class Walk:
    """A list made of parts that follow one another, each a queryset in an order of its own.

    Where one order over everything would have to sort it, parts can each walk along an index: the rows with a score by
    score, then those without by id.
    """

    parts: tuple[tuple[QuerySet, Order], ...]

    def beyond(self, place: Place | None, limit: int, *, backwards: bool = False) -> list[Any]:
        """At most `limit` rows after a place, or before it, nearest first; from the end of the list without a place.

        A query for each part that it touches. Raises what the database says to a sort value of another type.
        """
        rows: list[Any] = []
        numbers = range(len(self.parts))
        for number in reversed(numbers) if backwards else numbers:
            if place and (number > place.part if backwards else number < place.part):
                continue
            queryset, order = self._part(number)
            if place and number == place.part:
                queryset = queryset.filter(order.beyond(place.value, place.key, backwards=backwards))
            rows += order.applied_to(queryset, backwards=backwards)[: limit - len(rows)]
            if len(rows) == limit:
                break
        return rows

    def place_of(self, **lookup: Any) -> Place | None:
        """The place of the one row that a lookup finds; None where the walk does not come past it."""
        for number in range(len(self.parts)):
            queryset, _ = self._part(number)
            found = queryset.filter(**lookup).values_list("sort_value", "sort_id").first()
            if found:
                return Place(number, *found)
        return None

    def count_before(self, place: Place) -> int:
        """How many rows come before a place. A query for each part up to it."""
        before = 0
        for number in range(place.part + 1):
            queryset, order = self._part(number)
            if number == place.part:
                queryset = queryset.filter(order.beyond(place.value, place.key, backwards=True))
            before += queryset.count()
        return before

    def page(self, query: Mapping[str, str], size: int = PAGE_SIZE) -> Page:
        """One page, at the place that `after` or `before` in `query` names; the first page without them.

        A cursor that cannot be read, belongs to another order or points behind the last row leads to the first page.
        """
        backwards = "before" in query
        place = _read_cursor(query.get("before") or query.get("after") or "")
        try:
            # One row more than is shown says whether there is another page.
            rows = self.beyond(place, size + 1, backwards=backwards) if place else []
        except (ValueError, TypeError, OverflowError, ValidationError):
            rows = []
        if rows:
            return _page_before(rows, size) if backwards else _page(rows, size, is_first=False)
        return _page(self.beyond(None, size + 1), size, is_first=True)

    def _part(self, number: int) -> tuple[QuerySet, Order]:
        queryset, order = self.parts[number]
        return queryset.annotate(sort_value=F(order.by), sort_id=F("pk"), sort_part=Value(number)), order


def page_of(queryset: QuerySet, order: Order, query: Mapping[str, str], size: int = PAGE_SIZE) -> Page:
    """One page of a queryset in one order. One query; two where the cursor leads nowhere."""
    return Walk(((queryset, order),)).page(query, size)


def _page(rows: list[Any], size: int, *, is_first: bool) -> Page:
    shown = rows[:size]
    return Page(shown, None if is_first else _cursor(shown[0]), _cursor(shown[-1]) if len(rows) > size else None)


def _page_before(rows: list[Any], size: int) -> Page:
    shown = rows[:size][::-1]
    return Page(shown, _cursor(shown[0]) if len(rows) > size else None, _cursor(shown[-1]))


def _cursor(row: Any) -> str:
    place = Place.of(row)
    value = {"at": place.value.isoformat()} if isinstance(place.value, datetime) else place.value
    return base64.urlsafe_b64encode(json.dumps([place.part, value, place.key]).encode()).decode().rstrip("=")


def _read_cursor(text: str) -> Place | None:
    try:
        part, value, key = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if isinstance(value, dict):
            value = datetime.fromisoformat(value["at"])
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error):
        return None
    is_value = value is None or isinstance(value, str | int | float | datetime)
    is_place = is_value and type(key) is int and type(part) is int and "\0" not in str(value)
    return Place(part, value, key) if is_place else None
