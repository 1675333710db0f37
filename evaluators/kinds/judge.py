"""The AI judge: a model reads a prompt about the sample and gives a verdict on a scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from evalstudio.calls.replies import Ask
from evaluators import prompts, scoring
from evaluators.asking import judge
from evaluators.core import (
    AS_GIVEN,
    COMPARISON,
    FLIPPED,
    RESULT,
    FieldError,
    Measure,
    Needs,
    Sample,
    Score,
    Status,
    Why,
)
from evaluators.framing import LettersDiffer, Manner, Question, manner
from evaluators.images import NoImage, images_of, with_images
from evaluators.kinds.base import BadConfig, Stored
from evaluators.kinds.scored import blank_scale
from evaluators.orders import in_both
from evaluators.paths import MissingPath
from evaluators.prompts import Prompt, PromptError, RenderError
from evaluators.scoring import EnumScoring, Passing, Scoring
from evaluators.tools import Tools
from evaluators.weighing import WEIGHED

if TYPE_CHECKING:
    from evaluators.kinds.judge_form import JudgeForm

TOP_LOGPROBS = 5  # the most that every endpoint with probabilities gives
SINCE_2: Stored = {"both_orders": True, "weighted": False, "variables": [], "images": []}


@dataclass(frozen=True, slots=True)
class JudgeConfig:
    """A judge's settings: the prompt, a guide to reasoning, the model behind a connection, and the scale."""

    prompt: str
    guide: str
    connection_id: int | None
    model: str
    scoring: Scoring
    passing: Passing
    temperature: float = 0.0
    max_tokens: int = 1024
    seed: int | None = None
    runs_on: str = RESULT
    both_orders: bool = True
    weighted: bool = False
    variables: tuple[tuple[str, str], ...] = ()  # (name, path)
    images: tuple[str, ...] = ()  # paths
    scale: tuple[str, str] = ("", "")  # name and description of the scale, where it is one of the project

    @property
    def compares(self) -> bool:
        return self.runs_on == COMPARISON

    @property
    def weighs(self) -> bool:
        """Whether the probabilities of the options count; a number has no options."""
        return self.weighted and isinstance(self.scoring, EnumScoring)

    @property
    def prompt_read(self) -> Prompt:
        """The prompt, ready to be rendered. Raises PromptError."""
        return prompts.compile(self.prompt, self.compares, self.variables)

    def manner(self, literal: str) -> Manner:
        """How it asks, with a prompt whose own text is `literal`. Raises LettersDiffer."""
        return manner(
            literal,
            self.guide,
            self.scoring,
            scale=self.scale,
            compares=self.compares,
            direction=self.passing.direction,
        )


