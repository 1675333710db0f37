"""What a model behind an endpoint refuses, learned from its own complaints. Pure: no network, no Django.

Endpoints that speak the same protocol differ in what they accept. The request is first made in full; a refusal that
names a parameter takes that parameter out, or replaces it by its other name, and the request is made again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from evalstudio.calls.replies import Ask

Structured = Literal["json_schema", "json_object", "text"]
FORMS: tuple[Structured, ...] = ("json_schema", "json_object", "text")  # of a structured reply, strongest first
OTHER_NAME = {"max_tokens": "max_completion_tokens"}
OPTIONAL = ("temperature", "seed", "max_tokens", "response_format", "logprobs", "top_logprobs")
FORMAT_WORDS = r"json[_ ](schema|object|mode)|structured output"
TOO_LONG = re.compile(
    r"context.{0,20}length|context_length|maximum context|too many tokens|too long|too large|at most", re.I
)
REFUSING = re.compile(
    r"not (be )?(support|permit|allow|recogni|accept|implement|available)|unsupported|unrecogni|unknown|unexpected"
    r"|extra|invalid|only|does not|doesn't|cannot|can't|deprecated|must",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Traits:
    """The habits of one model: parameters left out, parameters under another name, best form of structured output."""

    left_out: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    structured: Structured = "json_schema"

    def with_(self, other: Traits) -> Traits:
        """What is refused by either: lessons learned side by side, put together."""
        weakest = max(self.structured, other.structured, key=FORMS.index)
        return Traits(self.left_out | other.left_out, {**self.renamed, **other.renamed}, weakest)

    def stored(self) -> dict[str, Any]:
        """As the columns of a row, and as JSON."""
        return {"left_out": sorted(self.left_out), "renamed": dict(self.renamed), "structured": self.structured}

    def left_out_of(self, ask: Ask) -> tuple[str, ...]:
        """What this request wanted and does without, for the person who reads the run."""
        wanted: dict[str, Any] = {"temperature": ask.temperature, "seed": ask.seed, "max_tokens": ask.max_tokens}
        wanted["logprobs"] = ask.top_logprobs or None
        missing = [name for name, value in wanted.items() if value is not None and name in self.left_out]
        if ask.schema is not None and self.structured != "json_schema":
            missing.append("response_format" if self.structured == "text" else "json_schema")
        return tuple(missing)


@dataclass(frozen=True, slots=True)
class Complaint:
    """A refusal in the endpoint's own words; `param` where it names one."""

    message: str
    param: str | None = None


def body_of(ask: Ask, traits: Traits) -> dict[str, Any]:
    """The request body of a chat completion as this model takes it."""
    body: dict[str, Any] = {"model": ask.model, "messages": list(ask.messages)}
    for name, value in (("temperature", ask.temperature), ("seed", ask.seed), ("max_tokens", ask.max_tokens)):
        if value is not None and name not in traits.left_out:
            body[traits.renamed.get(name, name)] = value
    if ask.top_logprobs and "logprobs" not in traits.left_out:
        body |= {"logprobs": True, "top_logprobs": ask.top_logprobs}
    if ask.schema is not None and traits.structured == "json_schema":
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": dict(ask.schema)},
        }
    elif ask.schema is not None and traits.structured == "json_object":
        body["response_format"] = {"type": "json_object"}
    return body


def learn(traits: Traits, body: Mapping[str, Any], complaint: Complaint) -> Traits | None:
    """The traits that the complaint teaches about the request it answers, or None when it is about something else."""
    if TOO_LONG.search(complaint.message) and "logprobs" not in complaint.message:
        return None
    named = _named(traits, body, complaint)
    if named is None:
        return None
    if named == "response_format":
        return replace(traits, structured=FORMS[FORMS.index(body["response_format"]["type"]) + 1])
    if named in OTHER_NAME and named not in traits.renamed:
        return replace(traits, renamed={**traits.renamed, named: OTHER_NAME[named]})
    return replace(traits, left_out=traits.left_out | {"logprobs" if named == "top_logprobs" else named})


def _named(traits: Traits, body: Mapping[str, Any], complaint: Complaint) -> str | None:
    """Which optional parameter of the request, under its first name, the complaint is about."""
    sent = {name: traits.renamed.get(name, name) for name in OPTIONAL if traits.renamed.get(name, name) in body}
    if complaint.param:
        root = re.split(r"[.\[]", complaint.param)[0]
        found = next((name for name, spelled in sent.items() if spelled == root), None)
        if found:
            return found
    if not REFUSING.search(complaint.message):
        return None
    if "response_format" in sent and re.search(FORMAT_WORDS, complaint.message, re.I):
        return "response_format"
    places = {name: _place(spelled, complaint.message) for name, spelled in sent.items()}
    mentioned = [name for name, place in places.items() if place >= 0]
    return min(mentioned, key=places.__getitem__, default=None)


def _place(word: str, text: str) -> int:
    found = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text)
    return found.start() if found else -1
