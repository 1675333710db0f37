"""What comes from outside, looked at before anything else relies on it: ids, texts, JSON, addresses."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse

MOST_DIGITS = 18  # of an id: every database holds these
MOST_DEPTH = 100  # lists and objects within each other; whatever goes through data calls itself about as often
NUL = "\0"


def id_in(text: str) -> int | None:
    """The id or number that an address or a hidden field names; None where it names none."""
    return int(text) if text.isdecimal() and text.isascii() and len(text) <= MOST_DIGITS else None


def is_storable(text: str) -> bool:
    """Whether every database holds this text: no NUL, and no half of a character."""
    return storable(text) == text


def storable(text: str) -> str:
    """The text with what no database holds replaced."""
    return text.replace(NUL, "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode()


def is_too_deep(data: Any) -> bool:
    """Whether JSON data has more lists and objects within each other than MOST_DEPTH. Takes no recursion itself."""
    level = [data]
    for _ in range(MOST_DEPTH + 1):
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return any(isinstance(value, dict | list) for value in level)


def holds_endless(data: Any) -> bool:
    """Whether JSON data holds a number beyond every float, which `json` reads as infinity and no database stores."""
    try:
        json.dumps(data, allow_nan=False)
    except ValueError:
        return True
    return False


def refuse_nul(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: an address never holds a NUL. PostgreSQL takes no text that does, SQLite would look for it."""

    def answer(request: HttpRequest) -> HttpResponse:
        if NUL in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            raise BadRequest("A NUL in the address.")
        return get_response(request)

    return answer
