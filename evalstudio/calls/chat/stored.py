"""The client over this installation's database: connections, traits and replies as rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from typing import cast

from django.conf import settings
from django.db import close_old_connections, connections

from evalstudio.calls import evidence
from evalstudio.calls.chat.client import ChatClient
from evalstudio.calls.chat.endpoint import Endpoint, Patience
from evalstudio.calls.chat.traits import Structured, Traits
from evalstudio.calls.guard import guard_for_connections
from evalstudio.calls.models import Connection, ModelTraits
from evalstudio.calls.replies import Rejected, Reply, WrongKey
from evalstudio.calls.secrets import KeyLost


class StoredConnections:
    """A `Store` on the database."""

    def endpoint(self, connection_id: int) -> Endpoint:
        close_old_connections()
        connection = Connection.objects.filter(pk=connection_id).first()
        if connection is None:
            raise Rejected("The connection of this evaluator no longer exists.")
        return replace(endpoint_of(connection), traits=_traits_of(connection_id))

    def find(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        close_old_connections()
        return evidence.find(keys)

    def remember_traits(self, connection_id: int, model: str, traits: Traits) -> None:
        close_old_connections()
        ModelTraits.remember(connection_id, model, traits.stored())


def endpoint_of(connection: Connection) -> Endpoint:
    """A connection, saved or not, as the client needs it; raises WrongKey when its key cannot be read."""
    try:
        key = connection.key
    except KeyLost as error:
        raise WrongKey(str(error)) from error
    free = Decimal(0) if connection.is_rehearsal else None
    return Endpoint(
        base_url=connection.base_url.rstrip("/"),
        key=key,
        max_in_flight=connection.max_in_flight,
        rpm=connection.requests_per_minute,
        usd_per_million_in=connection.usd_per_million_in if free is None else free,
        usd_per_million_out=connection.usd_per_million_out if free is None else free,
    )


def _traits_of(connection_id: int) -> dict[str, Traits]:
    rows = ModelTraits.objects.filter(connection_id=connection_id)
    return {row.model: Traits(frozenset(row.left_out), row.renamed, cast(Structured, row.structured)) for row in rows}


@asynccontextmanager
async def open_chat(
    executor: Executor | None = None, *, slots: int | None = None, patience: Patience | None = None
) -> AsyncIterator[ChatClient]:
    """A client of this installation for the running event loop.

    `executor` is the one thread that may touch the database; without it the client gets a thread of its own. `slots`
    and `patience` are as in `ChatClient`; by default an attempt may take settings.CALL_TIMEOUT_S.
    """
    own = None if executor else ThreadPoolExecutor(1, thread_name_prefix="chat-store")
    thread = executor or own
    assert thread is not None
    patience = patience or Patience(total_s=settings.CALL_TIMEOUT_S)
    try:
        async with ChatClient(
            StoredConnections(), thread, guard_for_connections(), slots=slots, patience=patience
        ) as chat:
            yield chat
    finally:
        if own is not None:
            own.submit(connections.close_all)
            own.shutdown()
