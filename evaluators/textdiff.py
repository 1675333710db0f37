"""What differs between two texts, line by line, and within changed lines word by word. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

CONTEXT = 3  # unchanged lines that are shown beside a change
MOST_PAIRS = 2_000_000  # of lines or words to compare with one another; beyond it everything counts as replaced
ALIKE = 0.35  # from here on a changed line is shown as one line with other words, below it as another line

Block = tuple[str, int, int, int, int]  # tag, from, to in the old text, from, to in the new one
Sort = Literal["same", "removed", "added", "folded"]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some words of a line; `is_changed` where the other text has others in their place."""

    text: str
    is_changed: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the difference. `old` and `new` are its numbers in the texts; a folded one stands for `count`."""

    sort: Sort
    pieces: tuple[Piece, ...] = ()
    old: int | None = None
    new: int | None = None
    count: int = 1


def lines(old: str, new: str) -> list[Line]:
    """The two texts as one list of lines, long stretches without a change folded; empty where nothing differs."""
    before, after = _lines_of(old), _lines_of(new)
    if before == after:
        return []
    found: list[Line] = []
    for tag, i, j, k, m in _blocks(before, after):
        if tag == "equal":
            same = zip(before[i:j], range(i + 1, j + 1), range(k + 1, m + 1), strict=True)
            found += [Line("same", (Piece(text),), a, b) for text, a, b in same]
        else:
            found += _replaced(before[i:j], after[k:m], i, k)
    return list(_folded(found))


def words(old: str, new: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """The two texts in pieces that both have and pieces that only one has."""
    before, after = _words_of(old), _words_of(new)
    mine: list[Piece] = []
    theirs: list[Piece] = []
    for tag, i, j, k, m in _blocks(before, after):
        is_changed = tag != "equal"
        mine += [Piece("".join(before[i:j]), is_changed)] if j > i else []
        theirs += [Piece("".join(after[k:m]), is_changed)] if m > k else []
    return tuple(mine), tuple(theirs)


def _lines_of(text: str) -> list[str]:
    return text.replace("\r\n", "\n").strip("\n").split("\n") if text else []


def _words_of(text: str) -> list[str]:
    return re.findall(r"\s+|\w+|[^\w\s]", text)


def _blocks(before: Sequence[str], after: Sequence[str]) -> list[Block]:
    """The opcodes of difflib; texts that would take it too long are alike at their ends only."""
    start = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
    start = min(len(before), len(after)) if start is None else start
    tails = zip(reversed(before[start:]), reversed(after[start:]), strict=False)
    end = next((at for at, pair in enumerate(tails) if pair[0] != pair[1]), min(len(before), len(after)) - start)
    stop, last = len(before) - end, len(after) - end
    middle = [("replace", start, stop, start, last)] if stop > start or last > start else []
    if (stop - start) * (last - start) <= MOST_PAIRS:
        inner = SequenceMatcher(None, before[start:stop], after[start:last], autojunk=False).get_opcodes()
        middle = [(tag, i + start, j + start, k + start, m + start) for tag, i, j, k, m in inner]
    head = [("equal", 0, start, 0, start)] if start else []
    return [*head, *middle, *([("equal", stop, len(before), last, len(after))] if end else [])]


def _replaced(before: Sequence[str], after: Sequence[str], i: int, k: int) -> Iterator[Line]:
    """Lines in the place of others: those that are alike in pairs with their words compared, the rest as they are."""
    for at in range(max(len(before), len(after))):
        old = before[at] if at < len(before) else None
        new = after[at] if at < len(after) else None
        mine, theirs = _compared(old, new)
        if old is not None:
            yield Line("removed", mine, old=i + at + 1)
        if new is not None:
            yield Line("added", theirs, new=k + at + 1)


def _compared(old: str | None, new: str | None) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    if old is None or new is None:
        return (Piece(old or "", True),), (Piece(new or "", True),)
    mine, theirs = words(old, new)
    kept = sum(len(piece.text.strip()) for piece in mine if not piece.is_changed)
    if kept < ALIKE * max(len(old.strip()), len(new.strip())):
        return (Piece(old, True),), (Piece(new, True),)
    return mine, theirs


def _folded(found: list[Line]) -> Iterator[Line]:
    """The lines with every long stretch of unchanged ones cut to what stands beside a change."""
    near = {
        beside
        for at, line in enumerate(found)
        if line.sort != "same"
        for beside in range(at - CONTEXT, at + CONTEXT + 1)
    }
    skipped = 0
    for at, line in enumerate(found):
        if at in near:
            if skipped:
                yield Line("folded", count=skipped)
            skipped = 0
            yield line
        else:
            skipped += 1
    if skipped:
        yield Line("folded", count=skipped)
