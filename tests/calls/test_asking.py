"""One question over the wire: the reply, its cost, and a plain sentence for every way it can fail."""

import gzip
import socket
import tracemalloc

import pytest

from evalstudio.calls.chat import Endpoint, Patience
from evalstudio.calls.guard import Guard
from evalstudio.calls.replies import EndpointFailing, Rejected, Unreachable, WrongKey
from tests.calls.talking import MemoryStore, ask_all, ask_one, error_of, question, store_for
from tests.local_chat_server import (
    Answer,
    broken,
    cut_off,
    not_json,
    redirect,
    refused,
    says,
    sends,
    slow,
    too_many,
)


def test_it_brings_the_reply_and_what_it_took(chat_server):
    chat_server.then(says("Yes.", usage={"prompt_tokens": 1000, "completion_tokens": 500}, model="tiny-0123"))
    reply = ask_one(store_for(chat_server, usd_per_million_in=2, usd_per_million_out=8))
    assert (reply.text, reply.model_asked, reply.model_reported) == ("Yes.", "tiny", "tiny-0123")
    assert (reply.tokens_in, reply.tokens_out, reply.cost_usd) == (1000, 500, 0.006)
    assert (reply.finish_reason, reply.fingerprint, reply.attempts) == ("stop", "fp_local", 1)
    assert reply.latency_ms > 0
    assert not reply.from_cache
    assert not reply.reusable


def test_it_sends_what_was_asked(chat_server):
    schema = {"type": "object", "properties": {"label": {"enum": ["good", "bad"]}}}
    reply = ask_one(store_for(chat_server), question(seed=7, schema=schema, max_tokens=50))
    assert reply.text == '{"label": "good"}'
    assert chat_server.bodies == [
        {
            "model": "tiny",
            "messages": [{"role": "user", "content": "Is it good?"}],
            "temperature": 0.0,
            "seed": 7,
            "max_tokens": 50,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "reply", "strict": True, "schema": schema},
            },
        }
    ]
    assert chat_server.received[0].headers["authorization"] == "Bearer sk-right"


def test_the_cost_is_unknown_without_prices_or_usage(chat_server):
    assert ask_one(store_for(chat_server)).cost_usd is None
    chat_server.then(says("Yes.", usage=None))
    assert ask_one(store_for(chat_server, usd_per_million_in=2, usd_per_million_out=8)).cost_usd is None


def test_parts_of_a_reply_are_joined_and_a_refusal_is_its_text(chat_server):
    parts = {"content": [{"type": "text", "text": "Ye"}, {"type": "text", "text": "s."}]}
    chat_server.then(says("", choices=[{"message": parts, "finish_reason": "stop"}]))
    assert ask_one(store_for(chat_server)).text == "Yes."
    chat_server.then(says("", choices=[{"message": {"content": None, "refusal": "I won't."}}]))
    assert ask_one(store_for(chat_server)).text == "I won't."


@pytest.mark.parametrize("fault", [too_many(0.01), too_many(ms=10), broken(500), broken(503), cut_off()])
def test_a_fault_that_passes_costs_only_time(chat_server, fault):
    chat_server.then(fault)
    reply = ask_one(store_for(chat_server))
    assert (reply.text, reply.attempts, chat_server.calls) == ("ok", 2, 2)


def test_json_without_its_end_is_asked_again(chat_server):
    chat_server.then(sends(b'{"choices": [{"message": {"content": "Yes'))
    assert ask_one(store_for(chat_server)).text == "ok"


def test_a_hanging_endpoint_is_asked_again(chat_server):
    chat_server.then(slow(5))
    assert ask_one(store_for(chat_server), patience=quick_timeout()).attempts == 2


def quick_timeout():
    return Patience(connect_s=1, total_s=0.3, attempts=2)


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (broken(500), "The endpoint answered with an error (500): Something went wrong here. It was asked 3 times."),
        (cut_off(), "The endpoint cut its reply off. It was asked 3 times."),
    ],
)
def test_it_gives_up_in_the_end(chat_server, fault, sentence):
    chat_server.then(*[fault] * 10)
    error = error_of(store_for(chat_server))
    assert isinstance(error, EndpointFailing)
    assert (str(error), chat_server.calls) == (sentence, 3)


def test_it_gives_up_on_silence(chat_server):
    chat_server.then(slow(5), slow(5))
    error = error_of(store_for(chat_server), patience=quick_timeout())
    assert isinstance(error, EndpointFailing)
    assert str(error) == "The endpoint did not answer within 0.3 s. It was asked 2 times."


def test_a_wrong_key_is_said_at_once(chat_server):
    chat_server.key = "sk-other"
    error = error_of(store_for(chat_server))
    assert isinstance(error, WrongKey)
    assert str(error) == "The endpoint does not accept the key (401): Incorrect API key provided."
    assert chat_server.calls == 1


@pytest.mark.parametrize("status", [400, 401, 404, 500, 200])
def test_an_endpoint_that_quotes_the_key_gives_it_to_nobody(chat_server, status):
    quoted = b'{"error": {"message": "Received API key sk-right, which is no good."}}'
    chat_server.then(*[sends(quoted, status)] * 3)
    error = error_of(store_for(chat_server))
    assert "sk-right" not in str(error)
    assert "[key]" in str(error)


@pytest.mark.parametrize("status", [400, 200])
def test_an_answer_that_is_nested_without_end_is_refused(chat_server, status):
    chat_server.then(*[sends(b'{"error": ' * 100_000, status)] * 3)
    assert isinstance(error_of(store_for(chat_server)), Rejected if status == 400 else EndpointFailing)


