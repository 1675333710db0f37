"""How the API reads JSON, plain or gzipped, never more than it may have, never nested without end; and writes it."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from rest_framework import serializers
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser
from rest_framework.renderers import JSONRenderer

from evalstudio.web.foreign import MOST_DEPTH, is_too_deep

GZIP = 31  # zlib's number for gzip with its header


class TooLarge(APIException):
    """The body has more than any may have."""

    status_code = 413

    def __init__(self) -> None:
        super().__init__(f"A body may have {settings.API_MAX_BYTES // 1024**2} MB, unpacked. Send several.")


class SoundJSON(JSONParser):
    """JSON of the API."""

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        request = (parser_context or {}).get("request")
        body = _read(stream, request.headers if request is not None else {})
        try:
            data = super().parse(io.BytesIO(body), media_type, parser_context)
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None
        if is_too_deep(data):
            raise ParseError(f"The JSON is nested more than {MOST_DEPTH} levels deep.")
        return data


class Unchecked(serializers.JSONField):
    """A row of a batch as it was sent: whoever stores it says what is wrong, and of which one."""

    def to_internal_value(self, data: Any) -> Any:
        return data


class QuotingJSON(JSONRenderer):
    """JSON of an answer, which may quote what was sent: half a character goes back escaped, as it came."""

    def render(self, data: Any, *context: Any) -> Any:
        try:
            return super().render(data, *context)
        except UnicodeEncodeError:
            self.ensure_ascii = True
            return super().render(data, *context)


def _read(stream: Any, headers: Mapping[str, str]) -> bytes:
    """The whole body, unpacked. Raises TooLarge before it holds more than that in memory."""
    most = settings.API_MAX_BYTES
    body: bytes = stream.read(most + 1)
    encoding = headers.get("Content-Encoding", "").strip().lower()
    if encoding == "gzip":
        unpacker = zlib.decompressobj(GZIP)
        try:
            body = unpacker.decompress(body, most + 1)
        except zlib.error:
            raise ParseError("The body is not gzip, although its Content-Encoding says so.") from None
        if not unpacker.eof and len(body) <= most:
            raise ParseError("The gzipped body ends too early.")
    elif encoding not in ("", "identity"):
        raise ParseError(f"The body is encoded as {encoding[:40]}; send it plain or as gzip.")
    if len(body) > most:
        raise TooLarge
    return body
