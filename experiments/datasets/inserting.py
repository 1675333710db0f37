"""Inserting many rows of plain values at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from django.db import connection
from django.db.models import Model


def insert(model: type[Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert rows of column values, JSON as `stored_json` gives it. Every field without a default has to be there.

    Making a model object of every row and taking it apart again, as `bulk_create` does, would take most of the time
    of an import.
    """
    quote = connection.ops.quote_name
    columns = {field.name: str(field.column) for field in model._meta.concrete_fields}
    names = ", ".join(quote(columns[field]) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({marks})", list(rows))  # noqa: S608


def stored_json(value: Any) -> str | None:
    """JSON data as its column stores it; None is no data, not JSON's null."""
    return None if value is None else orjson.dumps(value).decode()
