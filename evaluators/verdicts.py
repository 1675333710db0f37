"""Reading a judge's reply: a JSON object, or a reason with the verdict alone on the last line. Nothing is guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from evaluators.core import Why
from evaluators.scoring import EnumScoring, OffScale, Option, PercentageScoring, Scoring

REASON_KEYS = ("reason", "justification", "explanation", "reasoning")
LABEL_KEYS = ("label", "verdict")
VERDICT_KEYS = (*LABEL_KEYS, "score")
MOST_REASON = 20_000
MOST_LABEL = 500  # characters of what is said in place of a label
MOST_LOOKS = 50  # for objects in a reply that is none: each costs as much as the reply is long

_THINKING = re.compile(r"^\s*<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
# Its beginning is often part of what the model was sent, so that only its end arrives.
_UNOPENED_THINKING = re.compile(r"^(?!\s*[{`]).*?</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_LEAD_IN = re.compile(r"^(?:final answer|answer|choice)\s*(?::|-(?![.\d]))\s*", re.IGNORECASE)
_AROUND = " \t\r()[]{}<>*_\"'`“”‘’«»"  # what may stand around a verdict besides full stops
_NUMBER = re.compile(r"([-−]?(?:\d+(?:\.\d+)?|\.\d+))\s*(%?)")
_NEGATION = re.compile(r"\b(?:not|no|never|nor|neither|hardly|cannot|un|non|\w+n['’]t)\b", re.IGNORECASE)
_REFUSAL = re.compile(
    r"^\W*(?:(?:i['’]m|i am) (?:very |really )?(?:sorry|unable|not able|not comfortable)|sorry\b|as an ai\b"
    r"|i can(?:not|['’]?t)\b|i (?:will not|won['’]t|must decline|have to decline))",
    re.IGNORECASE,
)


class ReplyForm(StrEnum):
    """How a judge is asked to reply."""

    JSON = "json"  # {"reason": …, "label": …} or {"reason": …, "score": …}
    LAST_LINE = "last line"  # the reason, then the verdict alone on the last line


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a reply says: a score in [0, 1], the option's label where there are options, and the reason."""

    value: float
    label: str | None
    reason: str


class Unreadable(Exception):
    """The reply holds no verdict, or none that was offered; the message is a sentence that says what was found."""

    def __init__(self, why: Why, message: str) -> None:
        super().__init__(message)
        self.why = why


def read(
    text: str,
    scoring: Scoring,
    form: ReplyForm,
    letters: Mapping[str, Option] | None = None,
    finish_reason: str = "",
) -> Verdict:
    """The verdict in the text of a reply. `letters` are the options by the letters they were offered under.

    Raises Unreadable. A reply in the other form is read too where nothing in it could be mistaken.
    """
    said = _without_thinking(text)
    try:
        if finish_reason == "length" and not said.endswith(("}", "```")):
            raise Unreadable(Why.UNPARSED, "The reply is not finished.")
        is_object = "{" in said if form is ReplyForm.JSON else said.startswith(("{", "```"))
        reader = _read_json if is_object else _read_last_line
        return reader(said, scoring, letters or {})
    except OffScale as error:
        raise Unreadable(Why.OFF_SCALE, str(error)) from None
    except Unreadable as error:
        raise _explained(error, said, finish_reason) from None


def _explained(error: Unreadable, said: str, finish_reason: str) -> Unreadable:
    """The same, or what lies behind it: a reply that was cut off, or a model that declines."""
    if finish_reason == "length":
        return Unreadable(Why.UNPARSED, "The reply was cut off before the verdict; allow it more tokens.")
    if finish_reason == "content_filter" or _REFUSAL.search(said):
        return Unreadable(Why.REFUSED, "The model declined to judge.")
    return error


def _without_thinking(text: str) -> str:
    """The reply without the thinking that some models put before it."""
    text = _THINKING.sub("", text, count=1)
    return _UNOPENED_THINKING.sub("", text, count=1).strip()


# JSON


def _read_json(said: str, scoring: Scoring, letters: Mapping[str, Option]) -> Verdict:
    return _of_object(_object(said), scoring, letters)


