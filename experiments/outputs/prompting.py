"""A prompt as a system: what is sent about a case, to which model, and how its answer is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import orjson

from evaluators import prompts
from evaluators.core import FieldError, Sample
from evaluators.paths import MissingPath
from evaluators.prompts import Part, PromptError
from experiments.datasets.contents import digest_of

SEES = ("inputs", "metadata")  # of a case: what is expected, and what was answered, is none of the system's business
MOST_TOKENS = 1024  # of an answer, unless told
_FENCED = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*?)\n?```\s*\Z", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Texts:
    """What a prompt says: two templates, of which the first may be empty, and whether its answer is read as JSON."""

    system: str
    user: str
    reads_json: bool = False

    @property
    def templates(self) -> tuple[tuple[str, str], ...]:
        """Role and template of each message."""
        both = (("system", self.system), ("user", self.user))
        return tuple((role, text) for role, text in both if role == "user" or text.strip())

    def rendered(self, sample: Sample) -> list[tuple[str, tuple[Part, ...]]]:
        """Role and pieces of each message about a case. Raises PromptError, MissingPath, RenderError."""
        return [(role, _compiled(text).render(sample).parts) for role, text in self.templates]

    def messages(self, sample: Sample) -> tuple[Mapping[str, str], ...]:
        """What is sent about a case: values stand in it as they are. Raises as above."""
        return tuple(
            {"role": role, "content": "".join(part.text for part in parts)} for role, parts in self.rendered(sample)
        )

    def check(self) -> list[FieldError]:
        """Everything that is wrong with the templates; empty when they may be sent."""
        found = [*_check(self.system, "system_message")] if self.system.strip() else []
        return [*found, *_check(self.user, "user_message")]

    def lacks(self, missing: MissingPath) -> str:
        return f"The prompt reads {missing.path}, which this case does not have."


@dataclass(frozen=True, slots=True)
class Model:
    """Whom to ask, and how. None leaves a parameter to the endpoint."""

    connection_id: int
    name: str
    temperature: float | None = None
    max_tokens: int = MOST_TOKENS
    seed: int | None = None

    @property
    def said(self) -> str:
        """Model and parameters on one line, as far as they were given."""
        told = [
            self.name,
            f"temperature {self.temperature:g}" if self.temperature is not None else "",
            f"{self.max_tokens:,} tokens" if self.max_tokens != MOST_TOKENS else "",
            f"seed {self.seed}" if self.seed is not None else "",
        ]
        return " · ".join(word for word in told if word)


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that makes a system of a prompt: equal ones are one system."""

    texts: Texts
    model: Model

    @property
    def stored(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def digest(self) -> str:
        return digest_of(self.stored)

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Recipe:
        return cls(Texts(**stored["texts"]), Model(**stored["model"]))


def read(text: str, *, as_json: bool) -> tuple[dict[str, Any], str]:
    """The outputs that an answer is, and what is wrong with it, if anything. What is no JSON stays text."""
    if not as_json:
        return {"value": text}, "" if text.strip() else "The model answered nothing."
    fenced = _FENCED.match(text)
    try:
        found = orjson.loads(fenced[1] if fenced else text)
        outputs = found if isinstance(found, dict) else {"value": found}
        digest_of([outputs])  # as deep as it is stored
    except ValueError as error:
        return {"value": text}, f"The answer cannot be read as JSON: {error}"[:500]
    return outputs, ""


def _compiled(text: str) -> prompts.Prompt:
    return prompts.compile(text, sees=SEES)


def _check(text: str, field: str) -> list[FieldError]:
    if not text.strip():
        return [FieldError(field, "Write what is sent about each case, such as {{ inputs.question }}.")]
    try:
        _compiled(text)
    except PromptError as error:
        return [replace(fault, field=field) for fault in error.errors]
    return []
