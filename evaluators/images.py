"""Images for a judge: found at their paths in a case, and put behind the text of the message."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluators.core import Sample
from evaluators.paths import MissingPath, resolve
from evaluators.prompts import Part
from evaluators.prompts.rendering import Origin, origin_of

MOST_SHOWN = 200  # characters of an image's address; some hold the image itself


class NoImage(ValueError):
    """What lies at a path is no image; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image of the case: the path that led to it, what lies there, and whose it is."""

    path: str
    value: Any
    origin: Origin

    @property
    def part(self) -> Part:
        text = self.value if isinstance(self.value, str) else json.dumps(self.value, ensure_ascii=False)
        return Part(text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…", self.origin, self.path, is_image=True)


def images_of(sample: Sample, paths: Sequence[str], *, compares: bool = False) -> tuple[Image, ...]:
    """The images at these paths, in order; a list stands for all it holds. Raises MissingPath."""
    roots = sample.roots()
    return tuple(
        Image(path, value, origin_of(path, compares)) for path in paths for value in _each(resolve(roots, path), path)
    )


def _each(value: Any, path: str) -> Iterator[Any]:
    if value is None or value in ("", []):
        raise MissingPath(path)
    if not isinstance(value, list):
        yield value
        return
    for place, inner in enumerate(value):
        yield from _each(inner, f"{path}[{place}]")


async def with_images(
    messages: Sequence[Mapping[str, Any]], images: Sequence[Image], connection_id: int
) -> tuple[Mapping[str, Any], ...]:
    """The messages with the images behind the text of the last one, each under its path. Raises NoImage."""
    if not images:
        return tuple(messages)
    from evalstudio.files.images import NotAnImage, image_part

    content: list[Any] = [{"type": "text", "text": messages[-1]["content"]}]
    for image in images:
        try:
            part = await image_part(image.value, connection_id)
        except NotAnImage as error:
            raise NoImage(f"{image.path}: {error}") from None
        content += [{"type": "text", "text": f"The image at {image.path}:"}, part]
    return (*messages[:-1], {**messages[-1], "content": content})
