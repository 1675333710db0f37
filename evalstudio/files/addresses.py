"""Telling what a text points to: a file of the project, a picture written out as data, or one on another host."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from evalstudio.files.keeping import looks_like_picture, type_of

MOST_WRITTEN_OUT = 8 * 1024 * 1024  # characters of a picture that is written out as data
_OWN = re.compile(r"/p/(?P<slug>[-\w]+)/files/(?P<digest>[0-9a-f]{64})(?:/(?P<name>[^/]*)|$)")
_DATA = re.compile(r"data:(?P<type>image/[a-z.+-]+);base64,(?P<content>[A-Za-z0-9+/=\s]+)\Z")


@dataclass(frozen=True, slots=True)
class Own:
    """A stored file, by the project and digest that its address names. Whether it is a picture its name tells."""

    slug: str
    digest: str
    looks_like_picture: bool = True


@dataclass(frozen=True, slots=True)
class WrittenOut:
    """A picture as a data: address."""

    url: str


@dataclass(frozen=True, slots=True)
class Outside:
    """An address on another host. Whether there is a picture only its ending tells."""

    url: str
    host: str
    looks_like_picture: bool


Address = Own | WrittenOut | Outside


def read(value: Any) -> Address | None:
    """What a value points to; None for anything that is no address. An object counts by its `url`."""
    if isinstance(value, dict):
        value = value.get("url")
    if not isinstance(value, str):
        return None
    text = value.strip()
    if text.startswith("data:"):
        return _written_out(text)
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if parts.scheme not in ("", "http", "https") or any(character.isspace() for character in text):
        return None
    if own := _OWN.match(parts.path):
        return Own(own["slug"], own["digest"], not own["name"] or looks_like_picture(own["name"]))
    return Outside(text, parts.hostname, looks_like_picture(parts.path)) if parts.scheme and parts.hostname else None


def _written_out(text: str) -> WrittenOut | None:
    """The data address, if it holds a picture of a type that is kept."""
    found = _DATA.match(text) if len(text) <= MOST_WRITTEN_OUT else None
    if found is None:
        return None
    try:
        start = base64.b64decode(found["content"][:64], validate=False)
    except binascii.Error:
        return None
    content_type = type_of(start)
    return WrittenOut(f"data:{content_type};base64,{''.join(found['content'].split())}") if content_type else None