class Judge:
    """A calling kind."""

    key = "judge"
    title = "AI judge"
    summary = "A model reads what you show it and answers on your scale, with its reasons."
    icon = "judge"
    schema = 2
    can_compare = True

    @property
    def form(self) -> type[JudgeForm]:
        from evaluators.kinds.judge_form import JudgeForm

        return JudgeForm

    def blank(self) -> Stored:
        return {
            "prompt": "",
            "guide": "",
            "connection_id": None,
            "model": "",
            "temperature": 0.0,
            "max_tokens": 1024,
            "seed": None,
            **SINCE_2,
            **blank_scale(),
        }

    def upgraded(self, stored: Mapping[str, Any], schema: int) -> Stored:
        if not 1 <= schema <= self.schema:
            raise BadConfig(f"There is no schema {schema} of this kind.")
        return {"scale": None, "runs_on": RESULT, **SINCE_2, **stored}

    def load(self, stored: Mapping[str, Any], schema: int) -> JudgeConfig:
        config = self.upgraded(stored, schema)
        try:
            return JudgeConfig(
                prompt=config["prompt"],
                guide=config["guide"],
                connection_id=config["connection_id"],
                model=config["model"],
                scoring=scoring.read(config["scoring"]),
                passing=Passing(config["threshold"], config["direction"]),
                temperature=config["temperature"],
                max_tokens=config["max_tokens"],
                seed=config["seed"],
                runs_on=config["runs_on"],
                both_orders=config["both_orders"],
                weighted=config["weighted"],
                variables=tuple((str(one["name"]), str(one["path"])) for one in config["variables"]),
                images=tuple(map(str, config["images"])),
                scale=(config["scale"]["name"], config["scale"]["description"]) if config["scale"] else ("", ""),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadConfig(f"This is not the configuration of a judge: {error!r}.") from error

    def needs(self, config: JudgeConfig) -> Needs:
        compares = config.runs_on == COMPARISON
        return Needs("net", config.connection_id, compares, calls=2 if compares and config.both_orders else 1)

    def measures(self, config: JudgeConfig) -> tuple[Measure, ...]:
        orders = (FLIPPED, AS_GIVEN) if self.needs(config).calls == 2 else ()
        return (*orders, WEIGHED) if config.weighs else orders

    def check(self, config: JudgeConfig) -> list[FieldError]:
        from evaluators.kinds.judge_checks import check

        return check(config)

    def paths(self, config: JudgeConfig) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*config.prompt_read.paths, *config.images)))

    def message(self, config: JudgeConfig, sample: Sample) -> Question | None:
        try:
            return _question(config, sample)
        except (PromptError, LettersDiffer, MissingPath, RenderError):
            return None

    async def one(self, config: JudgeConfig, sample: Sample, tools: Tools) -> Score:
        """The model's verdict; unscored where the case lacks a path of the prompt or the reply says none.

        Where two outputs are compared in both orders, both are asked, one after the other.
        """
        try:
            question = _question(config, sample)
            asks = [await _ask(config, each, sample.repeat) for each in (question, question.exchanged) if each]
        except MissingPath as missing:
            return Score.unscored(Why.MISSING, config.prompt_read.lacks(missing))
        except NoImage as error:
            return Score.unscored(Why.MISSING, str(error))
        except (PromptError, LettersDiffer, RenderError) as error:
            return Score.failed(Why.TEMPLATE, _placed(error))
        assert tools.chat is not None
        _, how = _ready(config)
        score = await judge(asks[0], how, config.passing, tools.chat)
        if len(asks) == 1 or score.status is not Status.SCORED:
            return score
        if asks[0] == asks[1]:  # two equal outputs: the same question, so the same reply
            return in_both(score, replace(score, replies=(), latency_ms=None), config.passing)
        return in_both(score, await judge(asks[1], how, config.passing, tools.chat), config.passing)


@lru_cache(maxsize=64)
def _ready(config: JudgeConfig) -> tuple[Prompt, Manner]:
    """The compiled prompt and the manner of asking. Raises PromptError and LettersDiffer."""
    return config.prompt_read, config.manner(config.prompt_read.literal)


def _question(config: JudgeConfig, sample: Sample) -> Question:
    """What is asked about a sample. Raises PromptError, LettersDiffer, MissingPath and RenderError."""
    if config.compares and sample.comparison is None:
        raise MissingPath(COMPARISON)
    question = _one_order(config, sample)
    if not (config.compares and config.both_orders):
        return question
    exchanged = _one_order(config, sample.exchanged())
    return replace(question, exchanged=replace(exchanged, parts=tuple(part.turned for part in exchanged.parts)))


def _one_order(config: JudgeConfig, sample: Sample) -> Question:
    prompt, how = _ready(config)
    return how.question(prompt.render(sample), images_of(sample, config.images, compares=config.compares))


async def _ask(config: JudgeConfig, question: Question, repeat: int) -> Ask:
    """The request of a question. Raises NoImage."""
    assert config.connection_id is not None
    return Ask(
        config.connection_id,
        config.model,
        await with_images(question.messages, question.images, config.connection_id),
        temperature=config.temperature,
        max_tokens=config.max_tokens,
        seed=config.seed,
        schema=question.schema,
        nonce=repeat,
        top_logprobs=TOP_LOGPROBS if config.weighs else 0,
    )


def _placed(error: Exception) -> str:
    line = getattr(error, "line", None)
    return f"Line {line} of the prompt: {error}" if line else str(error)
