"""What went wrong with one attempt, whether trying again can help, and the sentence a person reads about it."""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any

import aiohttp

from evalstudio.calls.chat.traits import Complaint
from evalstudio.calls.guard import AddressRefused
from evalstudio.calls.replies import ChatError, EndpointFailing, Rejected, Unreachable, WrongKey

LONGEST_BACKOFF_S = 20.0
LONGEST_ASKED_S = 86_400.0  # what asks for more, such as the time of day in milliseconds, is asked again after a day
WORDS_OF_ENDPOINT = 300  # characters of its message that are passed on


class Again(Enum):
    """What trying again depends on."""

    NEVER = "never"
    NO_CONNECTION = "no connection"  # nobody there: a few tries
    BROKEN = "broken"  # an error, a cut-off reply, a time-out: some tries
    REFUSED = "refused"  # 429: until patience runs out


@dataclass(frozen=True, slots=True)
class Fault:
    """One attempt that gave no reply. `complaint` is there where the request itself was refused."""

    error: ChatError
    again: Again = Again.NEVER
    retry_after_s: float | None = None
    complaint: Complaint | None = None

    def wait_s(self, tries: int, first_s: float) -> float:
        """Seconds to wait after so many tries (from 1): as the endpoint asks, else twice as long each time.

        A little chance keeps those who failed together from coming back together.
        """
        if self.retry_after_s is not None:
            return self.retry_after_s * random.uniform(1.0, 1.05)  # noqa: S311
        longest = min(LONGEST_BACKOFF_S, first_s * 2 ** (tries - 1))
        return longest * random.uniform(0.5, 1.0)  # noqa: S311


class TooLarge(Exception):
    """A reply larger than any chat completion may be."""


def fault_of_status(status: int, headers: Mapping[str, str], payload: bytes) -> Fault:
    """The fault that a status other than 2xx stands for."""
    complaint = complaint_of(payload)
    said = f": {clip(complaint.message)}" if complaint.message else "."
    if status in (401, 403):
        refused = complaint if status == 403 else None  # some mean a parameter that this model may not be asked with
        return Fault(WrongKey(f"The endpoint does not accept the key ({status}){said}"), complaint=refused)
    if status == 429:
        if out_of_quota(payload):
            return Fault(EndpointFailing(f"The account behind this connection has used up its quota{said}"))
        return Fault(EndpointFailing(f"The endpoint asked for fewer calls (429){said}"), Again.REFUSED, _wait(headers))
    if status >= 500 or status in (408, 409, 425):
        return Fault(
            EndpointFailing(f"The endpoint answered with an error ({status}){said}"), Again.BROKEN, _wait(headers)
        )
    if 300 <= status < 400:
        to = headers.get("Location", "another address")[:WORDS_OF_ENDPOINT]
        return Fault(Rejected(f"The endpoint redirects to {to}, which is not followed. Use the final address."))
    if status == 404:
        return Fault(Rejected(f"The endpoint knows no such model or address (404){said}"), complaint=complaint)
    return Fault(Rejected(f"The endpoint refused the request ({status}){said}"), complaint=complaint)


def fault_of_exception(error: Exception, host: str, total_s: float) -> Fault:
    """The fault behind an exception of the transport."""
    if isinstance(error, AddressRefused):
        return Fault(Unreachable(str(error)))
    if isinstance(error, TooLarge):
        return Fault(Rejected("The endpoint sent far more than a chat reply."))
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return Fault(Unreachable(f"{host} did not accept a connection in time."), Again.NO_CONNECTION)
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return Fault(Unreachable(f"The name {host} could not be found (DNS)."), Again.NO_CONNECTION)
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return Fault(Unreachable(f"No secure connection to {host}: {clip(str(error))}"))
    if isinstance(error, aiohttp.ClientConnectorError):
        reason = error.os_error.strerror or str(error.os_error)
        return Fault(Unreachable(f"{host} could not be reached: {clip(reason)}"), Again.NO_CONNECTION)
    if isinstance(error, ValueError):  # aiohttp's for addresses, Python's for headers
        return Fault(Unreachable(f"The address {host} or the key holds characters that cannot be sent."))
    if isinstance(error, asyncio.TimeoutError):
        return Fault(EndpointFailing(f"The endpoint did not answer within {total_s:g} s."), Again.BROKEN)
    return cut_off()


def cut_off() -> Fault:
    """The fault of a reply without its end."""
    return Fault(EndpointFailing("The endpoint cut its reply off."), Again.BROKEN)


def complaint_of(payload: bytes) -> Complaint:
    """The endpoint's own words in any of the shapes that endpoints use."""
    try:
        body = json.loads(payload)
    except (ValueError, RecursionError):
        text = payload.decode("utf-8", "replace").strip()
        return Complaint("" if text.startswith("<") else text)
    return _complaint_in(body)


def _complaint_in(body: Any) -> Complaint:
    if isinstance(body, str):
        return Complaint(body)
    if isinstance(body, list):
        return _complaint_in(body[0]) if body else Complaint("")
    if not isinstance(body, dict):
        return Complaint("")
    if isinstance(body.get("loc"), list):  # a field error of a validating server
        return Complaint(str(body.get("msg", "")), ".".join(str(part) for part in body["loc"] if part != "body"))
    for key in ("error", "detail"):
        if body.get(key):
            return _complaint_in(body[key])
    param = body.get("param")
    return Complaint(str(body.get("message") or body.get("msg") or ""), param if isinstance(param, str) else None)


def out_of_quota(payload: bytes) -> bool:
    """Whether a 429 means an empty account, which no waiting refills."""
    return b"insufficient_quota" in payload


def clip(text: str) -> str:
    """Foreign words in one line of bearable length, ending like a sentence."""
    line = " ".join(text.split())
    line = line if len(line) <= WORDS_OF_ENDPOINT else f"{line[: WORDS_OF_ENDPOINT - 1]}…"
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def _wait(headers: Mapping[str, str]) -> float | None:
    """Seconds the endpoint asks to wait, from retry-after-ms or Retry-After (seconds or a date)."""
    for name, unit in (("retry-after-ms", 0.001), ("Retry-After", 1.0)):
        try:
            return _bearable(float(headers[name]) * unit)
        except (KeyError, ValueError):
            continue
    try:
        return _bearable(parsedate_to_datetime(headers["Retry-After"]).timestamp() - time.time())
    except (KeyError, ValueError, OverflowError):
        return None


def _bearable(seconds: float) -> float:
    return min(LONGEST_ASKED_S, max(0.0, seconds))