def test_proxies_of_the_environment_see_nothing(chat_server, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask_one(store_for(chat_server)).text == "ok"


def test_a_reply_that_unpacks_without_end_is_refused(chat_server):
    packed = gzip.compress(bytes(100 * 1024 * 1024), 9)
    chat_server.then(sends(packed, **{"Content-Encoding": "gzip"}))
    tracemalloc.start()
    error = error_of(store_for(chat_server))
    assert tracemalloc.get_traced_memory()[1] < 40 * 1024 * 1024
    tracemalloc.stop()
    assert str(error) == "The endpoint sent far more than a chat reply."


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        (refused(400, "The prompt is\n too long."), "The endpoint refused the request (400): The prompt is too long."),
        (refused(422, "No recorded pair"), "The endpoint refused the request (422): No recorded pair."),
        (
            sends(b'{"detail": [{"loc": ["body", "model"], "msg": "Field required"}]}', 422),
            "The endpoint refused the request (422): Field required.",
        ),
        (sends(b"<h1>Nothing</h1>", 404), "The endpoint knows no such model or address (404)."),
        (not_json(), "The endpoint answered with a web page. A base URL usually ends in /v1."),
        (sends(b'{"ok": true}'), "The endpoint's answer is not a chat completion."),
        (
            redirect("http://127.0.0.1/"),
            "The endpoint redirects to http://127.0.0.1/, which is not followed. Use the final address.",
        ),
        (sends(b"x" * 9_000_000), "The endpoint sent far more than a chat reply."),
        (
            sends(b'{"error": {"code": 400, "message": "Provider says no"}}'),
            "The endpoint refused the request (400): Provider says no.",
        ),
    ],
)
def test_what_asking_again_cannot_mend_is_said_at_once(chat_server, behaviour, sentence):
    chat_server.then(behaviour)
    error = error_of(store_for(chat_server))
    assert isinstance(error, Rejected)
    assert (str(error), chat_server.calls) == (sentence, 1)


def test_an_unknown_model_is_named(chat_server):
    chat_server.models = ["small"]
    error = error_of(store_for(chat_server))
    assert isinstance(error, Rejected)
    assert "The model `tiny` does not exist" in str(error)


def test_an_empty_account_is_not_waited_for(chat_server):
    chat_server.then(refused(429, "You exceeded your current quota.", code="insufficient_quota"))
    error = error_of(store_for(chat_server))
    assert str(error) == "The account behind this connection has used up its quota: You exceeded your current quota."
    assert chat_server.calls == 1


def test_nobody_at_the_address(chat_server):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store = store_for(chat_server)
    store.endpoints[1] = Endpoint(f"http://127.0.0.1:{port}/v1")
    error = error_of(store)
    assert isinstance(error, Unreachable)
    assert str(error).startswith(f"127.0.0.1:{port} could not be reached: Connect")
    assert str(error).endswith("It was asked 2 times.")


def test_a_name_that_does_not_exist(chat_server):
    store = store_for(chat_server)
    store.endpoints[1] = Endpoint("http://nowhere.invalid/v1")
    error = error_of(store)
    assert isinstance(error, Unreachable)
    assert "The name nowhere.invalid could not be found (DNS)." in str(error)


def test_the_guard_stands_before_the_first_call(chat_server):
    error = error_of(store_for(chat_server), guard=Guard(may_be_private=False))
    assert isinstance(error, Unreachable)
    assert "127.0.0.1 lies on this machine or a private network" in str(error)
    assert chat_server.calls == 0


def test_the_guard_looks_behind_a_name(chat_server):
    store = store_for(chat_server)
    store.endpoints[1] = Endpoint(chat_server.url.replace("127.0.0.1", "localhost"))
    assert ask_one(store).text == "ok"
    error = error_of(store, guard=Guard(may_be_private=False))
    assert "localhost (" in str(error)
    assert "lies on this machine or a private network" in str(error)
    assert chat_server.calls == 1


@pytest.mark.parametrize("host", ["①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1"])
def test_a_host_that_only_a_parser_turns_into_an_address_is_seen_through(chat_server, host):
    store = store_for(chat_server)
    store.endpoints[1] = Endpoint(chat_server.url.replace("127.0.0.1", host))
    assert isinstance(error_of(store, guard=Guard(may_be_private=False)), Unreachable)
    assert chat_server.calls == 0


def test_a_key_that_cannot_be_sent_is_said(chat_server):
    store = store_for(chat_server)
    store.endpoints[1] = Endpoint(chat_server.url, "sk-\nInjected: yes")
    assert isinstance(error_of(store), Unreachable)
    assert chat_server.calls == 0


def test_a_connection_that_is_gone_is_a_sentence():
    [error] = ask_all(MemoryStore({}), question())
    assert str(error) == "The connection of this evaluator no longer exists."


def test_the_rehearsal_answers_without_a_network():
    store = MemoryStore({1: Endpoint("rehearsal:", usd_per_million_in=0, usd_per_million_out=0)})
    reply = ask_one(store, question("Is the answer good?\n(A) good\n(B) bad"))
    assert (reply.model_reported, reply.cost_usd) == ("rehearsal", 0.0)
    assert reply.text


def test_a_late_429_is_waited_for_as_the_endpoint_asks(chat_server):
    chat_server.then(too_many(0.4), too_many(ms=300))
    assert ask_one(store_for(chat_server)).attempts == 3
    first, second, third = (received.at for received in chat_server.received)
    assert second - first >= 0.4
    assert third - second >= 0.3


def test_a_date_in_retry_after_is_understood(chat_server):
    import email.utils
    import time

    def later(server, body):
        return Answer(429, b"{}", {"Retry-After": email.utils.formatdate(time.time() + 1.9, usegmt=True)})

    chat_server.then(later)
    assert ask_one(store_for(chat_server)).attempts == 2
    first, second = (received.at for received in chat_server.received)
    assert second - first > 0.5
