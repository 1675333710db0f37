"""The AI judge: a model reads a prompt about the sample and gives a verdict on a scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django import forms

from evalstudio.calls.models import Connection, ModelTraits
from evalstudio.calls.replies import Ask
from evalstudio.projects.models import Project
from evalstudio.web.foreign import id_in, is_storable
from evaluators import prompts, scoring
from evaluators.asking import LettersDiffer, Manner, Question, judge, manner
from evaluators.core import COMPARISON, FLIPPED, RESULT, FieldError, Measure, Needs, Sample, Score, Why
from evaluators.kinds.base import BadConfig, Stored
from evaluators.kinds.forms import Typed, as_number
from evaluators.kinds.scored import ScoredForm, blank_scale, check_scale
from evaluators.models import EvaluatorVersion
from evaluators.paths import MissingPath
from evaluators.prompts import Prompt, PromptError, RenderError
from evaluators.scoring import Passing, Scoring
from evaluators.tools import Tools

MOST_TOKENS = 100_000
MOST_GUIDE = 20_000
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
        return (FLIPPED,) if self.needs(config).calls == 2 else ()

    def check(self, config: JudgeConfig) -> list[FieldError]:
        errors = [*_check_prompt(config), *check_scale(config)]
        if config.connection_id is None or not config.model.strip():
            errors.append(FieldError("model", "Choose a model."))
        if len(config.guide) > MOST_GUIDE:
            errors.append(FieldError("guide", f"A guide has at most {MOST_GUIDE:,} characters."))
        return errors

    def paths(self, config: JudgeConfig) -> tuple[str, ...]:
        return prompts.compile(config.prompt).paths

    def message(self, config: JudgeConfig, sample: Sample) -> Question | None:
        try:
            prompt, how = _ready(config)
            return how.question(prompt.render(sample))
        except (PromptError, LettersDiffer, MissingPath, RenderError):
            return None

    async def one(self, config: JudgeConfig, sample: Sample, tools: Tools) -> Score:
        """The model's verdict; unscored where the case lacks a path of the prompt or the reply says none."""
        try:
            prompt, how = _ready(config)
            question = how.question(prompt.render(sample))
        except MissingPath as missing:
            return Score.unscored(Why.MISSING, f"The prompt reads {missing.path}, which this case does not have.")
        except (PromptError, LettersDiffer, RenderError) as error:
            return Score.failed(Why.TEMPLATE, _placed(error))
        assert tools.chat is not None
        assert config.connection_id is not None
        ask = Ask(
            config.connection_id,
            config.model,
            question.messages,
            temperature=config.temperature,
            max_tokens=config.max_tokens,
            seed=config.seed,
            schema=question.schema,
            nonce=sample.repeat,
        )
        return await judge(ask, how, config.passing, tools.chat)


@lru_cache(maxsize=64)
def _ready(config: JudgeConfig) -> tuple[Prompt, Manner]:
    """The compiled prompt and the manner of asking. Raises PromptError and LettersDiffer."""
    prompt = prompts.compile(config.prompt)
    return prompt, manner(prompt.literal, config.guide, config.scoring)


def _check_prompt(config: JudgeConfig) -> list[FieldError]:
    try:
        prompt = prompts.compile(config.prompt)
        if not scoring.check(config.scoring):
            manner(prompt.literal, config.guide, config.scoring)
    except PromptError as error:
        return list(error.errors)
    except LettersDiffer as error:
        return [FieldError("prompt", str(error))]
    return []


def _placed(error: Exception) -> str:
    line = getattr(error, "line", None)
    return f"Line {line} of the prompt: {error}" if line else str(error)


class ModelField(forms.ChoiceField):
    """A model behind a connection of the project, as "3:gpt-4o-mini", cleaned to (3, "gpt-4o-mini")."""

    def offer(self, project: Project) -> None:
        """List the models of the project's connections: their defaults, those met before, those in use."""
        connections = {
            connection.pk: connection
            for connection in Connection.objects.filter(project=project, archived_at=None).order_by("name")
        }
        met = ModelTraits.objects.filter(connection__in=connections).values_list("connection_id", "model")
        used = EvaluatorVersion.objects.filter(evaluator__project=project, evaluator__kind=Judge.key)
        used_pairs = used.order_by().values_list("config__connection_id", "config__model").distinct()
        defaults = [(pk, connection.model) for pk, connection in connections.items()]
        pairs = dict.fromkeys([*defaults, *sorted({*met, *(pair for pair in used_pairs if pair[0] in connections)})])
        self.choices = [(model_choice(pk, model), f"{model} · {connections[pk].name}") for pk, model in pairs if model]
        self._connection_ids = frozenset(connections)

    def valid_value(self, value: str) -> bool:
        connection, _, model = str(value).partition(":")
        return id_in(connection) in self._connection_ids and 0 < len(model.strip()) <= 200 and is_storable(model)

    def clean(self, value: Any) -> tuple[int, str]:
        connection, _, model = super().clean(value).partition(":")
        return int(connection), model.strip()


def model_choice(connection_id: int | None, model: str) -> str:
    """The value of a choice of model; empty where none is chosen."""
    return "" if connection_id is None else f"{connection_id}:{model}"


class JudgeForm(ScoredForm):
    """The settings of a judge as people type them."""

    kind = Judge()
    blanks = ScoredForm.blanks | {"model": (None, "")}
    field_order = ("prompt", "model", "guide")

    prompt = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 14, "data-editor": "prompt"}), strip=False, required=False
    )
    model = ModelField(
        error_messages={
            "required": "Choose a model.",
            "invalid_choice": "This model's connection is not in this project any more. Choose another.",
        }
    )
    guide = forms.CharField(
        label="Reasoning guide", widget=forms.Textarea(attrs={"rows": 3}), strip=False, required=False
    )
    temperature = forms.FloatField(min_value=0, max_value=2, initial=0, required=False)
    max_tokens = forms.IntegerField(min_value=1, max_value=MOST_TOKENS, initial=1024, required=False)
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, required=False)

    def __init__(self, data: Any = None, *, project: Project, **more: Any) -> None:
        super().__init__(data, project=project, **more)
        self.fields["model"].offer(project)  # type: ignore[attr-defined]

    def own_config(self) -> Stored:
        cleaned = self.cleaned_data
        connection_id, model = cleaned["model"]
        return {
            "prompt": _unix(cleaned["prompt"]),
            "guide": _unix(cleaned["guide"]).strip(),
            "connection_id": connection_id,
            "model": model,
            "temperature": 0.0 if cleaned["temperature"] is None else cleaned["temperature"],
            "max_tokens": cleaned["max_tokens"] or 1024,
            "seed": cleaned["seed"],
            **SINCE_2,
        }

    @classmethod
    def own_typed(cls, config: Mapping[str, Any]) -> Typed:
        return {
            "prompt": [str(config["prompt"])],
            "guide": [str(config["guide"])],
            "model": [model_choice(config["connection_id"], config["model"])],
            "temperature": [as_number(config["temperature"])],
            "max_tokens": [str(config["max_tokens"])],
            "seed": ["" if config["seed"] is None else str(config["seed"])],
        }


def _unix(text: str) -> str:
    """Text with the line ends of the house; browsers send CRLF."""
    return text.replace("\r\n", "\n")
