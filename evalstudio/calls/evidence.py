"""Keeping replies: every one is evidence of how a score came about, and those that could be read are also the cache."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction

from evalstudio.calls.models import Call
from evalstudio.calls.replies import Reply, Token
from evalstudio.web.foreign import storable

SAME = (
    "key", "connection_id", "model_asked", "model_reported", "fingerprint", "text", "finish_reason", "tokens_in",
    "tokens_out", "cost_usd", "latency_ms", "reusable",
)  # fmt: skip
REPLACED = [name for name in (*SAME, "left_out", "tokens", "made_at") if name != "key"]


def rows_for(replies: Iterable[Reply]) -> list[Call]:
    """Unsaved rows for the replies that were really fetched, one per key; a reusable one wins over one that is not."""
    by_key: dict[str, Reply] = {}
    for reply in replies:
        known = by_key.get(reply.key)
        if not reply.from_cache and (known is None or not known.reusable):
            by_key[reply.key] = reply
    return [
        Call(
            **{name: _stored(getattr(reply, name)) for name in SAME},
            left_out=list(reply.left_out),
            tokens=list(reply.tokens) or None,
        )
        for reply in by_key.values()
    ]


def _stored(value: Any) -> Any:
    return storable(value) if isinstance(value, str) else value


def store(replies: Iterable[Reply]) -> int:
    """Save what was fetched and return the number of rows written.

    A reusable reply stays as it is for ever, since scores rest on it. One that could not be read gives way to a later
    reply to the same question. Two queries however many replies; part of the caller's transaction.
    """
    rows = rows_for(replies)
    if not rows:
        return 0
    with transaction.atomic():
        settled = set(
            Call.objects.filter(key__in=[row.key for row in rows], reusable=True).values_list("key", flat=True)
        )
        rows = [row for row in rows if row.key not in settled]
        Call.objects.bulk_create(rows, update_conflicts=True, unique_fields=["key"], update_fields=REPLACED)
    return len(rows)


def find(keys: Sequence[str]) -> Mapping[str, Reply]:
    """Stored replies that may be used again, by key."""
    calls = Call.objects.filter(key__in=keys, reusable=True)
    return {call.key: _reply(call) for call in calls}


def _reply(call: Call) -> Reply:
    same = {name: getattr(call, name) for name in SAME}
    tokens = (Token(text, logprob, tuple(map(tuple, others))) for text, logprob, others in call.tokens or ())
    return Reply(**same, left_out=tuple(call.left_out), tokens=tuple(tokens), from_cache=True)
