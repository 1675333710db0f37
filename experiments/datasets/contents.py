"""What a case says, apart from where and since when it is a member of a dataset."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import orjson

MAX_DEPTH = 100
NUL = b"\\u0000"
TAGS = "tags"
MARK = "\x1f"  # stands before and behind a tag in the words of a case


class BadContent(ValueError):
    """A value that no database stores; the message ends the sentence "This row …"."""


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a case: objects by name, None where a case has none."""

    inputs: dict[str, Any]
    expected_outputs: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    split: str = ""

    @property
    def tags(self) -> list[str]:
        """The texts in the list `metadata.tags`; whatever else stands under that name is no tag."""
        named = (self.metadata or {}).get(TAGS)
        return [tag for tag in named if isinstance(tag, str)] if isinstance(named, list) else []

    def words(self, key: str) -> str:
        """What a search looks through: each tag behind a mark, then key and values in folded case on one line."""
        values = [inner for _, inner in _walk([self.inputs, self.expected_outputs, self.metadata, self.split])]
        said = [value if isinstance(value, str) else str(value) for value in values if _is_plain(value)]
        folded = " ".join(" ".join([key, *said]).casefold().split())  # no mark survives this
        return "".join(f"{MARK}{tag}" for tag in self.tags) + MARK + folded

    def digest(self) -> str:
        """The same for equal content, whatever the order of its names. Raises BadContent."""
        return digest_of([self.inputs, self.expected_outputs, self.metadata, self.split])


def tags_in(text: str) -> list[str]:
    """The tags between the commas of a text, each once."""
    return list(dict.fromkeys(tag.strip() for tag in text.split(",") if tag.strip()))


def digest_of(value: Any) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def canonical(value: Any) -> bytes:
    """One spelling of JSON data. Raises BadContent where it holds what cannot be stored."""
    try:
        data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (orjson.JSONEncodeError, RecursionError) as error:
        raise BadContent(_in_words(error)) from error
    # Both are looked for in the text, where that is cheap, and only then in the data.
    if NUL in data and _holds_nul(value):
        raise BadContent("holds a NUL character")
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _is_deep(value):
        raise BadContent(f"is nested more than {MAX_DEPTH} levels deep")
    return data


def _in_words(error: Exception) -> str:
    text = str(error)
    if "ecursion" in text:
        return f"is nested more than {MAX_DEPTH} levels deep"
    if "64-bit" in text:
        return "holds a whole number of more than 64 bits"
    return "holds text that is not Unicode"


def _holds_nul(value: Any) -> bool:
    for _, inner in _walk(value):
        if isinstance(inner, str) and "\0" in inner:
            return True
        if isinstance(inner, dict) and any("\0" in name for name in inner):
            return True
    return False


def _is_deep(value: Any) -> bool:
    return any(depth > MAX_DEPTH for depth, inner in _walk(value) if isinstance(inner, dict | list))


def _is_plain(value: Any) -> bool:
    return value is not None and not isinstance(value, dict | list | bool)


def _walk(value: Any) -> list[tuple[int, Any]]:
    """Every value within, with its depth from 1; no recursion, since depth is what is in question."""
    found = [(1, value)]
    for depth, inner in found:
        if isinstance(inner, dict):
            found += [(depth + 1, below) for below in inner.values()]
        elif isinstance(inner, list):
            found += [(depth + 1, below) for below in inner]
    return found
