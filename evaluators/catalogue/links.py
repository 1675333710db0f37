"""Rules about links: which stand in a text, whether they are well formed, and whether they answer."""

from __future__ import annotations

import asyncio
import re
from ipaddress import AddressValueError, IPv4Address
from typing import Annotated, Any
from urllib.parse import urlsplit

from evaluators.catalogue.keywords import RULES
from evaluators.catalogue.outcomes import PASS_FAIL, PASSED, Found, failed, passes
from evaluators.catalogue.parameters import Between
from evaluators.catalogue.registry import entry

MOST_REQUESTED = 20  # links of one text
_CANDIDATE = re.compile(r"""\b(?:https?://|www\.)[^\s<>"'\]\)]+""", re.IGNORECASE)
_LABEL = re.compile(r"[^\W_](?:(?:[^\W_]|-){0,61}[^\W_])?")
_TOP_LABEL = re.compile(r"[^\W\d_]{2,63}")


def candidates(text: str) -> list[str]:
    """Everything in a text that looks like a link, in order."""
    found = (match.group().rstrip(".,;:!?") for match in _CANDIDATE.finditer(text))
    return [f"http://{link}" if link[:4].lower() == "www." else link for link in found]


def is_valid(link: str) -> bool:
    """Whether a link is http or https and names a possible host and port."""
    try:
        parts = urlsplit(link)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and _is_host(parts.hostname or "")


def _is_host(host: str) -> bool:
    try:
        return bool(IPv4Address(host))
    except AddressValueError:
        *labels, top = host.split(".")
        return bool(labels) and all(map(_LABEL.fullmatch, labels)) and _TOP_LABEL.fullmatch(top) is not None


@entry("Contains a valid link", family=RULES, measures=PASS_FAIL, tags="VR OA")
async def contains_valid_link(
    text: str,
    *,
    check_reachable: Annotated[bool, "Also request the links. The same text may then score differently later"] = False,
    timeout_s: Annotated[float, "Seconds that a link may take to answer", Between(0.1, 15)] = 5.0,
) -> Found:
    """Passes when a text contains a well-formed link, which may also have to answer."""
    links = [link for link in candidates(text) if is_valid(link)]
    if not links:
        return failed("There is no valid link.")
    return await _reachable(list(dict.fromkeys(links)), timeout_s) if check_reachable else PASSED


@entry("No valid links", family=RULES, measures=PASS_FAIL, tags="VR SE OM")
def no_valid_links(text: str) -> Found:
    """Passes when a text contains no well-formed link. None is requested."""
    links = [link for link in candidates(text) if is_valid(link)]
    return passes(not links, f"Found: {', '.join(links[:MOST_REQUESTED])}.")


async def _reachable(links: list[str], timeout_s: float) -> Found:
    """Passed when one of the first links answers with a status of 2xx or 3xx."""
    from aiohttp import ClientSession, DummyCookieJar, TCPConnector

    from evalstudio.calls.guard import GuardedResolver, guard_for_content

    guard = guard_for_content()
    connector = TCPConnector(resolver=GuardedResolver(guard), limit=8)  # type: ignore[arg-type]
    async with ClientSession(connector=connector, cookie_jar=DummyCookieJar()) as session:
        asked = [_answer(session, guard, link, timeout_s) for link in links[:MOST_REQUESTED]]
        answers = await asyncio.gather(*asked)
    said = "\n".join(f"{link}: {answer}" for link, (_, answer) in zip(links, answers, strict=False))
    return Found(PASSED.measures, said) if any(ok for ok, _ in answers) else failed(said)


async def _answer(session: Any, guard: Any, link: str, timeout_s: float) -> tuple[bool, str]:
    """(whether the link answers well, what it said). Redirects count as an answer and are not followed."""
    from aiohttp import ClientError

    from evalstudio.calls.guard import AddressRefused

    try:
        guard.check_url(link)
        async with asyncio.timeout(timeout_s):
            status = 0
            for method in ("HEAD", "GET"):
                async with session.request(method, link, allow_redirects=False) as reply:
                    status = reply.status
                if 200 <= status < 400:
                    return True, f"answered {status}."
            return False, f"answered {status}."
    except AddressRefused as refused:
        return False, str(refused)
    except TimeoutError:
        return False, f"no answer within {timeout_s:g} s."
    except (ClientError, OSError, ValueError):
        return False, "could not be reached."
