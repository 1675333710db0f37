"""The outbound guard: which addresses a request may go to, decided again for every connection that is opened.

Two trusts exist. An address that an owner typed into a connection may lie on this machine or a private network where
the installation says so. An address that comes from content or from an evaluator version never may, unless the
administrator has listed its host. Cloud metadata services, link-local, multicast and unassigned addresses are out of
reach for both.

A name is judged by what it resolves to, and the connection is opened to exactly the addresses that were judged, so
that a name cannot mean one thing to the guard and another to the socket. Redirects are not the guard's to follow:
callers refuse them. No Django at import time and no HTTP library: `GuardedResolver` fits aiohttp by its shape.
"""

from __future__ import annotations

import asyncio
import re
import socket
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import SplitResult, urlsplit

PRIVATE = tuple(
    ip_network(net)
    for net in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "::1/128", "fc00::/7")
)
# Answer with the machine's own credentials; those that are link-local fall under that rule.
METADATA = frozenset(map(ip_address, ("100.100.100.200", "168.63.129.16", "fd00:ec2::254", "fd20:ce::254")))
NAT64 = ip_network("64:ff9b::/96")
GLOBAL_IPV6 = ip_network("2000::/3")  # all that has been handed out so far
PROTOCOLS = ip_network("192.0.0.0/24")  # the machinery of the internet, some of it a cloud's metadata
PORTS = {"http": 80, "https": 443}

Address = IPv4Address | IPv6Address


class AddressRefused(Exception):
    """The guard will not let a request go there. The message is a sentence for the person who asked for it."""


class Reach(Enum):
    """How far an address lies from this machine."""

    PUBLIC = "public"
    PRIVATE = "private"
    NEVER = "never"


def reach_of(address: Address) -> Reach:
    """Where an address leads, also when IPv6 wraps an IPv4 one."""
    if isinstance(address, IPv6Address) and (inner := _wrapped(address)) is not None:
        return reach_of(inner)
    if address in METADATA:
        return Reach.NEVER
    if any(address.version == net.version and address in net for net in PRIVATE):
        return Reach.PRIVATE
    if isinstance(address, IPv6Address):
        usual = address in GLOBAL_IPV6
    else:
        usual = address not in PROTOCOLS and not address.is_multicast and not address.is_reserved
    return Reach.PUBLIC if usual and address.is_global else Reach.NEVER


def _wrapped(address: IPv6Address) -> IPv4Address | None:
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


@dataclass(frozen=True, slots=True)
class Guard:
    """One trust. `allow` holds hosts, or host:port, that an administrator vouches for whatever they resolve to."""

    may_be_private: bool = False
    allow: frozenset[str] = frozenset()

    def check_url(self, url: str) -> SplitResult:
        """The parts of an http(s) address that may be called as far as its text can tell; raises AddressRefused."""
        parts = _split(url)
        host = parts.hostname or ""
        port = parts.port or PORTS[parts.scheme]
        if self._vouched_for(host, port):
            return parts
        if (address := _literal(host)) is not None:
            self.check_address(address, host)
        return parts

    def check_resolved(self, host: str, port: int, addresses: list[str]) -> None:
        """Raise AddressRefused unless every address that a name resolved to may be called."""
        if self._vouched_for(host, port):
            return
        for address in addresses:
            self.check_address(ip_address(address.partition("%")[0]), host)

    def check_address(self, address: Address, host: str) -> None:
        reach = reach_of(address)
        if reach is Reach.PUBLIC or (reach is Reach.PRIVATE and self.may_be_private):
            return
        named = host if host == str(address) else f"{host} ({address})"
        if reach is Reach.PRIVATE:
            raise AddressRefused(
                f"{named} lies on this machine or a private network, which is not allowed here."
                " An administrator can allow the host with EVALSTUDIO_OUTBOUND_ALLOW."
            )
        raise AddressRefused(f"{named} is an address that no request may go to.")

    def _vouched_for(self, host: str, port: int) -> bool:
        host = f"[{host}]" if ":" in host else host
        return host in self.allow or f"{host}:{port}" in self.allow


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        raise AddressRefused(f"{url!r} is not an address.") from None
    if parts.scheme not in PORTS:
        raise AddressRefused("An address starts with http:// or https://.")
    if not parts.hostname:
        raise AddressRefused(f"{url!r} names no host.")
    if parts.username is not None or parts.password is not None:
        raise AddressRefused("An address must not hold a user name or a password.")
    return parts


def _literal(host: str) -> Address | None:
    """The IP address a host is written as, or None for a name.

    Refuses spellings that only some software understands.
    """
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        pass
    if ":" in host or re.fullmatch(r"(0x[0-9a-f]*|\d+)(\.(0x[0-9a-f]*|\d+))*\.?", host):
        raise AddressRefused(f"{host} is not the usual way to write an IP address.")
    return None


class GuardedResolver:
    """Looks names up for aiohttp and hands over only addresses that the guard lets pass."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_UNSPEC) -> list[dict[str, Any]]:
        """Every address of the host; OSError when it has none, AddressRefused when one of them is out of bounds."""
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM, family=family, flags=socket.AI_ADDRCONFIG)
        self.guard.check_resolved(host, port, [str(sockaddr[0]) for *_, sockaddr in found])
        same = {"hostname": host, "port": port, "flags": socket.AI_NUMERICHOST | socket.AI_NUMERICSERV}
        return [
            {**same, "host": str(sockaddr[0]), "family": family, "proto": proto}
            for family, _, proto, _, sockaddr in found
        ]

    async def close(self) -> None:
        """Nothing is held open."""


def guard_for_connections() -> Guard:
    """The trust in addresses that owners typed into connections."""
    from django.conf import settings

    return Guard(settings.CONNECTIONS_MAY_BE_PRIVATE, frozenset(map(str.lower, settings.OUTBOUND_ALLOW)))


def guard_for_content() -> Guard:
    """The trust in addresses that come from cases, outputs or evaluator versions."""
    from django.conf import settings

    return Guard(False, frozenset(map(str.lower, settings.OUTBOUND_ALLOW)))
