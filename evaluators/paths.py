"""The one grammar for places in a sample: `outputs.value`, `inputs.messages[0].content`, `steps[*].name`.

A path is a root, then names (`.name`, or `["odd name"]`), list indexes (`[0]` or `.0`) and `[*]`, which maps over a
list. Under the root `span` the rest is the name of a span attribute, which may hold dots itself: the longest name
wins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final

from evaluators.core import ROOTS

SPAN: Final = "span"
ALL: Final = "*"  # the step [*]
Step = str | int

_TOKEN = re.compile(
    r"""\.?\[(?P<index>-?\d+|\*)\]|\.?\["(?P<quoted>[^"]*)"\]|\.?\['(?P<single>[^']*)'\]|\.(?P<name>[^.\[\]]+)"""
)
_ROOT = re.compile(r"[^.\[\]]+")
_PLAIN = re.compile(r"[A-Za-z_]\w*")
ABSENT: Final = object()  # what `take` gives when there is nothing

PREVIEW_CHARACTERS = 80
MOST_PATHS = 200
MOST_DEPTH = 6


class BadPath(ValueError):
    """The text is no path; `suggestion` is the nearest right root, if one is near."""

    def __init__(self, message: str, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.suggestion = suggestion


class MissingPath(LookupError):
    """The sample has nothing at this path."""

    def __init__(self, path: str) -> None:
        super().__init__(f"The case has no {path}.")
        self.path = path


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path; `text` is its one spelling."""

    root: str
    steps: tuple[Step, ...] = ()

    @property
    def text(self) -> str:
        if self.root == SPAN:
            return ".".join((SPAN, *map(str, self.steps)))
        return self.root + "".join(map(_spelled, self.steps))

    def __str__(self) -> str:
        return self.text


def _spelled(step: Step) -> str:
    if isinstance(step, int) or step == ALL:
        return f"[{step}]"
    if _PLAIN.fullmatch(step):
        return f".{step}"
    return f"['{step}']" if '"' in step else f'["{step}"]'


@lru_cache(maxsize=4096)
def parse(text: str, roots: tuple[str, ...] = (*ROOTS, SPAN)) -> Path:
    """The path that the text spells. Raises BadPath."""
    text = text.strip()
    start = _ROOT.match(text)
    if not start:
        raise BadPath(f"“{text}” is no path. A path starts with {_listed(roots)}.")
    root = start.group().strip()
    if root not in roots:
        near = nearest(root, roots)
        raise BadPath(f"“{root}” is not a name of a case. Paths start with {_listed(roots)}.", near)
    if root == SPAN:
        return Path(SPAN, (text[start.end() :].removeprefix("."),) if text[start.end() :] else ())
    return Path(root, tuple(_steps(text, start.end())))


def _steps(text: str, at: int) -> Iterator[Step]:
    while at < len(text):
        token = _TOKEN.match(text, at)
        if not token:
            raise BadPath(f"“{text}” is no path: “{text[at:]}” should be a name after a dot or an index in brackets.")
        at = token.end()
        yield _step(token)


def _step(token: re.Match[str]) -> Step:
    if (index := token["index"]) is not None:
        return ALL if index == ALL else int(index)
    name = next(name for name in (token["quoted"], token["single"], token["name"]) if name is not None)
    return int(name) if token["name"] and name.isdecimal() else name


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def nearest(word: str, words: Sequence[str]) -> str | None:
    """The word that was probably meant: `expected_output` is near `expectedOutputs`."""
    plain = {other.replace("_", "").lower(): other for other in words}
    near = get_close_matches(word.replace("_", "").lower(), plain, n=1, cutoff=0.6)
    return plain[near[0]] if near else None


# Reading


def resolve(roots: Mapping[str, Any], path: Path | str) -> Any:
    """The value at the path, which may be null. Raises MissingPath, naming the path as far as it was found lacking.

    A root that is null counts as missing: the case has none.
    """
    if isinstance(path, str):
        path = parse(path)
    if path.root == SPAN:
        return _span_attribute(span_attributes(roots.get("steps")), path)
    value = roots.get(path.root)
    if value is None:
        raise MissingPath(path.text)
    return follow(value, path.steps, path.root)


def follow(value: Any, steps: Sequence[Step], so_far: str) -> Any:
    """The value that the steps lead to from `value`, which stands at `so_far`. Raises MissingPath."""
    for place, step in enumerate(steps):
        if step == ALL and isinstance(value, list):
            so_far, rest = so_far + "".join(map(_spelled, steps[:place])), steps[place + 1 :]
            return [follow(item, rest, f"{so_far}[{index}]") for index, item in enumerate(value)]
        value = take(value, step)
        if value is ABSENT:
            raise MissingPath(so_far + "".join(map(_spelled, steps)))
    return value


def take(value: Any, step: Step) -> Any:
    """What lies one step further, or ABSENT. A number is an index of a list and a name of an object."""
    if isinstance(value, dict):
        return value.get(str(step), ABSENT)
    if isinstance(value, list | tuple) and isinstance(step, int) and -len(value) <= step < len(value):
        return value[step]
    return ABSENT


def span_attributes(steps: Any) -> dict[str, Any]:
    """The attributes of the spans among the steps, `{"attributes": {…}}`; of several with one name the first counts."""
    found: dict[str, Any] = {}
    for step in steps if isinstance(steps, list) else ():
        attributes = step.get("attributes") if isinstance(step, dict) else None
        if isinstance(attributes, dict):
            found = attributes | found
    return found


def _span_attribute(attributes: Mapping[str, Any], path: Path) -> Any:
    """The attribute with the longest name that starts the path, then what the rest of the path leads to in it."""
    if not path.steps:
        return dict(attributes)
    words = str(path.steps[0]).split(".")
    for length in range(len(words), 0, -1):
        name = ".".join(words[:length])
        if name in attributes:
            rest = tuple(int(word) if word.isdecimal() else word for word in words[length:])
            return follow(attributes[name], rest, f"{SPAN}.{name}")
    raise MissingPath(f"{SPAN}.{path.steps[0]}")


# What there is


def existing_paths(roots: Mapping[str, Any], most: int = MOST_PATHS, depth: int = MOST_DEPTH) -> list[tuple[str, str]]:
    """The paths that lead somewhere in these roots, each with a short preview of its value, at most `most` of them.

    Of a list the first item stands for all. Nearer paths come first, so that the bound cuts off the deep ones.
    """
    level = [(root, value) for root, value in roots.items() if value is not None]
    found: list[tuple[str, str]] = []
    for _ in range(depth):
        found += [(path, preview(value)) for path, value in level[: most - len(found)]]
        if len(found) >= most:
            break
        level = [(path + _spelled(step), inner) for path, value in level for step, inner in _inside(value, most)]
    order = {root: place for place, root in enumerate(roots)}
    return sorted(found, key=lambda pair: (order[_ROOT.match(pair[0]).group()], pair[0]))  # type: ignore[union-attr]


def _inside(value: Any, most: int) -> Iterator[tuple[Step, Any]]:
    if isinstance(value, dict):
        for name, inner in list(value.items())[:most]:
            if "'" not in name or '"' not in name:  # no spelling leads to a name with both
                yield name, inner
    elif isinstance(value, list) and value:
        yield 0, value[0]


def preview(value: Any) -> str:
    """One short line that shows what a value is."""
    if isinstance(value, dict):
        return _cut("{" + ", ".join(str(key) for key in list(value)[:20]) + "}")
    if isinstance(value, list):
        return "1 item" if len(value) == 1 else f"{len(value):,} items"
    return _cut(value if isinstance(value, str) else json.dumps(value))


def _cut(text: str) -> str:
    line = " ".join(text[: PREVIEW_CHARACTERS * 4].split())
    return line if len(line) <= PREVIEW_CHARACTERS else line[: PREVIEW_CHARACTERS - 1].rstrip() + "…"
