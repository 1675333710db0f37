"""Keeping what lies behind scores, many rows to a statement: the replies of models and the words of evaluations.

It keeps replies by the rule of `evalstudio.calls.evidence`, where the ORM would take longer than the calls' own work.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any

from django.db import connection

from evalstudio.calls import evidence
from evalstudio.calls.replies import Reply
from evaluators.core import Score

NOW = {"sqlite": "STRFTIME('%%Y-%%m-%%d %%H:%%M:%%f', 'NOW')", "postgresql": "STATEMENT_TIMESTAMP()"}
_COLUMNS = (*evidence.SAME, "left_out", "tokens")
_KEPT = ", ".join(f"{name} = excluded.{name}" for name in evidence.REPLACED)
_fields_of = attrgetter(*evidence.SAME)
_encode = json.JSONEncoder(ensure_ascii=False).encode  # made once: `json.dumps` would make one for every value


def now_sql() -> str:
    """The database's clock in an SQL expression."""
    return NOW[connection.vendor]


def keep_replies(replies: Iterable[Reply]) -> None:
    """Store what was fetched. A reusable reply stays as it is for ever; another gives way to a later one."""
    rows = [
        [*(storable(value) for value in _fields_of(reply)), json.dumps(reply.left_out), _json(reply.tokens)]
        for reply in replies
        if not reply.from_cache
    ]
    places = ", ".join(["%s"] * len(_COLUMNS))
    _insert_many(
        f"""INSERT INTO calls_call ({", ".join(_COLUMNS)}, made_at) VALUES ({places}, {now_sql()})
            ON CONFLICT (key) DO UPDATE SET {_KEPT} WHERE NOT calls_call.reusable""",  # noqa: S608
        rows,
    )


def keep_words(scored: Iterable[tuple[int, Score]], id_of: Callable[[str], int | None]) -> None:
    """Store what is said of evaluations by id, of those of which anything is. `id_of` tells the id of a label."""
    rows = [
        (
            row_id,
            storable(score.reason),
            _json({name: value for name, value in score.measures.items() if math.isfinite(value)}),
            _json({id_of(label): value for label, value in score.label_scores.items()}),
            _json([reply.key for reply in score.replies]),
            _json([storable(line) for line in score.logs]),
        )
        for row_id, score in scored
        if score.reason or score.measures or score.label_scores or score.replies or score.logs
    ]
    _insert_many(
        """INSERT INTO experiments_evaluationbody (evaluation_id, reason, measures, label_scores, call_keys, logs)
           VALUES (%s, %s, %s, %s, %s, %s)""",
        rows,
    )


def storable(value: Any) -> Any:
    """A text without what a database cannot hold, NUL and halves of characters; anything else as it is."""
    if not isinstance(value, str) or (value.isascii() and "\0" not in value):
        return value
    return value.replace("\0", "�").encode("utf-8", "replace").decode()


def _json(value: Any) -> str | None:
    return _encode(value) if value else None


def _insert_many(sql: str, rows: Sequence[Sequence[Any]]) -> None:
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(sql, rows)
