"""Sentences of a text, as pysbd finds them in English."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

AT_ONCE: Final = 4_000  # characters: the time pysbd takes grows with the square of them
LIMIT_S: Final = 5.0


@cache
def _segmenter() -> Any:
    from pysbd import Segmenter

    return Segmenter(language="en", clean=False)


def sentences(text: str) -> list[str]:
    """The sentences, trimmed, without empty ones. Raises TimeoutError for texts that take too long."""
    until = time.monotonic() + LIMIT_S
    found: list[str] = []
    for piece in _pieces(text):
        if time.monotonic() > until:
            raise TimeoutError
        found += [trimmed for sentence in _segmenter().segment(piece) if (trimmed := sentence.strip())]
    return found


def _pieces(text: str) -> Iterator[str]:
    """The text in pieces of bounded length, cut where a paragraph, a line or a word ends."""
    at = 0
    while len(text) - at > AT_ONCE:
        window = text[at : at + AT_ONCE]
        ends = (window.rfind(mark) + len(mark) for mark in ("\n\n", "\n", ". ", " ") if mark in window[1:])
        end = next(ends, AT_ONCE)
        yield window[:end]
        at += end
    yield text[at:]
