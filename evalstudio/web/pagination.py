"""Pages of a long list by key: "the 25 rows after this one", the same cost on page 1 and on page 4,000.

Rows are ordered by a sort value and then by id. The cursor in the address is the sort value and id of a row, so a row
that arrives or leaves elsewhere shifts nothing.
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
from django.db.models import F, Q, QuerySet
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
        return known | Q(sort_value__isnull=True) if self.nullable and not backwards else known


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows, and the cursors of the pages beside them; None where there is no more."""

    rows: list[Any]
    previous: str | None
    next: str | None


def page_of(queryset: QuerySet, order: Order, query: Mapping[str, str], size: int = PAGE_SIZE) -> Page:
    """One page, at the place that `after` or `before` in `query` names; the first page without them.

    A cursor that cannot be read, belongs to another order or points behind the last row leads to the first page. One
    query; two then.
    """
    queryset = queryset.annotate(sort_value=F(order.by), sort_id=F("pk"))
    backwards = "before" in query
    place = _read_cursor(query.get("before") or query.get("after") or "")
    rows = _rows_beyond(queryset, order, place, backwards=backwards, size=size) if place else []
    if rows:
        return _page_before(rows, size) if backwards else _page(rows, size, is_first=False)
    return _page(_fetch(order.applied_to(queryset, backwards=False), size), size, is_first=True)


def _rows_beyond(queryset: QuerySet, order: Order, place: tuple[Any, int], *, backwards: bool, size: int) -> list[Any]:
    try:
        beyond = queryset.filter(order.beyond(*place, backwards=backwards))
    except (ValueError, TypeError, ValidationError):  # a value of another type than the column's
        return []
    return _fetch(order.applied_to(beyond, backwards=backwards), size)


def _fetch(queryset: QuerySet, size: int) -> list[Any]:
    return list(queryset[: size + 1])  # one more than shown says whether there is a next page


def _page(rows: list[Any], size: int, *, is_first: bool) -> Page:
    shown = rows[:size]
    return Page(shown, None if is_first else _cursor(shown[0]), _cursor(shown[-1]) if len(rows) > size else None)


def _page_before(rows: list[Any], size: int) -> Page:
    shown = rows[:size][::-1]
    return Page(shown, _cursor(shown[0]) if len(rows) > size else None, _cursor(shown[-1]))


def _cursor(row: Any) -> str:
    value, key = (row["sort_value"], row["sort_id"]) if isinstance(row, dict) else (row.sort_value, row.sort_id)
    packed = {"at": value.isoformat()} if isinstance(value, datetime) else value
    return base64.urlsafe_b64encode(json.dumps([packed, key]).encode()).decode().rstrip("=")


def _read_cursor(text: str) -> tuple[Any, int] | None:
    try:
        value, key = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        if isinstance(value, dict):
            value = datetime.fromisoformat(value["at"])
    except (ValueError, KeyError, TypeError, binascii.Error):
        return None
    is_value = value is None or isinstance(value, str | int | float | datetime)
    return (value, key) if is_value and type(key) is int else None
