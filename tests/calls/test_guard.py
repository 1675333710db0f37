"""The outbound guard against addresses in every disguise."""

import asyncio
from ipaddress import ip_address

import pytest

from evalstudio.calls.guard import (
    AddressRefused,
    Guard,
    GuardedResolver,
    Reach,
    guard_for_connections,
    guard_for_content,
    reach_of,
)

PUBLIC, PRIVATE, NEVER = Reach.PUBLIC, Reach.PRIVATE, Reach.NEVER


@pytest.mark.parametrize(
    ("address", "reach"),
    [
        ("8.8.8.8", PUBLIC),
        ("2606:4700::1111", PUBLIC),
        ("::ffff:8.8.8.8", PUBLIC),
        ("127.0.0.1", PRIVATE),
        ("127.255.0.1", PRIVATE),
        ("10.1.2.3", PRIVATE),
        ("172.16.0.1", PRIVATE),
        ("192.168.1.1", PRIVATE),
        ("100.64.0.1", PRIVATE),
        ("::1", PRIVATE),
        ("fd12::1", PRIVATE),
        ("::ffff:127.0.0.1", PRIVATE),
        ("::ffff:10.0.0.1", PRIVATE),
        ("64:ff9b::7f00:1", PRIVATE),
        ("2002:7f00:1::", PRIVATE),
        ("0.0.0.0", NEVER),
        ("0.1.2.3", NEVER),
        ("::", NEVER),
        ("::127.0.0.1", NEVER),
        ("169.254.169.254", NEVER),
        ("::ffff:169.254.169.254", NEVER),
        ("64:ff9b::a9fe:a9fe", NEVER),
        ("2002:a9fe:a9fe::", NEVER),
        ("64:ff9b:1::1", NEVER),
        ("fe80::1", NEVER),
        ("fec0::1", NEVER),
        ("fd00:ec2::254", NEVER),
        ("100.100.100.200", NEVER),
        ("168.63.129.16", NEVER),
        ("192.0.0.192", NEVER),
        ("224.0.0.1", NEVER),
        ("ff02::1", NEVER),
        ("240.0.0.1", NEVER),
        ("255.255.255.255", NEVER),
        ("198.18.0.1", NEVER),
        ("192.0.2.1", NEVER),
        ("2001::1", NEVER),
    ],
)
def test_where_an_address_leads(address, reach):
    assert reach_of(ip_address(address)) is reach


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://[::1]:8080/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://0.0.0.0/",
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://0x7f.0.0.1/",
        "http://0x7f000001/",
        "http://127.1/",
        "http://127.0.0.1./",
        "http://user:secret@example.org/",
        "http://example.org:99999/",
        "file:///etc/passwd",
        "gopher://example.org/",
        "//example.org/",
        "example.org",
        "http://",
        "http://[",
    ],
)
def test_addresses_that_content_may_not_name(url):
    with pytest.raises(AddressRefused):
        Guard().check_url(url)


def test_addresses_that_owners_may_name():
    owner = Guard(may_be_private=True)
    for url in ("http://127.0.0.1:11434/v1", "http://[::1]/v1", "https://api.example.org/v1", "http://10.0.0.7/v1"):
        owner.check_url(url)
    for url in ("http://169.254.169.254/", "http://0.0.0.0/", "http://2130706433/", "http://[fe80::1]/"):
        with pytest.raises(AddressRefused):
            owner.check_url(url)


def test_an_administrator_vouches_for_hosts():
    guard = Guard(allow=frozenset({"127.0.0.1:9000", "judge.internal", "[::1]:9000"}))
    guard.check_url("http://127.0.0.1:9000/v1")
    guard.check_url("http://[::1]:9000/v1")
    guard.check_resolved("judge.internal", 80, ["10.0.0.7"])
    with pytest.raises(AddressRefused):
        guard.check_url("http://127.0.0.1:9001/v1")
    with pytest.raises(AddressRefused):
        guard.check_resolved("other.internal", 80, ["10.0.0.7"])


def test_one_private_address_among_public_ones_is_enough_to_refuse():
    with pytest.raises(AddressRefused, match=r"example\.org \(10\.0\.0\.1\) lies on this machine or a private network"):
        Guard().check_resolved("example.org", 443, ["8.8.8.8", "10.0.0.1"])


def test_names_are_judged_by_what_they_resolve_to():
    def resolve(guard):
        return asyncio.run(GuardedResolver(guard).resolve("localhost", 80))

    assert {entry["host"] for entry in resolve(Guard(may_be_private=True))} <= {"127.0.0.1", "::1"}
    with pytest.raises(AddressRefused):
        resolve(Guard())


def test_the_two_trusts_follow_the_settings(settings):
    settings.OUTBOUND_ALLOW = ["Judge.Internal"]
    settings.CONNECTIONS_MAY_BE_PRIVATE = True
    assert guard_for_connections() == Guard(True, frozenset({"judge.internal"}))
    assert guard_for_content() == Guard(False, frozenset({"judge.internal"}))
    settings.CONNECTIONS_MAY_BE_PRIVATE = False
    assert guard_for_connections() == Guard(False, frozenset({"judge.internal"}))
