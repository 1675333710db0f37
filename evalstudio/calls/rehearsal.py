"""The rehearsal: a scripted stand-in for a judge, so that everything can be tried without a key and without a network.

It is no language model. It compares the judged answer with the expected one by surface features (`likeness.py`) and
says so in every reason; of two answers it prefers the one that fares better so. The same messages get the same reply,
and on ERROR_SHARE of all messages, chosen by their hash, the verdict is moved one option away, so that a calibration
against people has an error to find.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalstudio.calls.likeness import compare, factual, findings, helpful
from evalstudio.calls.rehearsed_scale import best_first

ERROR_SHARE = 0.08
EQUAL = re.compile(r"\b(same|equal\w*|tied?|draw|neither|both|no difference)\b", re.I)
ONE_OF_TWO = re.compile(r"\b(?:(?P<compared>comparison|compared|second|other)|baseline|first|original)\b", re.I)
LABEL_WORDS = 6  # at most
DISCLAIMER = "Rehearsal, no language model:"
DECISIVE = 2.0  # how much a better answer is preferred: a quarter more quality settles it
NUMBER_SLIP = 0.25  # how far a verdict without options moves when it errs, on a scale from 0 to 1

DATA = re.compile(r'<data path="(?P<path>[^\n]*?)">\n(?P<value>.*?)\n</data>', re.DOTALL)
OPTION = re.compile(
    r"^[ \t]*(?:[-*][ \t]+)?"
    r"(?:[(\[](?P<bracketed>[A-Z])[)\]]|(?P<marked>[A-Z])[).:]|(?P<bare>[A-Z])(?=[ \t]+[^:\n]{1,100}:))"
    r"[ \t]+(?P<text>\S.*)$",
    re.MULTILINE,
)
JSON_KEYS = re.compile(r'["`]([a-z_]+)["`]')
ABOUT_FACTS = re.compile(
    r"\b(fact|support|contradict|consist|correct|accura|claim|tru[et]|ground|hallucinat|invent)", re.I
)
ABOUT_SERVICE = re.compile(r"\b(satisf|help|polite|friendly|tone|concise|brief|short|complete|write again|happy)", re.I)
SOUNDS_BAD = re.compile(
    r"\b(no|not|none|never|bad|poor|wrong|low|worst|fail\w*|false|incorrect|contradict\w*|unsupported|dissatisf\w*"
    r"|unsatisf\w*|violat\w*|refus\w*|negative|harmful)\b",
    re.I,
)
REASON_KEYS = ("reason", "reasoning", "explanation", "rationale", "analysis", "justification")
LABEL_KEYS = ("label", "verdict", "choice", "answer", "option", "grade", "category")
NUMBER_KEYS = ("score", "value", "percentage", "rating", "number")


@dataclass(frozen=True, slots=True)
class Option:
    letter: str
    text: str

    @property
    def name(self) -> str:
        """What stands before the first colon, or all of it."""
        return self.text.partition(":")[0].strip()

    @property
    def label(self) -> str:
        """How a reply names the option: a whole sentence is its meaning, so its letter is."""
        return self.name if len(self.name.split()) <= LABEL_WORDS else self.letter


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rehearsal thinks: `quality` from 0 (worst) to 1 (best), and `slip` in steps of one option.

    Of two answers the `quality` is from 0 (the baseline is better) to 1 (the other one is).
    """

    quality: float
    slip: int
    reason: str
    compares: bool = False

    def index(self, size: int) -> int:
        """Which of `size` options, 0 being the best; a slip that would leave the scale goes the other way."""
        best = min(size - 1, int((1 - self.quality) * size))
        return best + self.slip if 0 <= best + self.slip < size else best - self.slip if size > 1 else best

    def number(self) -> float:
        moved = self.quality - self.slip * NUMBER_SLIP
        return round(moved if 0 <= moved <= 1 else self.quality + self.slip * NUMBER_SLIP, 2)


