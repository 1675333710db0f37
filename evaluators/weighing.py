"""Scores by probability: instead of the chosen option's value, the mean of all options' by how likely each was.

The decisive token is the one with which the verdict begins: the letter or label on the last line, or the label in the
JSON. What else might have stood in its place, and begins an option as well, shares the score with it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final

from evalstudio.calls.replies import Token
from evaluators.core import Measure
from evaluators.scoring import EnumScoring, Option, Scoring
from evaluators.verdicts import Verdict

WEIGHED: Final = Measure("weighed", "Weighed by probabilities")  # 1, or 0 where the plain option counts
PLAIN: Final = "(There are no probabilities that tell the options apart, so the chosen one counts.)"

_LABEL = re.compile(r'"label"\s*:\s*"')
_AROUND = " \t\r\n()[]{}<>*_\"'`“”‘’«»:"  # what a token may hold before the beginning of a verdict


def weigh(verdict: Verdict, tokens: Sequence[Token], scoring: Scoring, letters: Mapping[str, Option]) -> float | None:
    """The value of the verdict, weighed; None where there are no probabilities, or where they say nothing.

    They say nothing where two options begin with the decisive token. What begins no option is left out, and the rest
    adds up to one.
    """
    if not isinstance(scoring, EnumScoring) or not tokens:
        return None
    names_by_option = ({option.label: option for option in scoring.options}, letters)
    for names in names_by_option:
        own = next((name for name, option in names.items() if option.label == verdict.label), None)
        if own is not None and (decisive := _decisive(tokens, own)):
            return _mean(*decisive, names, own)
    return None


def _decisive(tokens: Sequence[Token], name: str) -> tuple[Token, int] | None:
    """The token in which the verdict, spelled as this name, begins, and where in the token."""
    text = "".join(token.text for token in tokens)
    start = _verdict_start(text)
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
    found = word.search(text, start)
    if found is None:
        return None
    end = 0
    for token in tokens:
        begin, end = end, end + len(token.text)
        if found.start() < end:
            return token, found.start() - begin
    return None


def _verdict_start(text: str) -> int:
    """Where the verdict is to be looked for: after the last "label" of JSON, otherwise on the last line."""
    said = text.rstrip()
    if said.rstrip("`").rstrip().endswith("}"):
        return max((found.end() for found in _LABEL.finditer(said)), default=len(text))
    return said.rfind("\n") + 1


def _mean(token: Token, at: int, names: Mapping[str, Option], own: str) -> float | None:
    chances: dict[str, float] = {}
    for text, logprob in {**dict(token.likeliest), token.text: token.logprob}.items():
        begun = _begun(text, at if text == token.text else 0, names)
        if text == token.text and begun != [own]:
            return None
        if len(begun) == 1:
            chances[begun[0]] = chances.get(begun[0], 0.0) + math.exp(logprob)
    total = sum(chances.values())
    return math.fsum(chance * names[name].value for name, chance in chances.items()) / total


def _begun(text: str, at: int, names: Mapping[str, Option]) -> list[str]:
    """The names that a token begins, or holds whole."""
    said = text[at:].lstrip(_AROUND).casefold()
    return [name for name in names if _begins(said, name.casefold())]


def _begins(said: str, name: str) -> bool:
    beginning = said.rstrip(_AROUND + ".,")
    return (bool(beginning) and name.startswith(beginning)) or re.match(rf"{re.escape(name)}(?!\w)", said) is not None
