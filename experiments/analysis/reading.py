"""Inputs, outputs and steps as people read them: named texts, code where it is code, tool calls and steps apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from experiments.analysis.wording import Piece, Stretch, marked, merged

TOOL_CALLS = "toolCalls"
WRITTEN_OUT = "data:image/"
LONG = 320  # characters; what stands beside the question is folded away from here on
NOTE = 140  # characters of what a step was given and what it gave


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Part:
    """One named piece of a value: a text, JSON, or the turns of a conversation. `name` is empty for a lone piece."""

    name: str
    text: str
    is_code: bool = False
    turns: tuple[Turn, ...] = ()
    pieces: tuple[Piece, ...] = ()  # the text in stretches, where its differences from another one are marked
    stretches: tuple[Stretch, ...] = ()  # two texts as one

    @property
    def is_long(self) -> bool:
        return len(self.text) > LONG

    @property
    def is_short(self) -> bool:
        """Whether it fits on a line beside its name."""
        return len(self.text) <= 60 and "\n" not in self.text and not self.turns


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a trace. `width` is its share of the longest one, as a length of a bar."""

    name: str
    note: str
    latency_ms: float | None
    details: str
    width: str


def parts(value: Any) -> list[Part]:
    """A value as named pieces, nested objects under dotted names; tool calls are left to `tool_calls`.

    Pictures that are written out come last: the first piece is what a page shows most of, and databases keep no order.
    """
    if value is None or value == {}:
        return []
    if not isinstance(value, dict):
        return [_part("", value)]
    named = {name: inner for name, inner in value.items() if name != TOOL_CALLS}
    if list(named) == ["value"]:
        return [_part("", named["value"])]
    return sorted(_flat(named, ""), key=lambda part: part.text.startswith(WRITTEN_OUT))


def marked_parts(one: Any, other: Any) -> tuple[list[Part], list[Part]]:
    """Two values as named pieces; where both have a text under a name, its differences are marked."""
    mine, theirs = parts(one), parts(other)
    for at, part in enumerate(mine):
        there = next((n for n, each in enumerate(theirs) if each.name == part.name), None)
        if there is None or not (found := marked(part.text, theirs[there].text)):
            continue
        mine[at] = replace(part, pieces=tuple(found[0]))
        theirs[there] = replace(theirs[there], pieces=tuple(found[1]))
    return mine, theirs


def merged_parts(old: Any, new: Any) -> list[Part]:
    """Two values as the named pieces of either, each with the text of both in one."""
    before, after = ({part.name: part for part in parts(value)} for value in (old, new))
    found = []
    for name in [*before, *(name for name in after if name not in before)]:
        one, other = before.get(name), after.get(name)
        stretches = merged(_text_of(one), _text_of(other))
        found.append(Part(name, "", is_code=(one or other).is_code, stretches=tuple(stretches)))  # type: ignore[union-attr]
    return found


def _text_of(part: Part | None) -> str:
    if part is None:
        return ""
    return "\n".join(f"{turn.role}: {turn.text}" for turn in part.turns) if part.turns else part.text


def _flat(value: dict[str, Any], under: str) -> Iterator[Part]:
    for name, inner in value.items():
        if isinstance(inner, dict) and inner and not under:
            yield from _flat(inner, f"{name}.")
        else:
            yield _part(f"{under}{name}", inner)


def tool_calls(value: Any) -> list[Part]:
    """The tool calls of an output or of an expected output: name and arguments."""
    calls = value.get(TOOL_CALLS) if isinstance(value, dict) else None
    if not isinstance(calls, list):
        return [_part("", calls)] if calls else []
    return [
        Part(str(call.get("name", "call")), pretty(call.get("arguments", {})), is_code=True)
        if isinstance(call, dict)
        else _part("", call)
        for call in calls
    ]


def steps(value: Any) -> list[Step]:
    """The steps of an output, whatever shape its pipeline gave them."""
    if not isinstance(value, list):
        return []
    longest = max((_latency(step) or 0.0 for step in value), default=0.0)
    return [_step(number, step, longest) for number, step in enumerate(value, 1)]


def _step(number: int, step: Any, longest: float) -> Step:
    latency = _latency(step)
    width = f"{100 * latency / longest:.1f}%" if latency and longest else "0%"
    if not isinstance(step, dict):
        return Step(f"step {number}", _brief(step), None, pretty(step), width)
    rest = {name: inner for name, inner in step.items() if name not in ("name", "latency_ms")}
    said = [_brief(inner) for inner in rest.values() if inner not in (None, {}, [], "")]
    name = str(step.get("name") or f"step {number}")
    return Step(name, " → ".join(said)[: NOTE * 2], latency, pretty(rest) if rest else "", width)


def _latency(step: Any) -> float | None:
    latency = step.get("latency_ms") if isinstance(step, dict) else None
    return float(latency) if isinstance(latency, int | float) and not isinstance(latency, bool) else None


def _brief(value: Any) -> str:
    """A value on one line: "query cancel contract, language en"."""
    if isinstance(value, dict):
        text = ", ".join(f"{name} {_brief(inner)}" for name, inner in value.items())
    elif isinstance(value, list):
        text = ", ".join(_brief(inner) for inner in value[:5]) + (" …" if len(value) > 5 else "")
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return line if len(line) <= NOTE else line[: NOTE - 1] + "…"


def brief_address(text: str) -> str:
    """A text as it is; of a picture that is written out, which nobody can read, only how it begins."""
    written_out = text.startswith(WRITTEN_OUT) and len(text) > LONG
    return f"{text[:60]}… ({len(text):,} characters)" if written_out else text


def _part(name: str, value: Any) -> Part:
    if isinstance(value, str):
        return Part(name, brief_address(value))
    turns = _turns(value)
    return Part(name, "", turns=turns) if turns else Part(name, pretty(value), is_code=isinstance(value, dict | list))


def _turns(value: Any) -> tuple[Turn, ...]:
    """A list of messages with role and content as a conversation; empty for anything else."""
    if not isinstance(value, list):
        return ()
    found = [
        Turn(str(each["role"]), each["content"] if isinstance(each["content"], str) else pretty(each["content"]))
        for each in value
        if isinstance(each, dict) and "role" in each and "content" in each
    ]
    return tuple(found) if len(found) == len(value) else ()


def pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
