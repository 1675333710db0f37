"""The one driver: samples in, scores out. Runs, the test bench and whoever else judges go through here.

Calling kinds wait for models, so many samples are in the air at once, on an event loop in its own thread (`Flight`).
Computing kinds use the processor, so they go in batches, without a loop (`Computation`). Whatever a kind does, a sample
ends as a sound Score or goes back (NotNow): an error inside a kind is a failed score, never the end of the others.
"""

from __future__ import annotations

import asyncio
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from evalstudio.calls import sharing
from evalstudio.calls.models import Connection
from evalstudio.calls.replies import NotNow
from evaluators.core import Needs, Sample, Score, Status, Why
from evaluators.kinds import get_kind
from evaluators.models import EvaluatorVersion

T = TypeVar("T")
BROKEN = "EvalStudio itself failed here ({name}: {error}). Please report it; retrying may help."

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Work:
    """What an evaluator version does: its kind with the loaded configuration, ready to evaluate."""

    kind: Any
    config: Any
    needs: Needs


def work_of(version: EvaluatorVersion) -> Work:
    """The work of a stored version, of whatever schema it was saved under."""
    kind = get_kind(version.evaluator.kind)
    config = kind.load(version.config, version.config_schema)
    return Work(kind, config, kind.needs(config))


def broken_work(error: Exception, needs: Needs) -> Work:
    """Work that fails every sample with the error: for a version that can no longer be read."""
    return Work(_Unreadable(error), None, needs)


class _Unreadable:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def prepare(self, config: Any, tools: Any) -> Any:
        raise self._error

    async def one(self, config: Any, sample: Sample, tools: Any) -> Score:
        raise self._error


# --- One sample -------------------------------------------------------------------------------------------------------
def evaluate_now(kind: Any, config: Any, sample: Sample, tools: Any, limit_s: float = 20.0) -> Score:
    """One sample at once, as the test bench does it; past the limit the score is failed. What people do is awaited.

    `tools` is as for a run: an object for computing kinds, a function that opens them on the loop for calling ones. A
    call takes a slot of its connection like any worker's. Raises NotNow when none comes free.
    """
    work = Work(kind, config, kind.needs(config))
    if not work.needs.is_judged_here:
        return Score(Status.AWAITING)
    if work.needs.lane == "cpu":
        return Computation(work, tools).scores([sample])[0]
    with _slot_for(work.needs):
        return asyncio.run(_call_within(limit_s, work, sample, tools))


def _slot_for(needs: Needs) -> AbstractContextManager[Any]:
    """One slot of the connection; none for the rehearsal, nor where the chat will say that there is no connection."""
    connection = Connection.objects.filter(pk=needs.connection_id).first() if needs.connection_id else None
    return sharing.borrow(connection) if connection and not connection.is_rehearsal else nullcontext()


async def _call_within(limit_s: float, work: Work, sample: Sample, open_tools: OpenTools) -> Score:
    try:
        async with asyncio.timeout(limit_s), open_tools() as tools:
            return await _call(work, sample, tools)
    except TimeoutError:
        return Score.failed(Why.TIME, f"There was no score within {limit_s:g} s.", latency_ms=limit_s * 1000)


async def _call(work: Work, sample: Sample, tools: Any) -> Score:
    began = time.perf_counter()
    try:
        score = await work.kind.one(work.config, sample, tools)
    except NotNow:
        raise
    except Exception as error:  # noqa: BLE001 - a fault of ours must cost one row, not the run
        score = _broken(error)
    return _sound(score, (time.perf_counter() - began) * 1000)


def _broken(error: Exception) -> Score:
    log.error("An evaluator kind raised an error.", exc_info=error)
    return Score.failed(Why.BROKEN, BROKEN.format(name=type(error).__name__, error=error))


def _sound(score: Score, latency_ms: float) -> Score:
    """The score with its time, and never one that the ledger would refuse."""
    if score.status is Status.SCORED and (score.value is None or not math.isfinite(score.value)):
        score = replace(_broken(ValueError(f"a score of {score.value}")), replies=score.replies, logs=score.logs)
    return replace(score, latency_ms=latency_ms) if score.latency_ms is None else score


