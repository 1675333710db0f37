"""Receiving uploads: to a temporary file, and never more than an import may have."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.files.uploadhandler import SkipFile, TemporaryFileUploadHandler

FRAME_BYTES = 64 * 1024  # what the other fields of a form and the multipart frame may add


class LimitedUpload(TemporaryFileUploadHandler):
    """Streams a file to disk; of a request that is too large it stores nothing, and the form finds no file."""

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        if self.request is not None and is_too_large(self.request.META):
            raise SkipFile
        super().new_file(*args, **kwargs)


def is_too_large(meta: dict[str, Any]) -> bool:
    """Whether a request has more than an import may have. No request can have more than it announces."""
    announced = str(meta.get("CONTENT_LENGTH") or "0")
    return announced.isdigit() and int(announced) > settings.IMPORT_MAX_BYTES + FRAME_BYTES
