"""Taking files in: what they really are is read from their first bytes, not from their names."""

from __future__ import annotations

import hashlib
import re
from pathlib import PurePath
from typing import IO

from django.conf import settings
from django.core.files import File
from django.db import IntegrityError, transaction

from evalstudio.files.models import StoredFile
from evalstudio.projects.models import Project, User

TYPES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
SIGNATURES = (  # how the formats begin, by their specifications
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
)
_UNFIT = re.compile(r"[^\w.-]+")  # what has no place in an address


class NotTaken(ValueError):
    """The file cannot be kept; the message says why and what can."""


def keep(project: Project, author: User | None, file: File) -> StoredFile:
    """The stored file with this content: the one there is, or a new one. Raises NotTaken."""
    if not file.size:
        raise NotTaken("The file is empty.")
    if file.size > settings.FILE_MAX_BYTES:
        raise NotTaken(f"A file may have {settings.FILE_MAX_BYTES // 1024**2} MB; this one has more.")
    content_type = type_of(file.read(32))
    if content_type is None:
        raise NotTaken("This is no picture that models and browsers read. Send PNG, JPEG, GIF or WebP.")
    digest = _digest(file)
    return StoredFile.objects.filter(project=project, digest=digest).first() or _store(
        StoredFile(
            project=project,
            author=author,
            digest=digest,
            name=_name(file.name or "", content_type),
            content_type=content_type,
            size=file.size,
        ),
        file,
    )


def type_of(start: bytes) -> str | None:
    """The content type that a file's first bytes tell; None for anything that is not kept."""
    return next((name for name, signature in SIGNATURES if signature.match(start)), None)


def _digest(file: IO[bytes]) -> str:
    file.seek(0)
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


def _store(stored: StoredFile, file: File) -> StoredFile:
    file.seek(0)
    stored.content.save(f"{stored.project.pk}-{stored.digest}", file, save=False)
    try:
        with transaction.atomic():
            stored.save()
    except IntegrityError:  # somebody sent the same content at the same moment
        stored.content.delete(save=False)
        return StoredFile.objects.get(project=stored.project, digest=stored.digest)
    return stored


def _name(name: str, content_type: str) -> str:
    """The file's own name as it can stand in an address, with the ending of what it is."""
    stem = _UNFIT.sub("-", PurePath(name.replace("\\", "/")).stem).strip("-.")[:150]
    return f"{stem or 'picture'}.{TYPES[content_type]}"
