"""How many requests a token may make in a minute, counted in the database for all web processes together.

A process takes permits in small blocks and hands them out itself, so that one request in many writes a row. The limit
is never exceeded; of several processes, each may hold a few permits that the others then lack until the minute is over.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from threading import Lock
from typing import Any

from django.conf import settings
from django.db import connection
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle

from evalstudio.projects.models import ApiToken

WINDOW_S = 60
BLOCKS = 20  # to a minute's permits
HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")  # a minute, left of it, seconds to the next


class TooFast(APIException):
    """The token has used up its minute; `wait` are the seconds until the next."""

    status_code = 429

    def __init__(self, limit: int, wait: int) -> None:
        super().__init__(f"This token may make {limit:,} requests a minute. Ask again in {wait} s.")
        self.wait = wait


@dataclass(slots=True)
class Allowance:
    """What a token may still do in one minute, as far as this process knows."""

    limit: int
    minute: int
    here: int = 0  # permits this process has taken and not used
    elsewhere: int = 0  # permits nobody has taken
    refused: bool = False

    def resets_in(self, now: float) -> int:
        """Whole seconds until the next minute begins, at least one."""
        return max(1, math.ceil((self.minute + 1) * WINDOW_S - now))


_held: dict[str, Allowance] = {}  # by the token's digest
_lock = Lock()


def use(token: ApiToken, now: float) -> Allowance:
    """Use one permit of the token, or be told that it is refused."""
    limit, minute = settings.API_PER_MINUTE, int(now // WINDOW_S)
    with _lock:
        held = _held.get(token.digest)
        if held is None or (held.minute, held.limit) != (minute, limit):
            held = _held[token.digest] = Allowance(limit, minute)
        if not held.here and not held.refused:
            _take_block(token, held)
        if held.here:
            held.here -= 1
        else:
            held.refused = True
        return Allowance(limit, minute, held.here, held.elsewhere, held.refused)


def _take_block(token: ApiToken, held: Allowance) -> None:
    """One statement: exact whoever else asks. It counts on past the limit, which gives nothing."""
    block = max(1, held.limit // BLOCKS)
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO projects_tokenminute AS kept (token_id, minute, taken) VALUES (%s, %s, %s)
               ON CONFLICT (token_id) DO UPDATE SET minute = excluded.minute,
                 taken = CASE WHEN kept.minute = excluded.minute THEN kept.taken ELSE 0 END + excluded.taken
               RETURNING taken""",
            [token.pk, held.minute, block],
        )
        taken = cursor.fetchone()[0]
    held.here = max(0, min(block, held.limit - (taken - block)))
    held.elsewhere = max(0, held.limit - taken)


class PerToken(BaseThrottle):
    """Counts requests that come with a token; people in a browser are not counted."""

    def allow_request(self, request: Request, view: Any) -> bool:
        if isinstance(request.auth, ApiToken):
            now = time.time()
            allowance = use(request.auth, now)
            view.allowance = (allowance, now)
            if allowance.refused:
                raise TooFast(allowance.limit, allowance.resets_in(now))
        return True


def tell(response: Response, told: tuple[Allowance, float] | None) -> None:
    """Put into the headers what a token may still do."""
    if told is None:
        return
    allowance, now = told
    figures = (allowance.limit, allowance.here + allowance.elsewhere, allowance.resets_in(now))
    for name, figure in zip(HEADERS, figures, strict=True):
        response[name] = str(figure)
