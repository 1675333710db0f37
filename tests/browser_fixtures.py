"""Fixtures for tests that drive a real Chromium. Any trouble on a page (an error in its console, a script that threw,
a report of the Content-Security-Policy) fails the test that had it open.

CHROMIUM names the executable; without it the usual names are tried. BROWSER=required makes a missing one a failure.
"""

from __future__ import annotations

import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.test import Client
from playwright.sync_api import expect

TIMEOUT_MS = 20_000  # what a page may take on a computer that has other things to do
MISSING = "no Chromium found: install one, or name it in CHROMIUM"
AXE = next((Path(__file__).parent / "vendor").glob("axe-*/axe.min.js"))
REPORT_CSP = """addEventListener("securitypolicyviolation", (event) =>
  console.error(`CSP: ${event.violatedDirective} refused ${event.blockedURI} in ${event.sourceFile}`));"""
# What is fading in has colours that nobody is to read it in. Spinners turn for ever.
AT_REST = """() => Promise.allSettled(document.getAnimations()
  .filter((one) => one.effect.getComputedTiming().endTime !== Infinity).map((one) => one.finished))"""
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
# A form sent back with its errors is an answer like any other; Chromium logs it as an error.
EXPECTED = re.compile(r"Failed to load resource: the server responded with a status of 422")


def chromium(playwright: Any) -> str | None:
    """The path of a Chromium on this machine, or None."""
    names = (os.environ.get("CHROMIUM", ""), "chromium", "chromium-browser", "google-chrome")
    found = next((path for path in map(shutil.which, names) if path), None)
    own = playwright.chromium.executable_path
    return found or (own if Path(own).exists() else None)


@pytest.fixture(scope="session")
def browser_type_launch_args(playwright: Any) -> dict[str, Any]:
    """How the browser is started; overrides the fixture of pytest-playwright."""
    path = chromium(playwright)
    if path is None and os.environ.get("BROWSER") == "required":
        pytest.fail(MISSING)
    if path is None:
        pytest.skip(MISSING)
    # Playwright's own loop runs in this thread, which Django would take for an async context.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    return {"executable_path": path, "args": FLAGS}


@pytest.fixture(autouse=True)
def all_answered(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where there is a server, the test ends when it has answered everything, also to pages that are closed by then: a
    request still at work and the emptying of the database would wait for each other."""
    if "live_server" not in request.fixturenames:
        yield
        return
    request.getfixturevalue("transactional_db")
    answering: set[int] = set()  # by thread

    def begun(**_: Any) -> None:
        answering.add(threading.get_ident())

    def ended(**_: Any) -> None:
        answering.discard(threading.get_ident())

    request_started.connect(begun)
    request_finished.connect(ended)
    yield
    give_up_at = time.monotonic() + TIMEOUT_MS / 1000
    while answering - {threading.get_ident()} and time.monotonic() < give_up_at:
        time.sleep(0.01)
    request_started.disconnect(begun)
    request_finished.disconnect(ended)


@pytest.fixture
def troubles() -> list[str]:
    """What went wrong on the pages of this test; a test that provokes something clears it."""
    return []


@pytest.fixture
def page(context: Any, troubles: list[str]) -> Iterator[Any]:
    """A tab that fails its test when anything went wrong in it."""
    context.set_default_timeout(TIMEOUT_MS)
    expect.set_options(timeout=TIMEOUT_MS)
    context.add_init_script(REPORT_CSP)
    page = context.new_page()
    page.on("pageerror", lambda error: troubles.append(f"threw: {error}"))
    page.on("console", lambda message: _note(message, troubles))
    yield page
    page.close()
    if troubles:
        pytest.fail("Trouble on the page:\n" + "\n".join(troubles), pytrace=False)


@pytest.fixture
def interception(page: Any) -> None:
    """For tests that call `page.route` on a page that is already open: what a page asks for while Chromium only begins
    to intercept goes past the route, and no event tells of it. Here it begins before there is a page."""
    page.route("**/nothing-asks-for-this", lambda route: route.abort())


def _note(message: Any, troubles: list[str]) -> None:
    if message.type == "error" and not EXPECTED.match(message.text):
        troubles.append(f"{message.text} ({message.location.get('url', '')})")


def sign_in(page: Any, live_server: Any, user: Any) -> None:
    """Give the tab a session of `user`, without the detour over the form."""
    client = Client()
    client.force_login(user)
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )


def axe_findings(page: Any) -> list[str]:
    """What axe finds on the page as it stands, one line for each element."""
    page.evaluate(AT_REST)
    page.evaluate(AXE.read_text())
    result = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {node['html'][:160]} ({node['failureSummary'].splitlines()[-1].strip()})"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]


def overflow(page: Any) -> int:
    """By how many pixels the page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """One closing line on what was left out for want of a browser."""
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if MISSING in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(f"Left out: {len(skipped)} browser tests; {MISSING}.", yellow=True)
