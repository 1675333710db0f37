"""Requests that come through: packed, sent again with the same content where an answer was lost or put off.

Every request of the client may be repeated without harm, since EvalStudio knows each of them again.
"""

from __future__ import annotations

import gzip
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from evalstudio_client.errors import Refused, Unreachable

TRIES = 6
LATER = frozenset((429, 500, 502, 503, 504))  # worth asking again
HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)  # not worth it: the request itself is wrong
LONGEST_PAUSE_S = 60.0
WORTH_PACKING = 1_000  # bytes
NOT_OURS = "This address does not answer as EvalStudio does."
JSON = dict[str, Any]


class Wire:
    """The API of one project."""

    def __init__(
        self,
        base_url: str,
        token: str,
        project: str,
        *,
        timeout_s: float = 60.0,
        tries: int = TRIES,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        try:
            self._http = httpx.Client(
                base_url=f"{base_url.rstrip('/')}/api/projects/{project}/",
                headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
                timeout=timeout_s,
            )
        except (httpx.InvalidURL, UnicodeError, TypeError) as error:
            raise Unreachable(f"{base_url} is no address: {error}") from None
        self._tries = tries
        self._sleep = sleep

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:
        given = {name: value for name, value in query.items() if value is not None}
        return self._send("GET", path, params=given)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        content = encoded(body or {})
        headers = {"Content-Type": "application/json"}
        if len(content) > WORTH_PACKING:
            content = gzip.compress(content, compresslevel=5, mtime=0)
            headers["Content-Encoding"] = "gzip"
        return self._send("POST", path, content=content, headers=headers)

    def upload(self, path: str, name: str, content: bytes) -> Any:
        return self._send("POST", path, files={"file": (name, content)})

    def pages(self, path: str, **query: Any) -> Iterator[JSON]:
        """Every row of a list, however many pages it has."""
        after = None
        while True:
            page = self.get(path, limit=200, after=after, **query)
            if not (isinstance(page, dict) and {"results", "next"} <= page.keys()):
                raise Refused(200, NOT_OURS)
            yield from page["results"]
            after = page["next"]
            if after is None:
                return

    def _send(self, method: str, path: str, **more: Any) -> Any:
        for number in range(1, self._tries + 1):
            last = number == self._tries
            try:
                answer = self._http.request(method, path, **more)
            except httpx.TransportError as error:
                if last or isinstance(error, HOPELESS):
                    raise Unreachable(f"{self._http.base_url} did not answer: {error}") from error
                self._sleep(_pause(number))
                continue
            if answer.status_code not in LATER or last:
                return _read(answer)
            self._sleep(_asked_pause(answer) or _pause(number))
        raise AssertionError("unreachable")


def encoded(body: Any) -> bytes:
    """As it travels. Raises TypeError and ValueError for what JSON cannot hold, such as NaN or half a character."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False).encode()


def _read(answer: httpx.Response) -> Any:
    if answer.is_success:
        try:
            return answer.json()
        except ValueError:
            raise Refused(answer.status_code, NOT_OURS) from None
    try:
        problem = answer.json()
        detail, errors = str(problem["detail"]), problem.get("errors", [])
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Refused(answer.status_code, f"{answer.url} answered {answer.status_code}.") from None
    raise Refused(answer.status_code, detail, errors)


def _pause(number: int) -> float:
    """Seconds before the next try: 0.5, 1, 2 … with up to half of it left to chance."""
    return float(min(LONGEST_PAUSE_S, 0.5 * 2 ** (number - 1)) * random.uniform(0.75, 1.25))  # noqa: S311


def _asked_pause(answer: httpx.Response) -> float | None:
    """What Retry-After asks for, in seconds or as a date; never more than the longest pause."""
    asked = answer.headers.get("Retry-After", "")
    try:
        seconds = float(asked) if asked.isdecimal() else parsedate_to_datetime(asked).timestamp() - time.time()
    except (ValueError, TypeError):
        return None
    return min(LONGEST_PAUSE_S, max(0.0, seconds))
