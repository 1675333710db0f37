"""What a rendered message is made of, and how a value is set into it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from jinja2 import Undefined

from evaluators.core import COMPARISON, PROCESSED
from evaluators.paths import SPAN, MissingPath

# Of a comparison's two outputs one is the "baseline" and one the "comparison"; without one there is an "output".
Origin = Literal["prompt", "case", "output", "baseline", "comparison", "guide", "scale", "rules"]
TITLES: Mapping[Origin, str] = {
    "rules": "Reply rules",
    "baseline": "Baseline output",
    "comparison": "Compared output",
}

MOST_RENDERED = 1_000_000  # characters of a whole message, and of any text made on the way
OUTPUT_ROOTS = ("outputs", "steps", PROCESSED, SPAN)
# Between the characters there may be blanks, and others that nobody sees.
_UNSEEN = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]*"
_CLOSING = re.compile(rf"<({_UNSEEN})/({_UNSEEN}{_UNSEEN.join('data')})", re.IGNORECASE)
_ROOT = re.compile(r"\w+")


class RenderError(Exception):
    """The prompt broke over this sample, or passed a limit; the message is a sentence, `line` counts from 1."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class Part(NamedTuple):
    """A piece of the message and where it comes from. Values of the case have a path; `text` is the value itself.

    `path` is as the model reads it, `origin` says whose it really is: the two differ where outputs are exchanged. The
    text of an image is its address.
    """

    text: str
    origin: Origin
    path: str = ""
    is_image: bool = False

    @property
    def title(self) -> str:
        """Where it comes from, as people read it."""
        return TITLES.get(self.origin) or self.origin.capitalize()

    @property
    def turned(self) -> Part:
        """The piece where the two outputs are in each other's place, so that the path of one leads to the other."""
        other: Mapping[Origin, Origin] = {"baseline": "comparison", "comparison": "baseline"}
        return self._replace(origin=other.get(self.origin, self.origin))

    @property
    def sent(self) -> str:
        """The piece as the model reads it: a value stands between delimiters that it cannot close itself."""
        if not self.path:
            return self.text
        value = _CLOSING.sub(r"<\1\\/\2", self.text) if "<" in self.text else self.text
        return f'<data path="{self.path}">\n{value}\n</data>'


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message in parts, and as the text that is sent."""

    parts: tuple[Part, ...]
    text: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", "".join([part.sent for part in self.parts]))


class Datum(str):
    """The text of a value from the sample; it stays one when Jinja turns it into a string."""

    __slots__ = ("path",)
    path: str

    def __str__(self) -> str:
        return self


def datum(value: Any, path: str) -> Datum:
    """A value as the text that stands for it: strings verbatim, everything else as JSON. Null is missing."""
    text = Datum(value if isinstance(value, str) else _as_json(value, path))
    text.path = path
    return text


def _as_json(value: Any, path: str) -> str:
    if value is None:
        raise MissingPath(path)
    if isinstance(value, Undefined):
        return str(value)  # raises: it names what is missing
    if isinstance(value, Iterable) and not isinstance(value, dict | list):
        value = list(value)
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        raise RenderError(f"The value of {path} cannot be written as text.") from None


def unwrapped(value: Any) -> Any:
    """An object with one field as that field, anything else as it is."""
    return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value


def collected(pieces: Iterator[str], *, compares: bool = False) -> Rendered:
    """The pieces that a template yields, as parts. Raises RenderError once they pass MOST_RENDERED."""
    parts: list[Part] = []
    literal = ""
    length = 0
    for piece in pieces:
        length += len(piece)
        if length > MOST_RENDERED:
            raise RenderError(f"The rendered prompt is longer than {MOST_RENDERED:,} characters.")
        if type(piece) is not Datum:
            literal += piece
            continue
        if literal:
            parts.append(Part(literal, "prompt"))
            literal = ""
        parts.append(Part(str.__str__(piece), origin_of(piece.path, compares), piece.path))
    if literal:
        parts.append(Part(literal, "prompt"))
    return Rendered(tuple(parts))


@lru_cache(maxsize=4096)
def origin_of(path: str, compares: bool) -> Origin:
    """Whose value lies at a path."""
    found = _ROOT.match(path)
    root = found.group() if found else ""
    if root in OUTPUT_ROOTS:
        return "baseline" if compares else "output"
    return "comparison" if root == COMPARISON else "case"
