"""What is asked of a model and what comes back: plain data that every chat transport speaks. No Django here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to a chat model. `nonce` tells apart askings that must not share a cached reply."""

    connection_id: int
    model: str
    messages: tuple[Mapping[str, Any], ...]
    temperature: float | None = 0.0
    max_tokens: int | None = 1024
    seed: int | None = None
    schema: Mapping[str, Any] | None = None  # JSON schema of the reply, when one is wanted
    nonce: int = 0
    top_logprobs: int = 0  # likeliest alternatives wanted of each token; with 0 no probabilities are asked for

    @property
    def key(self) -> str:
        """Identity of the question: equal keys may share a reply."""
        parts = (
            *(self.connection_id, self.model, self.messages, self.temperature),
            *(self.max_tokens, self.seed, self.schema, self.nonce),
            *((self.top_logprobs,) if self.top_logprobs else ()),  # so that keys stay what they were without
        )
        text = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Token(NamedTuple):
    """One token of a reply, its natural log probability, and what is likeliest in its place, mostly itself included."""

    text: str
    logprob: float
    likeliest: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of a model. Times in milliseconds, cost in US dollars (None where the prices are unknown)."""

    key: str
    connection_id: int
    model_asked: str
    text: str
    model_reported: str = ""
    fingerprint: str = ""
    finish_reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: float | None = None
    latency_ms: float = 0.0
    attempts: int = 1
    left_out: tuple[str, ...] = ()  # parameters that the endpoint refused and that were left out
    from_cache: bool = False
    reusable: bool = False  # set by the asker once the reply could be read
    tokens: tuple[Token, ...] = ()  # the last of the text, where probabilities were asked for and given


class ChatError(Exception):
    """A question that got no reply. The message is a sentence for the person who reads the result."""


class Unreachable(ChatError):
    """No connection, no answer in time, or an address that the outbound guard refuses."""


class WrongKey(ChatError):
    """The endpoint does not accept the key (401, 403)."""


class Rejected(ChatError):
    """The endpoint will not take this request (other 4xx): asking again would not help."""


class EndpointFailing(ChatError):
    """The endpoint kept answering 429 or 5xx, or cut its replies off, until the retries ran out."""


class NotNow(Exception):
    """The work must stop here and be done later: a stop, a limit, a blocked connection. Never the end of a question."""


class Chat(Protocol):
    """The port through which every model is asked. Caching, slots, retries and cost lie behind it."""

    async def ask(self, ask: Ask) -> Reply:
        """The reply; raises ChatError when there is none and NotNow when the run must pause."""
        ...
