"""Fetching a picture from another host, through the guard and within limits."""

from __future__ import annotations

import asyncio

import aiohttp

from evalstudio.calls.guard import AddressRefused, GuardedResolver, guard_for_content
from evalstudio.files.keeping import type_of

MOST_BYTES = 10 * 1024 * 1024
LIMIT_S = 8.0


class NotFetched(Exception):
    """There is no picture to be had; the message says why."""


def fetch(url: str) -> tuple[bytes, str]:
    """The picture at an address, and its content type as its bytes tell it. Raises NotFetched."""
    return asyncio.run(_fetch(url))


async def _fetch(url: str) -> tuple[bytes, str]:
    guard = guard_for_content()
    try:
        guard.check_url(url)
        resolver: object = GuardedResolver(guard)
        connector = aiohttp.TCPConnector(resolver=resolver)  # type: ignore[arg-type]
        async with (
            aiohttp.ClientSession(
                connector=connector,
                timeout=aiohttp.ClientTimeout(total=LIMIT_S),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": "EvalStudio", "Accept": "image/*"},
            ) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            if response.status != 200:
                raise NotFetched(f"The host answered {response.status}.")
            content = await _read(response)
    except AddressRefused as error:
        raise NotFetched(str(error)) from error
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
        raise NotFetched("The host could not be reached in time.") from error
    content_type = type_of(content)
    if content_type is None:
        raise NotFetched("What lies there is no PNG, JPEG, GIF or WebP.")
    return content, content_type


async def _read(response: aiohttp.ClientResponse) -> bytes:
    parts, size = [], 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > MOST_BYTES:
            raise NotFetched(f"The picture has more than {MOST_BYTES // 1024**2} MB.")
        parts.append(part)
    return b"".join(parts)