# --- Computing kinds --------------------------------------------------------------------------------------------------
class Computation:
    """A computing kind, prepared once and then given one batch after another."""

    def __init__(self, work: Work, tools: Any) -> None:
        self._scores: Callable[[Sequence[Sample]], Sequence[Score]] | None = None
        self._fault: Score | None = None
        try:
            self._scores = work.kind.prepare(work.config, tools)
        except Exception as error:  # noqa: BLE001 - as above
            self._fault = _broken(error)

    def scores(self, samples: Sequence[Sample]) -> list[Score]:
        """One score a sample, in order. A batch that breaks is taken apart, so that one sample spoils no other."""
        if self._scores is None:
            assert self._fault is not None
            return [self._fault] * len(samples)
        began = time.perf_counter()
        try:
            scores = list(self._scores(samples))
            if len(scores) != len(samples):
                raise ValueError(f"{len(scores)} scores for {len(samples)} samples")
        except Exception as error:  # noqa: BLE001 - as above
            if len(samples) == 1:
                return [_broken(error)]
            return [self.scores([sample])[0] for sample in samples]
        each_ms = (time.perf_counter() - began) * 1000 / max(len(samples), 1)
        return [_sound(score, each_ms) for score in scores]


# --- Calling kinds ----------------------------------------------------------------------------------------------------
OpenTools = Callable[[], AbstractAsyncContextManager[Any]]


@dataclass(frozen=True, slots=True)
class Boarding:
    """A sample that is to be evaluated. `ticket` comes back with the score; a `group` can be called back together."""

    ticket: Any
    group: Hashable
    work: Work
    sample: Sample


@dataclass(frozen=True, slots=True)
class Landing:
    """What became of a boarding: a score, or none, when it was called back or the endpoint put it off (`not_now`)."""

    ticket: Any
    score: Score | None
    not_now: str = ""


class Flight:
    """Samples of calling kinds in the air, on an event loop in a thread of its own.

    Used from one other thread: `admit` sends samples up, `landed` collects what came down, `on_loop` runs a function
    of the tools up there. The tools are opened and closed on the loop.
    """

    def __init__(self, open_tools: OpenTools, *, collect: int = 32) -> None:
        self._open_tools = open_tools
        self._collect = collect
        self._landed: deque[Landing] = deque()
        self._news = threading.Event()
        self._flying: dict[asyncio.Task[Landing], Boarding] = {}
        self._admitted = 0  # by the driver; what it has not collected yet is in the air
        self._collected = 0
        self._tools: Any = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="flight", daemon=True)

    def __enter__(self) -> Flight:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result()
        return self

    def __exit__(self, *_: object) -> None:
        """Closes at once: whoever still flies is cancelled and never lands."""
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def in_the_air(self) -> int:
        """Samples admitted and not yet collected."""
        return self._admitted - self._collected

    def admit(self, boardings: Iterable[Boarding]) -> None:
        """Send samples up."""
        together = list(boardings)
        self._admitted += len(together)
        self._loop.call_soon_threadsafe(self._take_off, together)

    def landed(self, wait_s: float) -> list[Landing]:
        """What has come down: at the latest after `wait_s`, at once when there is a handful or nothing left above."""
        self._news.wait(wait_s)
        self._news.clear()
        down = [self._landed.popleft() for _ in range(len(self._landed))]
        self._collected += len(down)
        return down

    def call_back(self, group: Hashable) -> None:
        """Start nothing more for a group: samples whose question is on the wire land, the others land as not now.

        To be repeated while the group is called back: what lands may have wanted to ask once more.
        """
        self.on_loop(lambda tools: self._call_back(group, tools.chat))

    def on_loop(self, function: Callable[[Any], T]) -> T:
        """The result of a function of the tools, run on the loop."""

        async def run() -> T:
            return function(self._tools)

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    # --- on the loop's thread ---------------------------------------------------------------------------------------
    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _open(self) -> None:
        self._context = self._open_tools()
        self._tools = await self._context.__aenter__()

    async def _close(self) -> None:
        flying = list(self._flying)
        for task in flying:
            task.cancel()
        await asyncio.gather(*flying, return_exceptions=True)
        await self._context.__aexit__(None, None, None)

    def _take_off(self, boardings: list[Boarding]) -> None:
        for boarding in boardings:
            task = self._loop.create_task(self._fly(boarding))
            self._flying[task] = boarding
            task.add_done_callback(self._touch_down)

    async def _fly(self, boarding: Boarding) -> Landing:
        try:
            return Landing(boarding.ticket, await _call(boarding.work, boarding.sample, self._tools))
        except NotNow as reason:
            return Landing(boarding.ticket, None, str(reason))

    def _touch_down(self, task: asyncio.Task[Landing]) -> None:
        boarding = self._flying.pop(task)
        self._landed.append(Landing(boarding.ticket, None) if task.cancelled() else task.result())
        if len(self._landed) >= self._collect or not self._flying:
            self._news.set()

    def _call_back(self, group: Hashable, chat: Any) -> None:
        for task, boarding in self._flying.items():
            if boarding.group == group and not chat.is_sending(task):
                task.cancel()
