"""Where two texts differ, word by word, as far as they say the same at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

MOST_WORDS = 3000  # of one text; longer ones are shown without marks, since finding them would take too long
ALIKE = 0.3  # share of words in common from which on marks help; below it nearly everything would be marked
RUN = 2  # words in a row that count as common; a lone "the" between differences is none

WORD = re.compile(r"\s*\S+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text; `is_own` where the other text does not have it."""

    text: str
    is_own: bool


Marked = tuple[list[Piece], list[Piece]]


def marked(one: str, other: str) -> Marked | None:
    """Both texts in pieces; None where they are equal, too long, or have too little in common for marks to help."""
    words = [WORD.findall(text) for text in (one, other)]
    if one == other or not all(words) or max(map(len, words)) > MOST_WORDS:
        return None
    plain = [[word.strip() for word in side] for side in words]
    matcher = SequenceMatcher(None, plain[0], plain[1])
    blocks = [block for block in matcher.get_matching_blocks() if block.size >= RUN or _is_edge(block, plain)]
    if 2 * sum(block.size for block in blocks) < ALIKE * sum(map(len, words)):
        return None
    common = [(block.a, block.size) for block in blocks], [(block.b, block.size) for block in blocks]
    rests = [text[len("".join(side)) :] for text, side in zip((one, other), words, strict=True)]
    mine, theirs = (_pieces(*side) for side in zip(words, common, rests, strict=True))
    return mine, theirs


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of two texts read as one: both have it, or one of them."""

    text: str
    sort: Literal["same", "removed", "added"]


def merged(one: str, other: str) -> list[Stretch]:
    """Two texts as one, the words that only the first has removed, those of the second alone added."""
    if one == other:
        return [Stretch(one, "same")] if one else []
    found = marked(one, other)
    if found is None:
        return [Stretch(text, sort) for text, sort in ((one, "removed"), (other, "added")) if text]  # type: ignore[arg-type]
    stretches: list[Stretch] = []
    theirs, space = iter(found[1]), ""
    for piece in found[0]:
        if piece.is_own:
            stretches.append(Stretch(space + piece.text, "removed"))
            space = ""
        elif piece.text.strip():
            stretches += _up_to_common(theirs)
        else:
            space = piece.text
    return stretches + _up_to_common(theirs)


def _up_to_common(pieces: Iterator[Piece]) -> list[Stretch]:
    """What the second text adds before the next stretch that both have, and that stretch."""
    stretches = []
    for piece in pieces:
        stretches.append(Stretch(piece.text, "added" if piece.is_own else "same"))
        if not piece.is_own and piece.text.strip():
            break
    return stretches


def _is_edge(block: tuple[int, int, int], plain: list[list[str]]) -> bool:
    """Whether a common word opens both texts or closes both."""
    a, b, size = block
    return bool(size) and ((a, b) == (0, 0) or (a + size, b + size) == (len(plain[0]), len(plain[1])))


def _pieces(words: list[str], common: list[tuple[int, int]], rest: str) -> list[Piece]:
    found, at = [], 0
    for start, size in [*common, (len(words), 0)]:
        found += _own(words[at:start])
        found.append(Piece("".join(words[start : start + size]), is_own=False))
        at = start + size
    return [piece for piece in [*found, Piece(rest, is_own=False)] if piece.text]


def _own(words: list[str]) -> list[Piece]:
    """Words of one side only; the space before the first of them stays unmarked."""
    text = "".join(words)
    bare = text.lstrip()
    return [Piece(text[: len(text) - len(bare)], is_own=False), Piece(bare, is_own=True)]