def rehearse(messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> str:
    """The text of the reply to an OpenAI-style chat request.

    `messages` are `{"role", "content"}` with content a string or a list of text parts. Values of the case stand in
    them as `<data path="outputs.value">…</data>`. `schema` is a JSON schema that the reply then fulfils. Without one
    the reply takes the form that the messages ask for: JSON with the keys they name, or a reason and on the last line
    the letter of the option or the number.
    """
    instructions = _instructions(messages)
    options = _options(instructions)
    verdict = _judge(messages, instructions)
    if schema is not None:
        return json.dumps(_filled(schema, verdict, options), ensure_ascii=False)
    keys = JSON_KEYS.findall(instructions) if "json" in instructions.casefold() else []
    if keys:
        return json.dumps(_named(keys, verdict, options), ensure_ascii=False)
    return f"{verdict.reason}\n{_chosen(options, verdict).letter if options else verdict.number()}"


def offered(messages: Sequence[Mapping[str, Any]], schema: Mapping[str, Any] | None) -> list[str]:
    """The names that the verdict of a reply is one of; none where it is a number."""
    if schema is not None:
        enums = (inner["enum"] for inner in schema.get("properties", {}).values() if "enum" in inner)
        return [str(name) for name in next(enums, ())]
    options = _options(_instructions(messages))
    return [option.letter for option in options] + [option.label for option in options]


def _instructions(messages: Sequence[Mapping[str, Any]]) -> str:
    return DATA.sub("", "\n\n".join(_content(message) for message in messages))


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


# What is judged


def _judge(messages: Sequence[Mapping[str, Any]], instructions: str) -> Verdict:
    parts = _material(messages)
    answer, compared = "\n".join(parts["outputs"]), "\n".join(parts["comparison"])
    quality, findings = _quality(answer, parts, instructions)
    if not parts["comparison"]:
        return Verdict(quality, slip(messages), f"{DISCLAIMER} {findings}.")
    other, other_findings = _quality(compared, parts, instructions)
    preference = min(1.0, max(0.0, 0.5 + DECISIVE * (other - quality)))
    reason = f"{DISCLAIMER} of the baseline, {findings}; of the comparison, {other_findings}."
    return Verdict(preference, slip(messages), reason, compares=True)


def _quality(answer: str, parts: Mapping[str, Sequence[str]], instructions: str) -> tuple[float, str]:
    """How good an answer is, from 0 to 1, and what was looked at."""
    likeness = compare(answer, "\n".join(parts["expectedOutputs"]), "\n".join(parts[""]))
    facts, service = len(ABOUT_FACTS.findall(instructions)), len(ABOUT_SERVICE.findall(instructions))
    return (factual(likeness) if facts >= service else helpful(likeness, answer)), findings(likeness)


def _material(messages: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The values of the case by root, "" for the rest of it. Without marked data the last message is the answer."""
    parts: dict[str, list[str]] = {"outputs": [], "comparison": [], "expectedOutputs": [], "": []}
    for message in messages:
        for found in DATA.finditer(_content(message)):
            root = re.split(r"[.\[]", found["path"], maxsplit=1)[0]
            parts[root if root in parts else ""].append(found["value"])
    if not any(parts.values()) and messages:
        parts["outputs"].append(_content(messages[-1]))
    if not (parts["outputs"] or parts["comparison"] or parts["expectedOutputs"]):
        parts["outputs"], parts[""] = parts[""], []
    return parts


def slip(messages: Sequence[Mapping[str, Any]]) -> int:
    """By how many options the verdict on these messages errs: 0, or on ERROR_SHARE of all messages 1 or -1."""
    text = "\0".join(_content(message) for message in messages)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    if int.from_bytes(digest[:8], "big") >= ERROR_SHARE * 2**64:
        return 0
    return 1 if digest[8] % 2 else -1


# How it is said


def _options(instructions: str) -> list[Option]:
    """The longest list of option lines lettered A, B, C ... in the instructions."""
    longest: list[Option] = []
    current: list[Option] = []
    for found in OPTION.finditer(instructions):
        letter = found["bracketed"] or found["marked"] or found["bare"]
        if letter == "A":
            current = []
        if letter == chr(ord("A") + len(current)):
            current.append(Option(letter, found["text"]))
            longest = max(longest, current, key=len)
    return list(longest) if len(longest) > 1 else []


def _chosen(options: Sequence[Option], verdict: Verdict) -> Option:
    """The option of this verdict, by what the words of the options say; where they say nothing, the best is first."""
    if verdict.compares and all(meanings := [_meaning(option.text) for option in options]):
        pairs = sorted(zip(meanings, options, strict=True), key=lambda pair: pair[0])
        return pairs[verdict.index(len(options))][1]
    order = best_first([option.text for option in options])
    bad = [bool(SOUNDS_BAD.search(option.name)) for option in options]
    if order == sorted(order) and bad[0] and not bad[-1]:
        order.reverse()
    return options[order[verdict.index(len(options))]]


def _meaning(text: str) -> int:
    """What an option says of two answers: 1 the compared one is better, 2 they are equal, 3 the baseline; 0 unknown."""
    if EQUAL.search(text):
        return 2
    found = ONE_OF_TWO.search(text)
    return (1 if found["compared"] else 3) if found else 0


def _of_enum(values: Sequence[Any], verdict: Verdict, options: Sequence[Option]) -> Any:
    """One of the values; those that are letters or labels of listed options keep the listed order and meaning."""
    listed = [option for option in options if option.letter in values or option.label in values]
    if len(listed) == len(values):
        chosen = _chosen(listed, verdict)
        return chosen.letter if chosen.letter in values else chosen.label
    named = [Option(str(place), str(value)) for place, value in enumerate(values)]
    return values[int(_chosen(named, verdict).letter)]


def _filled(schema: Mapping[str, Any], verdict: Verdict, options: Sequence[Option]) -> Any:
    """A value that fulfils the schema; in an object the reasons come before the verdicts."""
    if "enum" in schema:
        return _of_enum(schema["enum"], verdict, options)
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            reasons_first = sorted(properties, key=lambda name: not _is_prose(properties[name]))
            return {name: _filled(properties[name], verdict, options) for name in reasons_first}
        case "array":
            return [_filled(schema.get("items", {}), verdict, options)]
        case "boolean":
            return verdict.index(2) == 0
        case "number" | "integer" as kind:
            low, high = schema.get("minimum", 0), schema.get("maximum", 1)
            value = low + (high - low) * verdict.number()
            return round(value) if kind == "integer" else round(value, 2)
    return verdict.reason


def _is_prose(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "string" and "enum" not in schema


def _named(keys: Sequence[str], verdict: Verdict, options: Sequence[Option]) -> dict[str, Any]:
    """A reply with the keys that the messages name, reasons first; one of each sort where they name none we know."""
    reasons = [key for key in keys if key in REASON_KEYS] or [REASON_KEYS[0]]
    known = LABEL_KEYS if options else NUMBER_KEYS
    verdicts = [key for key in keys if key in known] or [known[0]]
    said = _chosen(options, verdict).label if options else verdict.number()
    return dict.fromkeys(reasons, verdict.reason) | dict.fromkeys(verdicts, said)
