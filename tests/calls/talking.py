"""A chat client over connections that live in memory, for tests of what happens on the wire."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from evalstudio.calls.chat import ChatClient, Endpoint, Patience
from evalstudio.calls.guard import Guard
from evalstudio.calls.replies import Ask, ChatError, Rejected, Reply

# As the product's, with shorter waits for what takes minutes there.
QUICK = Patience(connect_s=2, total_s=2, attempts=3, connects=2, first_wait_s=0.05, refused_s=5)


@dataclass
class MemoryStore:
    """A Store without a database. `looked_up` holds the keys of each look-up, `traits` what was remembered."""

    endpoints: dict[int, Endpoint]
    replies: dict[str, Reply] = field(default_factory=dict)
    looked_up: list[Sequence[str]] = field(default_factory=list)
    traits: dict[tuple[int, str], Any] = field(default_factory=dict)

    def endpoint(self, connection_id: int) -> Endpoint:
        if connection_id not in self.endpoints:
            raise Rejected("The connection of this evaluator no longer exists.")
        return self.endpoints[connection_id]

    def find(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        self.looked_up.append(keys)
        return {key: self.replies[key] for key in keys if key in self.replies}

    def remember_traits(self, connection_id: int, model: str, traits: Any) -> None:
        self.traits[connection_id, model] = traits


def store_for(server: Any, **settings: Any) -> MemoryStore:
    return MemoryStore({1: Endpoint(base_url=server.url, key="sk-right", **settings)})


def question(text: str = "Is it good?", **more: Any) -> Ask:
    return replace(Ask(1, "tiny", ({"role": "user", "content": text},)), **more)


def with_client(
    store: MemoryStore,
    act: Callable[[ChatClient], Any],
    *,
    patience: Patience = QUICK,
    guard: Guard = Guard(may_be_private=True),
    slots: int | None = None,
) -> Any:
    """What `await act(client)` returns, in a client of its own that is closed afterwards."""

    async def live() -> Any:
        with ThreadPoolExecutor(1) as thread:
            async with ChatClient(store, thread, guard, slots=slots, patience=patience) as chat:
                return await asyncio.wait_for(act(chat), 20)

    return asyncio.run(live())


def ask_all(store: MemoryStore, *asks: Ask, **how: Any) -> list[Reply | BaseException]:
    """The replies to questions asked at the same time, errors in their places."""

    async def act(chat: ChatClient) -> list[Reply | BaseException]:
        return await asyncio.gather(*(chat.ask(ask) for ask in asks), return_exceptions=True)

    return with_client(store, act, **how)


def ask_one(store: MemoryStore, ask: Ask | None = None, **how: Any) -> Reply:
    """The reply to one question; raises what the client raises."""
    return with_client(store, lambda chat: chat.ask(ask or question()), **how)


def error_of(store: MemoryStore, ask: Ask | None = None, **how: Any) -> ChatError:
    """The ChatError that one question ends with."""
    try:
        reply = ask_one(store, ask, **how)
    except ChatError as error:
        return error
    raise AssertionError(f"It got a reply: {reply}")
