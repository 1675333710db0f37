"""Taking files in: a picture is known by its first bytes, anything else is what its name says and is never rendered."""

from __future__ import annotations

import hashlib
import re
from mimetypes import MimeTypes
from pathlib import PurePath
from typing import IO

from django.conf import settings
from django.core.files import File
from django.db import IntegrityError, transaction

from evalstudio.files.models import PICTURE_TYPES, StoredFile
from evalstudio.projects.models import Project, User

UNKNOWN = "application/octet-stream"
NAMED = MimeTypes()  # by Python's own table, so that every host says the same
for _type, _endings in {
    "text/plain": ("log", "toml", "ini", "py", "ts", "sql", "sh"),
    "text/yaml": ("yaml", "yml"),
    "application/x-ndjson": ("jsonl", "ndjson"),
}.items():
    for _ending in _endings:
        NAMED.add_type(_type, f".{_ending}")
SIGNATURES = (  # how the formats begin, by their specifications
    ("image/png", re.compile(rb"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", re.compile(rb"\xff\xd8\xff")),
    ("image/gif", re.compile(rb"GIF8[79]a")),
    ("image/webp", re.compile(rb"RIFF.{4}WEBP", re.DOTALL)),
)
_ENDING = re.compile(rf"\.(?:{'|'.join((*PICTURE_TYPES.values(), 'jpeg'))})\Z", re.IGNORECASE)
_UNFIT = re.compile(r"[^\w.-]+")  # what has no place in an address


class NotTaken(ValueError):
    """The file cannot be kept; the message says why."""


class TooLarge(NotTaken):
    """The file has more bytes than a file may have."""

    def __init__(self) -> None:
        super().__init__(f"A file may have {settings.FILE_MAX_BYTES // 1024**2} MB; this one has more.")


def keep(project: Project, author: User | None, file: File) -> StoredFile:
    """The stored file with this content: the one there is, or a new one. Raises NotTaken."""
    if not file.size:
        raise NotTaken("The file is empty.")
    if file.size > settings.FILE_MAX_BYTES:
        raise TooLarge
    name = _fit(file.name or "")
    picture = type_of(file.read(32))
    digest = _digest(file)
    return StoredFile.objects.filter(project=project, digest=digest).first() or _store(
        StoredFile(
            project=project,
            author=author,
            digest=digest,
            name=_titled(name, picture),
            content_type=picture or _named(name),
            size=file.size,
        ),
        file,
    )


def type_of(start: bytes) -> str | None:
    """The type of picture that a file's first bytes tell; None for anything else."""
    return next((name for name, signature in SIGNATURES if signature.match(start)), None)


def looks_like_picture(name: str) -> bool:
    """Whether a name, or the path of an address, ends as that of a picture does."""
    return bool(_ENDING.search(name))


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


def _fit(name: str) -> str:
    """The file's own name as it can stand in an address."""
    path = PurePath(name.replace("\\", "/"))
    stem, ending = (_UNFIT.sub("-", part).strip("-.") for part in (path.stem, path.suffix))
    return f"{stem[:150] or 'file'}.{ending[:20]}" if ending else stem[:150] or "file"


def _titled(name: str, picture: str | None) -> str:
    """The name with the ending of a picture if, and only if, it is one: its address is told by that ending later on."""
    if picture:
        return f"{PurePath(name).stem}.{PICTURE_TYPES[picture]}"
    return f"{name}.bin" if looks_like_picture(name) else name


def _named(name: str) -> str:
    """What the name says that a file is: a word for people, never a type that is shown."""
    found, encoding = NAMED.guess_type(name)
    return UNKNOWN if found is None or encoding or found in PICTURE_TYPES else found
