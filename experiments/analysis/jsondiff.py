"""What differs between two JSON values: the paths that were added, removed or changed. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from typing import Any, Literal

MOST = 200  # differences that are told
MOST_ITEMS = 500  # of a list that are matched with one another; longer lists are compared place by place
DEEPEST = 40  # beyond it a value counts as a whole


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the values differ. `old` and `new` are JSON, empty where there is none."""

    path: str
    sort: Literal["added", "removed", "changed"]
    old: str = ""
    new: str = ""


def differences(old: Any, new: Any, most: int = MOST) -> list[Difference]:
    """The first differences, in the order of the values; empty where both say the same."""
    return list(islice(_between(old, new, "", 0), most))


def _between(old: Any, new: Any, path: str, depth: int) -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict) and depth < DEEPEST:
        yield from _objects(old, new, path, depth)
    elif isinstance(old, list) and isinstance(new, list) and depth < DEEPEST:
        yield from _lists(old, new, path, depth)
    elif _text(old) != _text(new):
        yield Difference(path or "$", "changed", _text(old), _text(new))


def _objects(old: dict, new: dict, path: str, depth: int) -> Iterator[Difference]:
    for name in [*old, *(name for name in new if name not in old)]:
        inner = f"{path}.{name}" if path else str(name)
        if name not in new:
            yield Difference(inner, "removed", old=_text(old[name]))
        elif name not in old:
            yield Difference(inner, "added", new=_text(new[name]))
        else:
            yield from _between(old[name], new[name], inner, depth + 1)


def _lists(old: list, new: list, path: str, depth: int) -> Iterator[Difference]:
    """Items that both have stay together, so that one more at the front does not change all others."""
    for tag, i, j, k, m in _blocks(old, new):
        if tag == "equal":
            continue
        both = min(j - i, m - k)
        for at in range(both):
            yield from _between(old[i + at], new[k + at], f"{path}[{k + at}]", depth + 1)
        for at in range(i + both, j):
            yield Difference(f"{path}[{at}]", "removed", old=_text(old[at]))
        for at in range(k + both, m):
            yield Difference(f"{path}[{at}]", "added", new=_text(new[at]))


def _blocks(old: list, new: list) -> list[tuple[str, int, int, int, int]]:
    if max(len(old), len(new)) > MOST_ITEMS:
        return [("replace", 0, len(old), 0, len(new))]
    before, after = ([_text(item) for item in side] for side in (old, new))
    return [(tag, i, j, k, m) for tag, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
