"""Looking replies up in the cache, many questions to one query and never on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor

from evalstudio.calls.replies import Reply

GATHER_S = 0.003
MOST_KEYS = 500  # of one query

Find = Callable[[Sequence[str]], Mapping[str, Reply]]


class Remembered:
    """Asks `find(keys)` in the executor for all keys that come in within a few milliseconds of each other."""

    def __init__(self, find: Find, executor: Executor) -> None:
        self._find = find
        self._executor = executor
        self._asked: dict[str, asyncio.Future[Reply | None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._at_work: set[asyncio.Task[None]] = set()

    async def get(self, key: str) -> Reply | None:
        """The stored reply, or None. An error of the look-up reaches everybody who asked."""
        answer = self._asked.get(key)
        if answer is None:
            loop = asyncio.get_running_loop()
            answer = self._asked[key] = loop.create_future()
            if len(self._asked) >= MOST_KEYS:
                self._flush()
            elif self._timer is None:
                self._timer = loop.call_later(GATHER_S, self._flush)
        return await asyncio.shield(answer)  # one who gives up must not cancel the look-up of the others

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        asked, self._asked = self._asked, {}
        task = asyncio.get_running_loop().create_task(self._look_up(asked))
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)

    async def _look_up(self, asked: dict[str, asyncio.Future[Reply | None]]) -> None:
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._executor, self._find, list(asked))
        except Exception as error:  # noqa: BLE001 - handed to those who asked
            for answer in asked.values():
                answer.set_exception(error)
            return
        for key, answer in asked.items():
            answer.set_result(found.get(key))
