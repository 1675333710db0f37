"""What tests of pages in a browser share."""

import pytest

from tests.browser_fixtures import sign_in


@pytest.fixture
def visit(page, live_server, alice):
    """Opens an address as alice; files with pages of their own kind have their own."""
    sign_in(page, live_server, alice)

    def go(address):
        page.goto(live_server.url + address)
        return page

    return go
