"""One connection while a client is open: its gate, what its models refuse, and one attempt at a question."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from evalstudio.calls.chat.endpoint import REHEARSAL_URL, Endpoint
from evalstudio.calls.chat.faults import Again, Fault
from evalstudio.calls.chat.gate import Gate
from evalstudio.calls.chat.traits import Traits, body_of, learn
from evalstudio.calls.chat.transport import Completion, Transport
from evalstudio.calls.replies import Ask

Learned = Callable[[str, Traits], None]


@dataclass(frozen=True, slots=True)
class Attempt:
    """How one turn at the gate ended. `requests` counts what was sent; `latency_ms` is the last request's alone."""

    outcome: Completion | Fault
    traits: Traits
    requests: int
    latency_ms: float


class Line:
    """`learned(model, traits)` is called when a reply came with traits that were not known before."""

    def __init__(self, endpoint: Endpoint, transport: Transport, gate: Gate, learned: Learned) -> None:
        self.endpoint = endpoint
        self.gate = gate
        self._transport = transport
        self._learned = learned
        self._traits: dict[str, Traits] = dict(endpoint.traits)
        self._proven: dict[str, Traits] = dict(endpoint.traits)
        self.sending: set[asyncio.Task[object] | None] = set()  # the tasks whose question is on the wire

    def traits(self, model: str) -> Traits:
        return self._traits.get(model) or Traits()

    async def attempt(self, ask: Ask, *, again: bool) -> Attempt:
        """Wait for a slot, ask, give the slot back."""
        await self.gate.enter(again=again)
        refused, wait_s = False, 0.0
        task = asyncio.current_task()
        self.sending.add(task)
        try:
            attempt = await self._exchange(ask)
            if isinstance(attempt.outcome, Fault):
                refused = attempt.outcome.again is Again.REFUSED
                wait_s = attempt.outcome.retry_after_s or 0.0
            return attempt
        finally:
            self.sending.discard(task)
            self.gate.leave(refused=refused, wait_s=wait_s)

    async def _exchange(self, ask: Ask) -> Attempt:
        """Ask, and at once again without what the endpoint complains about.

        Ends: every lesson leaves less to refuse.
        """
        requests = 0
        while True:
            traits = self.traits(ask.model)
            body = body_of(ask, traits)
            began = time.perf_counter()
            outcome = await self._send(ask, body)
            requests += 1
            attempt = Attempt(outcome, traits, requests, (time.perf_counter() - began) * 1000)
            if isinstance(outcome, Completion):
                self._prove(ask.model, traits)
                return attempt
            lesson = learn(traits, body, outcome.complaint) if outcome.complaint else None
            if lesson is None:
                return attempt
            self._traits[ask.model] = self.traits(ask.model).with_(lesson)

    async def _send(self, ask: Ask, body: dict) -> Completion | Fault:
        if self.endpoint.base_url == REHEARSAL_URL:
            return _rehearsed(ask)
        return await self._transport.complete(self.endpoint.base_url, self.endpoint.key, body)

    def _prove(self, model: str, traits: Traits) -> None:
        """A reply shows that the traits are right; only then are they kept for later."""
        if traits != self._proven.get(model, Traits()):
            self._proven[model] = traits
            self._learned(model, traits)


def _rehearsed(ask: Ask) -> Completion:
    from evalstudio.calls.rehearsal import rehearse
    from evalstudio.calls.rehearsed_answers import answer, is_asked_to_judge
    from evalstudio.calls.rehearsed_odds import odds

    if ask.top_logprobs or is_asked_to_judge(ask.messages, ask.schema):
        text = rehearse(ask.messages, ask.schema)
    else:
        text = answer(ask.messages, f"{ask.model} {ask.temperature} {ask.nonce}")
    tokens = odds(text, ask.messages, ask.schema) if ask.top_logprobs else ()
    asked = sum(len(str(message.get("content") or "")) for message in ask.messages)
    return Completion(text, "rehearsal", "", "stop", asked // 4, len(text) // 4, tokens)
