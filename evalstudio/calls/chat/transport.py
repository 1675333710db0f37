"""One HTTP session and what travels over it: bytes out, a chat completion or a Fault back.

aiohttp is spoken to directly: for a thousand calls it needs a fifth of the processor time of the openai package on
the same aiohttp, half the memory, and none of the second that importing the package takes
(`benchmarks/judge_client.py` measures).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson
from yarl import URL

from evalstudio.calls.chat.faults import (
    Fault,
    TooLarge,
    clip,
    complaint_of,
    cut_off,
    fault_of_exception,
    fault_of_status,
)
from evalstudio.calls.guard import AddressRefused, Guard, GuardedResolver
from evalstudio.calls.replies import Rejected, Token
from evalstudio.web.foreign import storable

MOST_BYTES = 8 * 1024 * 1024  # of one reply, unpacked
MOST_LISTED = 2000  # models
MOST_TOKENS = 64  # whose probabilities are kept
MOST_LIKELIEST = 20  # of one token
MOST_TOKEN = 100  # characters of one token
LEAST_LOGPROB = -1000.0
SHORTEST_KEY = 6  # a shorter one is a placeholder such as "none", and a word of its own


@dataclass(frozen=True, slots=True)
class Completion:
    """What a chat completion says, as the endpoint put it."""

    text: str
    model: str
    fingerprint: str
    finish_reason: str
    tokens_in: int | None
    tokens_out: int | None
    tokens: tuple[Token, ...] = ()  # the last MOST_TOKENS


class Transport:
    """Open connections to any number of endpoints. Belongs to the event loop it was made in; close it there."""

    def __init__(self, guard: Guard, *, connect_s: float, total_s: float) -> None:
        self._guard = guard
        self._total_s = total_s
        self._addresses: dict[str, URL] = {}
        # The gate decides how many calls are open; the pool must not.
        resolver: Any = GuardedResolver(guard)
        connector = aiohttp.TCPConnector(limit=0, resolver=resolver, keepalive_timeout=30)
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=total_s, connect=connect_s, sock_connect=connect_s),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": "EvalStudio", "Accept": "application/json"},
        )

    async def close(self) -> None:
        await self._session.close()

    async def complete(self, base_url: str, key: str, body: dict[str, Any]) -> Completion | Fault:
        """POST a chat completion."""
        answer = await self._fetch("POST", f"{base_url}/chat/completions", key, orjson.dumps(body))
        return answer if isinstance(answer, Fault) else _read_completion(answer)

    async def models(self, base_url: str, key: str) -> list[str] | Fault:
        """The names under GET /models; empty where the answer holds none."""
        answer = await self._fetch("GET", f"{base_url}/models", key, None)
        if isinstance(answer, Fault):
            return answer
        try:
            listed = orjson.loads(answer)["data"]
            return [str(entry["id"]) for entry in listed[:MOST_LISTED]]
        except (ValueError, KeyError, TypeError):
            return []

    def _checked(self, url: str) -> URL:
        """The address as aiohttp takes it. Its text is checked once; what it resolves to, at every connect.

        The guard sees what the parser made of it: some spellings of a host turn into an IP address only there, and for
        those aiohttp asks no resolver.
        """
        if (known := self._addresses.get(url)) is None:
            self._guard.check_url(url)
            known = URL(url)
            self._guard.check_url(str(known))
            self._addresses[url] = known
        return known

    async def _fetch(self, method: str, url: str, key: str, data: bytes | None) -> bytes | Fault:
        headers = {"Content-Type": "application/json"} if data is not None else {}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        host = url
        try:
            address = self._checked(url)
            host = f"{address.host}:{address.explicit_port}" if address.explicit_port else str(address.host)
            async with self._session.request(
                method, address, data=data, headers=headers, allow_redirects=False
            ) as response:
                payload = _without(key, await _read(response))
                if 200 <= response.status < 300:
                    return payload
                return fault_of_status(response.status, response.headers, payload)
        except (aiohttp.ClientError, OSError, TimeoutError, AddressRefused, TooLarge, ValueError) as error:
            return fault_of_exception(error, host, self._total_s)


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """The whole body; raises TooLarge for more than any reply may be."""
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > MOST_BYTES:
            raise TooLarge
        parts.append(part)
    return b"".join(parts)


def _without(key: str, payload: bytes) -> bytes:
    """What the endpoint said, less the key: some quote what they refuse, and every member reads their errors."""
    return payload.replace(key.encode(), b"[key]") if len(key) >= SHORTEST_KEY else payload


def _read_completion(payload: bytes) -> Completion | Fault:
    try:
        body = orjson.loads(payload)
    except ValueError:
        if payload.lstrip()[:1] == b"<":
            return Fault(Rejected("The endpoint answered with a web page. A base URL usually ends in /v1."))
        return cut_off()
    if isinstance(body, dict) and body.get("error") and not body.get("choices"):
        return _error_inside(body["error"], payload)
    try:
        choice = body["choices"][0]
        usage = body.get("usage") or {}
        return Completion(
            text=_text_of(choice["message"]),
            model=str(body.get("model") or ""),
            fingerprint=str(body.get("system_fingerprint") or ""),
            finish_reason=str(choice.get("finish_reason") or ""),
            tokens_in=_count(usage.get("prompt_tokens")),
            tokens_out=_count(usage.get("completion_tokens")),
            tokens=_tokens_of(choice.get("logprobs")),
        )
    except (KeyError, IndexError, TypeError, AttributeError):
        said = complaint_of(payload).message
        return Fault(Rejected(f"The endpoint's answer is not a chat completion{': ' + clip(said) if said else '.'}"))


def _error_inside(error: Any, payload: bytes) -> Fault:
    """Gateways report the failure of what lies behind them inside a reply of status 200."""
    code = error.get("code") if isinstance(error, dict) else None
    return fault_of_status(code if isinstance(code, int) and 400 <= code < 600 else 502, {}, payload)


def _text_of(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content if isinstance(part, dict))
    return str(content or message.get("refusal") or "")


def _tokens_of(logprobs: Any) -> tuple[Token, ...]:
    """The last tokens with their probabilities; none where they came in another shape."""
    try:
        return tuple(_token(entry) for entry in logprobs["content"][-MOST_TOKENS:])
    except (KeyError, TypeError, ValueError):
        return ()


def _token(entry: dict[str, Any]) -> Token:
    others = (_chance(other) for other in (entry.get("top_logprobs") or ())[:MOST_LIKELIEST])
    return Token(*_chance(entry), tuple(others))


def _chance(entry: dict[str, Any]) -> tuple[str, float]:
    return storable(entry["token"][:MOST_TOKEN]), round(max(float(entry["logprob"]), LEAST_LOGPROB), 6)


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 <= value < 2**31 else None
