"""Kinds of the tests: real implementations of the kinds' protocol, with work that is easy to watch."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace

from evalstudio.calls.replies import Ask
from evaluators.core import FieldError, Measure, Needs, Sample, Score, Status, Why


class Length:
    """Scores the length of an answer; `config` may slow it down, break it, or let it end its process at one answer."""

    key, title, summary, schema = "length", "Length", "The length of an answer.", 1

    def load(self, stored: dict, schema: int) -> SimpleNamespace:
        return SimpleNamespace(**{"sleep_s": 0.0, "deadly": None, "broken": None, **stored})

    def needs(self, config: SimpleNamespace) -> Needs:
        return Needs("cpu")

    def measures(self, config: SimpleNamespace) -> tuple[Measure, ...]:
        return ()

    def check(self, config: SimpleNamespace) -> list[FieldError]:
        return []

    def paths(self, config: SimpleNamespace) -> list[str]:
        return ["outputs.value"]

    def prepare(self, config: SimpleNamespace, tools: object) -> Callable[[Sequence[Sample]], list[Score]]:
        def scores(samples: Sequence[Sample]) -> list[Score]:
            return [self._score(config, sample) for sample in samples]

        return scores

    def _score(self, config: SimpleNamespace, sample: Sample) -> Score:
        text = sample.outputs["value"]
        if text == config.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        if text == config.broken:
            raise RuntimeError("This kind has a fault.")
        time.sleep(config.sleep_s)
        return Score(
            Status.SCORED, value=min(1.0, len(text) / 100), label="long" if len(text) > 9 else "short", passed=True
        )


class Asking:
    """Asks a model to repeat the answer and scores whether it did."""

    key, title, summary, schema = "asking", "Asking", "Asks a model.", 1

    def load(self, stored: dict, schema: int) -> SimpleNamespace:
        return SimpleNamespace(**stored)

    def needs(self, config: SimpleNamespace) -> Needs:
        return Needs("net", config.connection_id)

    def measures(self, config: SimpleNamespace) -> tuple[Measure, ...]:
        return ()

    def check(self, config: SimpleNamespace) -> list[FieldError]:
        return []

    def paths(self, config: SimpleNamespace) -> list[str]:
        return ["outputs.value"]

    async def one(self, config: SimpleNamespace, sample: Sample, tools: object) -> Score:
        text = sample.outputs["value"]
        if text == getattr(config, "deadly", None):
            os.kill(os.getpid(), signal.SIGKILL)
        question = {"role": "user", "content": f"Repeat: {text}"}
        ask = Ask(config.connection_id, "tiny", (question,), nonce=sample.repeat)
        reply = await tools.chat.ask(ask)
        if reply.text == "?":
            return Score.unscored(Why.UNPARSED, "The model did not say.", replies=(reply,))
        return Score(Status.SCORED, value=1.0, label=reply.text[:20], passed=True, reason="It did.", replies=(reply,))


SMALL_KINDS = (Length(), Asking())