def _object(said: str) -> dict[str, Any]:
    """The one JSON object of the reply: the fenced block it ends with, or everything from the first { to the last }."""
    blocks = list(_FENCED.finditer(said))
    if len(blocks) == 1 and blocks[0].end() == len(said):
        text = blocks[0][1]
    else:
        end = said.rfind("}")
        start = said.find("{")
        text = said[start : end + 1] if end > start else said[start:] + "}"
    try:
        found = _STRICT.decode(text)
    except (ValueError, RecursionError):
        raise Unreadable(Why.UNPARSED, _what_is_wrong(said)) from None
    if not isinstance(found, dict):
        raise Unreadable(Why.UNPARSED, "The reply is no JSON object.")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs) and any([key for key, _ in pairs].count(verdict) > 1 for verdict in VERDICT_KEYS):
        raise ValueError("several verdicts")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_STRICT = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant, strict=False)
_LOOSE = json.JSONDecoder(strict=False)


def _what_is_wrong(said: str) -> str:
    objects, at = 0, said.find("{")
    for _ in range(MOST_LOOKS):
        if at < 0 or objects == 2:
            break
        try:
            _, end = _LOOSE.raw_decode(said, at)
        except (ValueError, RecursionError):
            at = said.find("{", at + 1)
        else:
            objects += 1
            at = said.find("{", end)
    return "The reply holds several JSON objects." if objects > 1 else "The reply is not valid JSON."


def _of_object(found: Mapping[str, Any], scoring: Scoring, letters: Mapping[str, Option]) -> Verdict:
    reason = next((text for key in REASON_KEYS if isinstance(text := found.get(key), str)), "").strip()[:MOST_REASON]
    if isinstance(scoring, PercentageScoring):
        if "score" not in found:
            raise Unreadable(Why.UNPARSED, "The reply has no “score”.")
        return Verdict(scoring.value(found["score"]), None, reason)
    label = next((found[key] for key in LABEL_KEYS if key in found), None)
    if not isinstance(label, str):
        raise Unreadable(Why.UNPARSED, "The reply has no “label”, or one that is no text.")
    try:
        option = _option(label, scoring, letters)
    except OffScale:
        option = _only_option_in(label, scoring)
    return Verdict(option.value, option.label, reason)


def _only_option_in(said: str, scoring: EnumScoring) -> Option:
    """The option whose label is the only one among the words that were said: MEDIUM in "It is MEDIUM".

    A single letter is too often a word, and "not MEDIUM" says something else. Raises OffScale.
    """
    labels = sorted((label for label in scoring.labels if len(label) > 1), key=len, reverse=True)
    if not labels or len(said) > MOST_LABEL:
        return scoring.option(said)
    words = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, labels))})(?!\w)", re.IGNORECASE)
    plain = " ".join(said.split())
    found = {label.casefold() for label in words.findall(plain)}
    if len(found) > 1:
        raise OffScale(f"“{plain}” names several of the options {', '.join(scoring.labels)}.")
    if not found or _NEGATION.search(words.sub("", plain)):
        return scoring.option(said)
    return scoring.option(found.pop())


# The last line


def _read_last_line(said: str, scoring: Scoring, letters: Mapping[str, Option]) -> Verdict:
    before, _, last = said.rpartition("\n")
    reason = before.strip()[:MOST_REASON]
    if last.lstrip().startswith("{"):
        return replace(_read_json(last, scoring, letters), reason=reason)
    line = _LEAD_IN.sub("", last.strip(_AROUND)).strip(_AROUND)
    if isinstance(scoring, PercentageScoring):
        return Verdict(scoring.value(_number(line.rstrip("." + _AROUND), scoring)), None, reason)
    try:
        option = _option(line, scoring, letters)
    except OffScale:
        if re.fullmatch("[A-Za-z]", line.strip("." + _AROUND)):
            raise
        raise Unreadable(Why.UNPARSED, "The last line of the reply is none of the options.") from None
    return Verdict(option.value, option.label, reason)


def _number(line: str, scoring: PercentageScoring) -> float:
    """The number on the line. Per cent are of the highest number, and mean nothing where the lowest is not 0."""
    found = _NUMBER.fullmatch(line)
    if not found or (found[2] and scoring.low != 0):
        raise Unreadable(Why.UNPARSED, "The last line of the reply is no number of the scale.")
    number = float(found[1].replace("−", "-"))
    return number * scoring.high / 100 if found[2] else number


def _option(said: str, scoring: EnumScoring, letters: Mapping[str, Option]) -> Option:
    """The option of this label, or of the letter that it was offered under. Raises OffScale."""
    bare = said.strip("." + _AROUND)
    for label in (said, bare):
        try:
            return scoring.option(label)
        except OffScale:
            continue
    if bare.upper() in letters:
        return letters[bare.upper()]
    return scoring.option(said)
