"""The cast and the stage: alice owns a project, bob may look at it, charlie and dora are strangers."""

import pytest

from evalstudio.projects.models import Membership, Project, Role, User
from tests.browser_fixtures import (  # noqa: F401
    all_answered,
    browser_type_launch_args,
    interception,
    page,
    pytest_terminal_summary,
    troubles,
)
from tests.local_chat_server import chat_server  # noqa: F401


def _person(name: str) -> User:
    return User.objects.create_user(name, password=f"{name}-password")


@pytest.fixture
def alice(db) -> User:
    return _person("alice")


@pytest.fixture
def bob(db) -> User:
    return _person("bob")


@pytest.fixture
def charlie(db) -> User:
    return _person("charlie")


@pytest.fixture
def dora(db) -> User:
    return _person("dora")


@pytest.fixture
def project(alice, bob) -> Project:
    project = Project.start("Support", alice)
    Membership.objects.create(project=project, user=bob, role=Role.VIEWER)
    return project


@pytest.fixture
def as_alice(client, alice):
    client.force_login(alice)
    return client


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Files with browser tests come last: from the first of these on, Playwright's event loop runs in this thread.

    Whole files, because workers of a parallel run are given files.
    """
    browsing = {item.path for item in items if item.get_closest_marker("browser")}
    items.sort(key=lambda item: (item.path in browsing, item.get_closest_marker("browser") is not None))
