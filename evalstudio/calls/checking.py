"""Trying a connection out: one real question, and in plain words what came of it."""

from __future__ import annotations

import asyncio
import difflib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from evalstudio.calls.guard import guard_for_connections
from evalstudio.calls.models import Connection
from evalstudio.calls.replies import (
    Ask,
    ChatError,
    EndpointFailing,
    NotNow,
    Rejected,
    Reply,
    Unreachable,
    WrongKey,
)

if TYPE_CHECKING:
    from evalstudio.calls.chat import Endpoint
    from evalstudio.calls.chat.traits import Traits

LIMIT_S = 20.0
MOST_SUGGESTED = 5
MOST_LISTED = 200
SCHEMA = {
    "type": "object",
    "properties": {"label": {"type": "string", "enum": ["yes", "no"]}},
    "required": ["label"],
    "additionalProperties": False,
}
QUESTION = (
    'This checks a connection. Is four an even number? Reply with a JSON object: {"label": "yes"} or {"label": "no"}.'
)


class Finding(StrEnum):
    """What a test found, in the order of how far it got."""

    UNREACHABLE = "unreachable"
    WRONG_KEY = "wrong key"
    UNKNOWN_MODEL = "unknown model"
    REFUSED = "refused"
    FAILING = "failing"
    NO_JSON = "no json"  # it replies, but not with the JSON it was asked for
    WORKS = "works"


@dataclass(frozen=True, slots=True)
class Checkup:
    """The outcome of a test. `listed` are the endpoint's own models, `nearest` those most like the one asked for."""

    finding: Finding
    model: str
    sentence: str = ""
    reply: Reply | None = None
    found: Mapping[str, Any] = field(default_factory=dict)  # what the model refuses, as `Traits.stored`
    listed: Sequence[str] = ()
    nearest: Sequence[str] = ()

    @property
    def works(self) -> bool:
        """Whether judges can use the connection."""
        return self.finding in (Finding.WORKS, Finding.NO_JSON)

    @property
    def more_listed(self) -> int:
        """Models that the endpoint lists beyond the nearest."""
        return len(self.listed) - len(self.nearest)


@dataclass
class _OneEndpoint:
    """A Store that knows this endpoint and nothing else; replies are not kept, so that every test really asks."""

    settings: Endpoint
    learned: dict[str, Traits] = field(default_factory=dict)

    def endpoint(self, connection_id: int) -> Endpoint:
        return self.settings

    def find(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        return {}

    def remember_traits(self, connection_id: int, model: str, traits: Traits) -> None:
        self.learned[model] = traits


def check(connection: Connection) -> Checkup:
    """Ask the connection, saved or not, a question as a judge would. Takes at most 20 s; nothing is stored."""
    from evalstudio.calls.chat import endpoint_of
    from evalstudio.calls.chat.traits import Traits

    try:
        store = _OneEndpoint(endpoint_of(connection))
    except WrongKey as error:
        return Checkup(Finding.WRONG_KEY, connection.model, str(error))
    outcome, listed = asyncio.run(_try(store, connection.model))
    if isinstance(outcome, Reply):
        return _well(outcome, store.learned.get(connection.model) or Traits(), listed)
    return _ill(outcome, connection.model, listed)


async def _try(store: _OneEndpoint, model: str) -> tuple[Reply | Exception, list[str]]:
    from evalstudio.calls.chat import ONCE, ChatClient

    with ThreadPoolExecutor(1) as thread:
        async with ChatClient(store, thread, guard_for_connections(), patience=ONCE) as chat:
            asked = asyncio.create_task(_ask(chat, model))
            listed = await _models(chat)
            return await asked, listed


async def _ask(chat: Any, model: str) -> Reply | Exception:
    message = {"role": "user", "content": QUESTION}
    try:
        return await asyncio.wait_for(chat.ask(Ask(0, model, (message,), seed=1, schema=SCHEMA)), LIMIT_S)
    except TimeoutError:
        return EndpointFailing(f"The endpoint did not answer within {LIMIT_S:g} s.")
    except (ChatError, NotNow) as error:
        return error


async def _models(chat: Any) -> list[str]:
    """The models that the endpoint lists; empty where it does not say."""
    try:
        listed = await asyncio.wait_for(chat.models(0), LIMIT_S / 2)
    except (ChatError, TimeoutError):
        return []
    return listed if isinstance(listed, list) else []


def _well(reply: Reply, traits: Traits, listed: list[str]) -> Checkup:
    finding = Finding.WORKS if _is_answer(reply.text) else Finding.NO_JSON
    return Checkup(finding, reply.model_asked, "", reply, traits.stored(), listed[:MOST_LISTED])


def _ill(error: Exception, model: str, listed: list[str]) -> Checkup:
    sentence = str(error)
    if isinstance(error, Rejected):
        is_unknown = "(404)" in sentence or ("model" in sentence.lower() and listed and model not in listed)
        finding = Finding.UNKNOWN_MODEL if is_unknown else Finding.REFUSED
        return Checkup(finding, model, sentence, listed=listed[:MOST_LISTED], nearest=_nearest(model, listed))
    if isinstance(error, Unreachable):
        return Checkup(Finding.UNREACHABLE, model, sentence)
    if isinstance(error, WrongKey):
        return Checkup(Finding.WRONG_KEY, model, sentence)
    return Checkup(Finding.FAILING, model, sentence)


def _nearest(model: str, listed: list[str]) -> list[str]:
    """The listed names most like the one that was not found; the first ones where none is like it."""
    near = difflib.get_close_matches(model, listed, MOST_SUGGESTED, cutoff=0.5)
    return near or sorted(listed)[:MOST_SUGGESTED]


def _is_answer(text: str) -> bool:
    try:
        answer = json.loads(text[text.index("{") : text.rindex("}") + 1])
    except ValueError:
        return False
    return isinstance(answer, dict) and answer.get("label") in ("yes", "no")
