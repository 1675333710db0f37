"""Conditions over a text: `("Rio" OR "rio") AND regexp("15,?969") AND NOT "Real"`.

Operands are "a text", which must occur as it stands, and regexp("a pattern"). NOT binds most, then AND, then OR.
Within quotes only \\" is an escape.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from evaluators.catalogue.parameters import BadSetting
from evaluators.catalogue.patterns import Pattern

MOST_CHARACTERS: Final = 20_000
MOST_DEPTH: Final = 50
MOST_PATTERNS: Final = 20
_TOKEN = re.compile(r'\s*(?:(?P<mark>[()])|"(?P<text>(?:[^"\\]|\\"|\\(?!"))*)"|(?P<word>[A-Za-z]\w*))')
Holds = Callable[[str], bool]


class BadCondition(ValueError):
    """The text is no condition; the message says where."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A text or a pattern that a condition asks for."""

    words: str
    holds: Holds


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that was read: `holds` of a text or not; it raises TimeoutError."""

    holds: Holds
    operands: tuple[Operand, ...]

    def explained(self, text: str) -> str:
        """Which of the operands occur in the text."""
        return "\n".join(f"{one.words} {'occurs' if one.holds(text) else 'does not occur'}." for one in self.operands)


@lru_cache(maxsize=512)
def condition_of(text: str) -> Condition:
    """The condition that the text spells. Raises BadCondition."""
    if len(text) > MOST_CHARACTERS:
        raise BadCondition(f"A condition has at most {MOST_CHARACTERS:,} characters.")
    return _Parser(text).condition()


class _Parser:
    """Recursive descent, one method for each level of binding."""

    def __init__(self, text: str) -> None:
        self._text = text.rstrip()
        self._tokens = list(self._split())
        self._at = 0
        self._depth = 0
        self._operands: list[Operand] = []
        self._patterns = 0

    def _split(self) -> Iterator[tuple[str, str, int]]:
        """(kind, what it says, where it ends) of each token."""
        at = 0
        while at < len(self._text):
            token = _TOKEN.match(self._text, at)
            if not token:
                raise BadCondition(f"At character {at + 1}: expected a text in quotes, regexp(…), or a parenthesis.")
            at = token.end()
            yield str(token.lastgroup), token[token.lastgroup or 0], token.start(token.lastgroup or 0) + 1

    def condition(self) -> Condition:
        if not self._tokens:
            raise BadCondition("The condition is empty.")
        holds = self._either()
        if self._at < len(self._tokens):
            raise self._unexpected("AND, OR or the end")
        return Condition(holds, tuple(self._operands))

    def _either(self) -> Holds:
        parts = [self._both()]
        while self._takes("word", "OR"):
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else lambda text: any(holds(text) for holds in parts)

    def _both(self) -> Holds:
        parts = [self._negated()]
        while self._takes("word", "AND"):
            parts.append(self._negated())
        return parts[0] if len(parts) == 1 else lambda text: all(holds(text) for holds in parts)

    def _negated(self) -> Holds:
        is_negated = False
        while self._takes("word", "NOT"):
            is_negated = not is_negated
        holds = self._operand()
        return (lambda text: not holds(text)) if is_negated else holds

    def _operand(self) -> Holds:
        if self._takes("mark", "("):
            self._depth += 1
            if self._depth > MOST_DEPTH:
                raise BadCondition(f"Parentheses are nested more than {MOST_DEPTH} deep.")
            holds = self._either()
            self._expect("mark", ")")
            self._depth -= 1
            return holds
        if self._takes("word", "regexp"):
            return self._pattern()
        text = self._quoted("a text in quotes, regexp(…), NOT or a parenthesis")
        return self._kept(f"“{text}”", lambda whole: text in whole)

    def _pattern(self) -> Holds:
        self._expect("mark", "(")
        source = self._quoted("a pattern in quotes")
        self._expect("mark", ")")
        self._patterns += 1
        if self._patterns > MOST_PATTERNS:
            raise BadCondition(f"A condition holds at most {MOST_PATTERNS} patterns.")
        try:
            return self._kept(f"regexp “{source}”", Pattern(source).is_in)
        except BadSetting as error:
            raise BadCondition(f'regexp("{source}"): {error}') from None

    def _kept(self, words: str, holds: Holds) -> Holds:
        self._operands.append(Operand(words, holds))
        return holds

    def _takes(self, kind: str, said: str) -> bool:
        taken = self._at < len(self._tokens) and self._tokens[self._at][:2] == (kind, said)
        self._at += taken
        return taken

    def _expect(self, kind: str, said: str) -> None:
        if not self._takes(kind, said):
            raise self._unexpected(said)

    def _quoted(self, wanted: str) -> str:
        if self._at == len(self._tokens) or self._tokens[self._at][0] != "text":
            raise self._unexpected(wanted)
        self._at += 1
        return self._tokens[self._at - 1][1].replace('\\"', '"')

    def _unexpected(self, wanted: str) -> BadCondition:
        if self._at == len(self._tokens):
            return BadCondition(f"It ends where {wanted} is expected.")
        _, said, at = self._tokens[self._at]
        return BadCondition(f"At character {at}: expected {wanted}, found “{said}”.")
