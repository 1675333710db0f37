"""What a built-in does with a sample: bind its inputs, compute, ask a model where the entry says so."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from evalstudio.calls.replies import Ask
from evaluators import prompts
from evaluators.asking import judge
from evaluators.catalogue.binding import binder
from evaluators.catalogue.outcomes import FAIL, PASS, UNREAD, BadCase, ForJudge, Found, Lacking, NoVerdict
from evaluators.core import Sample, Score, Status, Why
from evaluators.framing import Manner, Question, manner
from evaluators.kinds.builtin import NO_MODEL, BuiltinConfig
from evaluators.scoring import EnumScoring, Option
from evaluators.tools import Tools

AT_ONCE = 16  # samples that wait for a network
PASS_OR_FAIL = EnumScoring((Option("pass", 100), Option("fail", 0)))
UNREADABLE = {UNREAD.name: 1.0}


class Worker:
    """An entry whose parameters were made ready. Raises BadSetting, BadPath or WrongType for a wrong configuration."""

    def __init__(self, config: BuiltinConfig) -> None:
        assert config.entry is not None
        self.entry = config.entry
        self._primary = self.entry.primary.name
        self._passed = config.passing.passed
        self._bind = binder(self.entry, dict(config.mapping))
        stored = config.parameters
        self._settings = {one.name: one.read(stored[one.name]) for one in self.entry.parameters}

    def score(self, sample: Sample) -> Score:
        """The score of one sample, of an entry that waits for nothing."""
        try:
            return self._scored(self.compute(sample))
        except Exception as error:  # noqa: BLE001 - sorted below; what is none of ours is raised again
            return _unsaid(error)

    async def scores_at_once(self, samples: Sequence[Sample]) -> list[Score]:
        """The scores of samples, of an entry that waits for a network."""
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(sample: Sample) -> Score:
            async with turns:
                try:
                    return self._scored(await self.compute(sample))
                except Exception as error:  # noqa: BLE001 - as above
                    return _unsaid(error)

        return list(await asyncio.gather(*map(one, samples)))

    def compute(self, sample: Sample) -> Any:
        """What the entry says: a Found or ForJudge; of an entry that waits, that to come."""
        return self.entry.compute(*self._bind(sample), **self._settings)

    def _scored(self, said: Found | ForJudge) -> Score:
        if isinstance(said, ForJudge):
            return Score.unscored(Why.MISSING, NO_MODEL)
        value = said.measures[self._primary]
        return Score(Status.SCORED, value=value, passed=self._passed(value), reason=said.reason, measures=said.measures)


def _unsaid(error: Exception) -> Score:
    """The score of a sample about which the entry said nothing. An error that is none of the entry's is raised."""
    if isinstance(error, Lacking):
        return Score.unscored(Why.MISSING, str(error))
    if isinstance(error, NoVerdict):
        return Score.unscored(Why.UNPARSED, str(error), measures=UNREADABLE)
    if isinstance(error, BadCase):
        return Score.failed(Why.THROWN, str(error))
    if isinstance(error, TimeoutError):
        return Score.failed(Why.TIME, "It takes too long with this text.")
    raise error


# Asking a model


@lru_cache(maxsize=64)
def _worker(config: BuiltinConfig) -> Worker:
    return Worker(config)


async def judged(config: BuiltinConfig, sample: Sample, tools: Tools) -> Score:
    """The score of one sample, by a model where the entry cannot tell by itself."""
    worker = _worker(config)
    try:
        said = worker.compute(sample)
    except Exception as error:  # noqa: BLE001 - as above
        return _unsaid(error)
    if not isinstance(said, ForJudge):
        return worker._scored(said)
    assert tools.chat is not None
    assert config.connection_id is not None
    how, asked = _asked(said)
    ask = Ask(config.connection_id, config.model, asked.messages, schema=asked.schema, nonce=sample.repeat)
    return _with_measures(await judge(ask, how, config.passing, tools.chat))


def _with_measures(score: Score) -> Score:
    if score.status is Status.SCORED:
        assert score.value is not None
        measures = {PASS.name: score.value, FAIL.name: 1 - score.value, UNREAD.name: 0.0}
        return replace(score, label=None, measures=measures)
    return replace(score, measures=UNREADABLE) if score.status is Status.UNSCORED else score


def question(config: BuiltinConfig, sample: Sample) -> Question | None:
    """What a model would be asked about a sample; None where it would not be."""
    try:
        said = _worker(config).compute(sample)
    except (Lacking, NoVerdict, BadCase, TimeoutError):
        return None
    return _asked(said)[1] if isinstance(said, ForJudge) else None


def _asked(said: ForJudge) -> tuple[Manner, Question]:
    prompt = prompts.compile(said.prompt)
    how = manner(prompt.literal, f"Judge by this: {said.criteria}", PASS_OR_FAIL)
    data = said.data
    return how, how.question(prompt.render(Sample(inputs=data["inputs"], outputs=data["outputs"])))
