"""Files of the project that data names by address and that are no pictures: what an agent left, to be downloaded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evalstudio.files.addresses import Own, read
from evalstudio.files.models import StoredFile
from evalstudio.projects.models import Project

MOST = 100  # of one value
MOST_DEPTH = 6


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file and where in the data its address stands."""

    path: str
    file: StoredFile


def attachments_in(value: Any, project: Project) -> list[Attachment]:
    """The files anywhere in a value, in order, each once. One query; none where there is no address."""
    named: dict[str, str] = {}
    for path, digest in islice(_walk(value, project.slug, "", MOST_DEPTH), MOST):
        named.setdefault(digest, path)
    stored = StoredFile.objects.filter(project=project, digest__in=named) if named else ()
    by_digest = {file.digest: file for file in stored if not file.is_picture}
    for file in by_digest.values():
        file.project = project
    return [Attachment(named[digest], by_digest[digest]) for digest in named if digest in by_digest]


def _walk(value: Any, slug: str, path: str, depth: int) -> Iterator[tuple[str, str]]:
    match read(value):
        case Own(owner, digest) if owner == slug:
            yield path, digest
            return
    if depth and isinstance(value, dict):
        for name, inner in value.items():
            yield from _walk(inner, slug, f"{path}.{name}" if path else str(name), depth - 1)
    elif depth and isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _walk(inner, slug, f"{path}[{place}]", depth - 1)
