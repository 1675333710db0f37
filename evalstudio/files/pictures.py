"""Pictures as pages show them. A page loads nothing from other hosts, so what lies there comes through the guard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core import signing
from django.urls import reverse

from evalstudio.files.addresses import Outside, Own, WrittenOut, read

MOST = 24  # pictures of one value
MOST_DEPTH = 6
_SIGNER = signing.Signer(salt="files.outside")


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture found in data. `path` is where, `src` what an <img> loads, `says` where it comes from."""

    path: str
    src: str
    says: str


def picture_of(value: Any, slug: str, path: str = "") -> Picture | None:
    """The picture that a value points to, for the pages of a project; None where it points to none."""
    match read(value):
        case Own(owner, digest, True) if owner == slug:
            return Picture(path, reverse("file-digest", args=[slug, digest]), "a file of this project")
        case WrittenOut(url):
            return Picture(path, url, "written out in the data")
        case Outside(url, host, True):
            query = urlencode({"url": _SIGNER.sign(url)})
            return Picture(path, f"{reverse('file-outside', args=[slug])}?{query}", f"from {host}")
    return None


def pictures_in(value: Any, slug: str, path: str = "") -> list[Picture]:
    """The pictures anywhere in a value, in order, at most MOST of them."""
    return [picture for picture, _ in zip(_found(value, slug, path, MOST_DEPTH), range(MOST), strict=False)]


def _found(value: Any, slug: str, path: str, depth: int) -> Iterator[Picture]:
    if picture := picture_of(value, slug, path):
        yield picture
    elif depth and isinstance(value, dict):
        for name, inner in value.items():
            yield from _found(inner, slug, f"{path}.{name}" if path else str(name), depth - 1)
    elif depth and isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _found(inner, slug, f"{path}[{place}]", depth - 1)


def signed_url(text: str) -> str | None:
    """The address that a page of ours asked to show; None for any other."""
    try:
        return _SIGNER.unsign(text)
    except signing.BadSignature:
        return None
