"""Testing a connection says plainly what is wrong, and finds out what a model refuses."""

import socket

import pytest

from evalstudio.calls.checking import Finding, check
from evalstudio.calls.models import Connection
from tests.local_chat_server import broken, not_json, refused, says


@pytest.fixture
def connection(chat_server):
    """Not saved: a test works on what is typed."""
    connection = Connection(name="Local", base_url=chat_server.url, model="tiny")
    connection.key = "sk-right"
    return connection


def test_it_works(connection, chat_server):
    chat_server.models = ["tiny", "small"]
    checkup = check(connection)
    assert (checkup.finding, checkup.works, checkup.reply.text) == (Finding.WORKS, True, '{"label": "yes"}')
    assert (checkup.reply.model_reported, checkup.reply.latency_ms > 0) == ("tiny", True)
    assert checkup.found == {"left_out": [], "renamed": {}, "structured": "json_schema"}
    assert checkup.listed == ["tiny", "small"]
    assert chat_server.calls == 1


def test_nobody_is_there(connection):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        connection.base_url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    checkup = check(connection)
    assert (checkup.finding, checkup.works) == (Finding.UNREACHABLE, False)
    assert "could not be reached: Connect" in checkup.sentence
    assert "It was asked" not in checkup.sentence


def test_a_name_that_does_not_exist(connection):
    connection.base_url = "http://nowhere.invalid/v1"
    assert check(connection).sentence == "The name nowhere.invalid could not be found (DNS)."


def test_the_guard_says_no(connection, settings):
    settings.CONNECTIONS_MAY_BE_PRIVATE = False
    checkup = check(connection)
    assert checkup.finding == Finding.UNREACHABLE
    assert "EVALSTUDIO_OUTBOUND_ALLOW" in checkup.sentence


def test_a_wrong_key(connection, chat_server):
    chat_server.key = "sk-other"
    checkup = check(connection)
    assert (checkup.finding, checkup.listed) == (Finding.WRONG_KEY, ())
    assert checkup.sentence == "The endpoint does not accept the key (401): Incorrect API key provided."


def test_a_stored_key_that_cannot_be_read(connection, settings):
    settings.ENCRYPTION_KEY = "another"
    assert check(connection).finding == Finding.WRONG_KEY


def test_an_unknown_model_and_the_nearest_ones(connection, chat_server):
    chat_server.models = ["embed-large", "tiny-2", "tiny-1"]
    checkup = check(connection)
    assert (checkup.finding, set(checkup.nearest), checkup.more_listed) == (
        Finding.UNKNOWN_MODEL, {"tiny-1", "tiny-2"}, 1,
    )  # fmt: skip


def test_a_question_it_will_not_take(connection, chat_server):
    chat_server.then(refused(422, "No recorded pair."))
    checkup = check(connection)
    assert (checkup.finding, checkup.works) == (Finding.REFUSED, False)
    assert "No recorded pair." in checkup.sentence


def test_a_model_that_is_unknown_without_a_404(connection, chat_server):
    chat_server.then(refused(400, "Invalid model name passed in model=tiny"))
    assert check(connection).finding == Finding.UNKNOWN_MODEL


def test_no_structured_output(connection, chat_server):
    chat_server.structured = "text"
    chat_server.reply = 'Yes: {"label": "yes"}'
    checkup = check(connection)
    assert (checkup.finding, checkup.found["structured"]) == (Finding.WORKS, "text")


def test_a_reply_without_the_json_it_was_asked_for(connection, chat_server):
    chat_server.then(says("Four is even."))
    checkup = check(connection)
    assert (checkup.finding, checkup.works) == (Finding.NO_JSON, True)


def test_refused_parameters_are_found(connection, chat_server):
    chat_server.refuses = {"temperature", "seed"}
    chat_server.renames = {"max_tokens": "max_completion_tokens"}
    assert check(connection).found == {
        "left_out": ["seed", "temperature"],
        "renamed": {"max_tokens": "max_completion_tokens"},
        "structured": "json_schema",
    }


@pytest.mark.parametrize(
    ("behaviour", "finding"),
    [
        (broken(500), Finding.FAILING),
        (not_json(), Finding.REFUSED),
        (refused(404, "Not found."), Finding.UNKNOWN_MODEL),
    ],
)
def test_other_troubles(connection, chat_server, behaviour, finding):
    chat_server.models = ["tiny"]
    chat_server.then(behaviour)
    assert check(connection).finding == finding
