"""What the client must be told: where to send, what it costs, how patient to be, and where it may look things up."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Protocol

from evalstudio.calls.chat.faults import Again, Fault
from evalstudio.calls.chat.traits import Traits
from evalstudio.calls.replies import Ask, Reply

REHEARSAL_URL = "rehearsal:"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A connection as the client needs it. Prices in US dollars for a million tokens, None where unknown."""

    base_url: str
    key: str = ""
    max_in_flight: int = 16
    rpm: float | None = None
    usd_per_million_in: Decimal | None = None
    usd_per_million_out: Decimal | None = None
    traits: Mapping[str, Traits] = field(default_factory=dict)  # by model

    def key_of(self, ask: Ask) -> str:
        """Under which a reply is kept: what another address said to the same question is another reply."""
        return hashlib.sha256(f"{self.base_url}\n{ask.key}".encode()).hexdigest()

    def cost_usd(self, tokens_in: int | None, tokens_out: int | None) -> float | None:
        """What the tokens cost, or None when a price or a count is unknown."""
        per_in, per_out = self.usd_per_million_in, self.usd_per_million_out
        if per_in is None or per_out is None or tokens_in is None or tokens_out is None:
            return None
        return float((tokens_in * per_in + tokens_out * per_out) / 1_000_000)


@dataclass(frozen=True, slots=True)
class Patience:
    """How long and how often an ask is tried. Refusals (429) are bounded by time, everything else by attempts."""

    connect_s: float = 10.0
    total_s: float = 120.0  # of one attempt, from the first byte sent to the last received
    attempts: int = 6
    connects: int = 3
    first_wait_s: float = 0.5  # at most, before the second attempt; twice as long before each further one
    refused_s: float = 180.0  # from the first 429 to giving up

    def is_over(self, fault: Fault, tries: int, refused_for_s: float) -> bool:
        """Whether to give up on an ask whose latest of `tries` attempts ended in this fault."""
        if fault.again is Again.REFUSED:
            return refused_for_s >= self.refused_s
        most = {Again.NEVER: 1, Again.NO_CONNECTION: self.connects, Again.BROKEN: self.attempts}
        return tries >= most[fault.again]


ONCE = Patience(connect_s=5.0, total_s=15.0, attempts=1, connects=1, refused_s=0.0)


class Store(Protocol):
    """What the client reads and remembers. Called in the executor's thread only, never on the event loop."""

    def endpoint(self, connection_id: int) -> Endpoint:
        """The connection's settings; raises ChatError when it cannot be used."""
        ...

    def find(self, keys: Sequence[str]) -> Mapping[str, Reply]:
        """Stored replies that may be used again, by key."""
        ...

    def remember_traits(self, connection_id: int, model: str, traits: Traits) -> None:
        """Keep what a model was found to refuse."""
        ...
