"""The Chat port: what lies between an evaluator's question and the wire.

cache → single-flight → slot for one attempt → send → give the slot back → after 429, an error, a cut-off reply or
silence sleep without a slot and go ahead of new work → Reply.
"""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

from evalstudio.calls.chat.endpoint import Endpoint, Patience, Store
from evalstudio.calls.chat.faults import Again, Fault
from evalstudio.calls.chat.gate import LONGEST_WAIT_S, Gate, Pressure
from evalstudio.calls.chat.line import Attempt, Line
from evalstudio.calls.chat.remembered import Remembered
from evalstudio.calls.chat.traits import Traits
from evalstudio.calls.chat.transport import Completion, Transport
from evalstudio.calls.guard import Guard
from evalstudio.calls.replies import Ask, ChatError, NotNow, Reply

STOPPING = "The work was stopped."

log = logging.getLogger(__name__)


class ChatClient:
    """Implements `Chat`. Belongs to one event loop; enter it as an async context, which closes its sessions at the end.

    `store` is called in `executor`'s thread only. `slots` is what each connection starts with: None means the
    connection's own limits (a process that asks alone), 0 that nothing is sent until `set_slots` grants some (a
    worker that shares).
    """

    def __init__(
        self,
        store: Store,
        executor: Executor,
        guard: Guard,
        *,
        slots: int | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.patience = patience or Patience()
        self._store = store
        self._executor = executor
        self._guard = guard
        self._slots = slots
        self._lines: dict[int, Line] = {}
        self._granted: dict[int, tuple[int, float | None, float]] = {}
        self._flights: dict[str, asyncio.Future[Reply]] = {}
        self._naps: set[asyncio.Future[None]] = set()
        self._writes: set[asyncio.Future[None]] = set()
        self._stopped = False

    async def __aenter__(self) -> ChatClient:
        self._loop = asyncio.get_running_loop()
        self._opening = asyncio.Lock()
        self._remembered = Remembered(self._store.find, self._executor)
        self._transport = Transport(self._guard, connect_s=self.patience.connect_s, total_s=self.patience.total_s)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._transport.close()
        await asyncio.gather(*self._writes, return_exceptions=True)

    async def ask(self, ask: Ask) -> Reply:
        """See `Chat.ask`.

        Equal questions that come in together share one reply; all but one are marked `from_cache`.
        """
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError("A ChatClient must not be used outside the event loop that opened it.")
        line = await self._line(ask.connection_id)
        key = line.endpoint.key_of(ask)
        while (flight := self._flights.get(key)) is not None:
            await asyncio.wait([flight])
            if not flight.cancelled():
                return replace(flight.result(), from_cache=True)
        flight = self._flights[key] = self._loop.create_future()
        try:
            reply = await self._answer(ask, key, line)
        except asyncio.CancelledError:
            flight.cancel()  # whoever waits for it asks in its place
            raise
        except Exception as error:
            flight.set_exception(error)
            flight.exception()  # marks it as seen: there may be nobody else to see it
            raise
        finally:
            del self._flights[key]
        flight.set_result(reply)
        return reply

    async def models(self, connection_id: int) -> list[str] | Fault:
        """What the endpoint lists as its models."""
        endpoint = (await self._line(connection_id)).endpoint
        return await self._transport.models(endpoint.base_url, endpoint.key)

    def set_slots(self, connection_id: int, slots: int, rpm: float | None, blocked_for_s: float = 0.0) -> None:
        """Grant calls at once and starts per minute; `blocked_for_s` passes on what other workers were told."""
        self._granted[connection_id] = (slots, rpm, blocked_for_s)
        if line := self._lines.get(connection_id):
            line.gate.grant(slots, rpm, blocked_for_s)

    def pressure(self) -> dict[int, Pressure]:
        """Per connection that was asked: what its gate saw since this was last read."""
        return {connection_id: line.gate.snapshot() for connection_id, line in self._lines.items()}

    def is_sending(self, task: asyncio.Task[Any]) -> bool:
        """Whether a question of this task is on the wire: it will be paid for, so it should be let land.

        A task that waits, for a slot or before it tries again, may be cancelled at no cost.
        """
        return any(task in line.sending for line in self._lines.values())

    def stop(self) -> None:
        """Raise NotNow in every ask that waits or comes; those in flight land."""
        self._stopped = True
        for line in self._lines.values():
            line.gate.stop(STOPPING)
        for nap in self._naps:
            if not nap.done():
                nap.set_exception(NotNow(STOPPING))

    async def _answer(self, ask: Ask, key: str, line: Line) -> Reply:
        if (stored := await self._remembered.get(key)) is not None:
            return replace(stored, from_cache=True)
        tries, sent, refused_at = 0, 0, None
        while True:
            if self._stopped:
                raise NotNow(STOPPING)
            attempt = await line.attempt(ask, again=sent > 0)
            sent += attempt.requests
            if isinstance(attempt.outcome, Completion):
                return _reply(ask, key, line.endpoint, attempt, attempt.outcome, sent)
            fault, now = attempt.outcome, time.monotonic()
            if fault.again is Again.REFUSED:
                refused_at = refused_at or now
            else:
                tries += 1
            if self.patience.is_over(fault, tries, now - (refused_at or now)):
                raise _final(fault, sent)
            await self._nap(fault.wait_s(max(tries, 1), self.patience.first_wait_s))

    async def _line(self, connection_id: int) -> Line:
        if (line := self._lines.get(connection_id)) is not None:
            return line
        async with self._opening:
            if (line := self._lines.get(connection_id)) is None:
                endpoint = await self._loop.run_in_executor(self._executor, self._store.endpoint, connection_id)
                line = self._lines[connection_id] = self._open(connection_id, endpoint)
        return line

    def _open(self, connection_id: int, endpoint: Endpoint) -> Line:
        gate = Gate(endpoint.max_in_flight if self._slots is None else self._slots, endpoint.rpm)
        if granted := self._granted.get(connection_id):
            gate.grant(*granted)

        def learned(model: str, traits: Traits) -> None:
            write = self._loop.run_in_executor(
                self._executor, self._store.remember_traits, connection_id, model, traits
            )
            self._writes.add(write)
            write.add_done_callback(self._written)

        return Line(endpoint, self._transport, gate, learned)

    def _written(self, write: asyncio.Future[None]) -> None:
        self._writes.discard(write)
        if not write.cancelled() and (error := write.exception()):
            log.error("What a model refuses could not be remembered.", exc_info=error)

    async def _nap(self, seconds: float) -> None:
        if seconds > LONGEST_WAIT_S:
            raise NotNow(f"The endpoint asked to be left alone for {seconds:.0f} s.")
        nap: asyncio.Future[None] = self._loop.create_future()
        timer = self._loop.call_later(seconds, _wake, nap)
        self._naps.add(nap)
        try:
            await nap
        finally:
            timer.cancel()
            self._naps.discard(nap)


def _wake(nap: asyncio.Future[None]) -> None:
    if not nap.done():
        nap.set_result(None)


def _final(fault: Fault, sent: int) -> ChatError:
    """The error an ask ends with, which says how often it was tried."""
    if fault.again is Again.NEVER or sent == 1:
        return fault.error
    return type(fault.error)(f"{fault.error} It was asked {sent} times.")


def _reply(ask: Ask, key: str, endpoint: Endpoint, attempt: Attempt, completion: Completion, sent: int) -> Reply:
    return Reply(
        key=key,
        connection_id=ask.connection_id,
        model_asked=ask.model,
        text=completion.text,
        model_reported=completion.model,
        fingerprint=completion.fingerprint,
        finish_reason=completion.finish_reason,
        tokens_in=completion.tokens_in,
        tokens_out=completion.tokens_out,
        cost_usd=endpoint.cost_usd(completion.tokens_in, completion.tokens_out),
        latency_ms=attempt.latency_ms,
        attempts=sent,
        left_out=attempt.traits.left_out_of(ask),
        tokens=completion.tokens if ask.top_logprobs else (),
    )
