"""Pictures as models get them: the parts of a chat message that hold them."""

from __future__ import annotations

import base64
from typing import Any

from asgiref.sync import sync_to_async

from evalstudio.calls.models import Connection
from evalstudio.files.addresses import Outside, Own, WrittenOut, read
from evalstudio.files.models import StoredFile


class NotAnImage(ValueError):
    """The value is no picture that can be shown to a model; the message says why."""


async def image_part(value: Any, connection_id: int) -> dict[str, Any]:
    """The content part for a picture: an address, a data address, or an object with a `url`. Raises NotAnImage.

    A stored file travels as its bytes, since an endpoint can neither reach nor enter this installation. It must belong
    to the project of the connection. An address on another host is passed on; the endpoint fetches it.
    """
    match read(value):
        case Own(slug, digest):
            url = await sync_to_async(_bytes_of)(slug, digest, connection_id)
        case WrittenOut(url) | Outside(url):
            pass
        case _:
            raise NotAnImage(f"{_short(value)} is no address of a picture.")
    return {"type": "image_url", "image_url": {"url": url}}


def _bytes_of(slug: str, digest: str, connection_id: int) -> str:
    own = StoredFile.objects.filter(project__slug=slug, digest=digest)
    stored = own.filter(project__in=Connection.objects.filter(pk=connection_id).values("project")).first()
    if stored is None:
        raise NotAnImage("The picture is not among the files of this project.")
    if not stored.is_picture:
        raise NotAnImage(f"The file {stored.name} is no picture: it is {stored.content_type}.")
    try:
        with stored.content.open() as content:
            written = base64.b64encode(content.read()).decode()
    except OSError as error:
        raise NotAnImage(f"The file {stored.name} cannot be read: {error.strerror or error}.") from error
    return f"data:{stored.content_type};base64,{written}"


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return f"“{text[:60]}…”" if len(text) > 60 else f"“{text}”"
