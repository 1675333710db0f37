"""A token may make so many requests a minute, whichever web process they come to."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections

from evalstudio.projects import allowance
from evalstudio.projects.models import ApiToken, Scope, TokenMinute
from tests.api.test_api import call  # noqa: F401

NOON = 1_800_000_000.0  # the beginning of a minute


@pytest.fixture
def token(project, alice, settings) -> ApiToken:
    settings.API_PER_MINUTE = 60
    return ApiToken.issue(project, alice, "pipeline", Scope.WRITE)[0]


def as_another_process(token: ApiToken) -> None:
    """Forget what this process holds of the token's permits."""
    allowance._held.pop(token.digest, None)


def granted(token: ApiToken, asked: int, now: float = NOON) -> int:
    return sum(not allowance.use(token, now).refused for _ in range(asked))


def test_a_minute_has_its_permits_and_the_next_one_has_them_again(token):
    assert granted(token, 100) == 60
    assert granted(token, 100, NOON + 59.9) == 0
    assert granted(token, 100, NOON + 60) == 60


def test_processes_share_the_permits(token):
    assert granted(token, 30) == 30
    as_another_process(token)
    assert granted(token, 100) == 30
    as_another_process(token)
    assert granted(token, 5) == 0


def test_tokens_do_not_share(token, project, alice):
    other = ApiToken.issue(project, alice, "other", Scope.READ)[0]
    assert granted(token, 70) == 60
    assert granted(other, 70) == 60


def test_requests_take_permits_in_blocks_and_refused_ones_write_nothing(token, django_assert_num_queries):
    with django_assert_num_queries(20):
        granted(token, 60)
    granted(token, 1)
    with django_assert_num_queries(0):
        granted(token, 10)


@pytest.mark.django_db(transaction=True)
def test_threads_never_get_more_than_the_limit_together(token):
    def ask(_: int) -> int:
        try:
            return granted(token, 9)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(8))) == 60


@pytest.mark.django_db(transaction=True)
def test_forked_processes_never_get_more_than_the_limit_together(token):
    connections.close_all()
    children = []
    for _ in range(3):
        if not (pid := os.fork()):
            try:
                os._exit(granted(token, 48))
            finally:
                os._exit(255)
        children.append(pid)
    shares = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    assert sum(shares) == 60, shares


def test_over_the_limit_a_request_is_429_and_says_when_to_ask_again(call, settings):  # noqa: F811
    settings.API_PER_MINUTE = 2
    while (reply := call("get", "runs/")).status_code == 200:
        assert reply["RateLimit-Limit"] == "2"
        assert int(reply["RateLimit-Remaining"]) <= 1
    assert reply.status_code == 429
    assert reply["Content-Type"] == "application/problem+json"
    assert 1 <= int(reply["Retry-After"]) <= 60
    assert reply["RateLimit-Remaining"] == "0"
    assert reply["Retry-After"] == reply["RateLimit-Reset"]
    assert reply.json()["detail"] == f"This token may make 2 requests a minute. Ask again in {reply['Retry-After']} s."


def test_people_in_a_browser_are_not_counted(as_alice, project, settings):
    settings.API_PER_MINUTE = 1
    replies = [as_alice.get(f"/api/projects/{project.slug}/runs/") for _ in range(3)]
    assert [reply.status_code for reply in replies] == [200, 200, 200]
    assert "RateLimit-Limit" not in replies[0]
    assert not TokenMinute.objects.exists()
