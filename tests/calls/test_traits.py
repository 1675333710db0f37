"""What endpoints refuse is found at the first complaint, left out, said, and remembered."""

from dataclasses import replace

import pytest

from evalstudio.calls.chat.traits import Complaint, Traits, body_of, learn
from evalstudio.calls.replies import Rejected
from tests.calls.talking import ask_all, ask_one, error_of, question, store_for
from tests.local_chat_server import refused

SCHEMA = {"type": "object", "properties": {"label": {"enum": ["good", "bad"]}}}


def test_a_refused_parameter_is_left_out_said_and_remembered(chat_server):
    chat_server.refuses = {"temperature", "seed"}
    store = store_for(chat_server)
    reply = ask_one(store, question(seed=3))
    assert (reply.text, reply.left_out, reply.attempts) == ("ok", ("temperature", "seed"), 3)
    assert store.traits == {(1, "tiny"): Traits(frozenset({"temperature", "seed"}))}
    assert set(chat_server.bodies[-1]) == {"model", "messages", "max_tokens"}


def test_what_is_known_is_not_tried_again(chat_server):
    chat_server.refuses = {"seed"}
    store = store_for(chat_server, traits={"tiny": Traits(frozenset({"seed"}))})
    reply = ask_one(store, question(seed=3))
    assert (reply.left_out, reply.attempts, chat_server.calls) == (("seed",), 1, 1)
    assert store.traits == {}


def test_only_what_was_asked_for_is_missed(chat_server):
    store = store_for(chat_server, traits={"tiny": Traits(frozenset({"seed"}), structured="text")})
    assert ask_one(store, question(seed=None)).left_out == ()


def test_a_parameter_with_another_name_is_renamed(chat_server):
    chat_server.renames = {"max_tokens": "max_completion_tokens"}
    store = store_for(chat_server)
    reply = ask_one(store, question(max_tokens=9))
    assert (reply.left_out, chat_server.bodies[-1]["max_completion_tokens"]) == ((), 9)
    assert store.traits[1, "tiny"].renamed == {"max_tokens": "max_completion_tokens"}


def test_a_parameter_refused_under_both_names_is_left_out(chat_server):
    chat_server.refuses = {"max_tokens", "max_completion_tokens"}
    assert ask_one(store_for(chat_server)).left_out == ("max_tokens",)


@pytest.mark.parametrize(
    ("best", "sent", "missed"),
    [
        ("json_schema", "json_schema", ()),
        ("json_object", "json_object", ("json_schema",)),
        ("text", None, ("response_format",)),
    ],
)
def test_structured_output_falls_back_to_what_the_endpoint_knows(chat_server, best, sent, missed):
    chat_server.structured = best
    store = store_for(chat_server)
    assert ask_one(store, question(schema=SCHEMA)).left_out == missed
    assert (chat_server.bodies[-1].get("response_format") or {}).get("type") == sent
    assert (store.traits[1, "tiny"].structured if store.traits else "json_schema") == best


def test_questions_under_way_learn_side_by_side(chat_server):
    chat_server.latency_s = 0.02
    chat_server.refuses = {"temperature", "seed"}
    chat_server.structured = "text"
    asks = [question(f"Is {number} good?", seed=1, schema=SCHEMA) for number in range(16)]
    replies = ask_all(store_for(chat_server), *asks)
    assert {reply.left_out for reply in replies} == {("temperature", "seed", "response_format")}


def test_each_model_has_its_own_habits(chat_server):
    chat_server.refuses = {"seed"}
    store = store_for(chat_server)
    ask_all(store, question(seed=1), replace(question(seed=1), model="small"))
    assert {model for _, model in store.traits} == {"tiny", "small"}


def test_an_endpoint_that_always_complains_is_left_alone(chat_server):
    chat_server.then(*[refused(400, "Unsupported parameter: 'temperature'.", "temperature")] * 50)
    store = store_for(chat_server)
    assert isinstance(error_of(store), Rejected)
    assert chat_server.calls == 2
    assert store.traits == {}


def learned(message, param=None, **asked):
    ask = question(**asked)
    return learn(Traits(), body_of(ask, Traits()), Complaint(message, param))


@pytest.mark.parametrize(
    ("message", "param", "left_out"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature", "temperature"),
        ("Unrecognized request argument supplied: seed", None, "seed"),
        ("Extra inputs are not permitted", "seed", "seed"),
        ("property 'temperature' is unsupported, did you mean 'top_p'?", None, "temperature"),
        ("`seed` is not supported by this provider; send temperature only", None, "seed"),
    ],
)
def test_complaints_of_real_endpoints_are_understood(message, param, left_out):
    assert learned(message, param, seed=1).left_out == {left_out}


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 8192 tokens, however you requested 9000 tokens in max_tokens.",
        "max_tokens is too large: 100000. This model supports at most 4096 completion tokens.",
        "The model `tiny` does not exist",
        "Invalid message role",
        "The temperature outside is fine",
        "",
    ],
)
def test_other_complaints_teach_nothing(message):
    assert learned(message, seed=1) is None


def test_a_parameter_that_was_not_sent_is_not_to_blame():
    assert learned("Unsupported parameter: 'seed'", "seed", seed=None) is None
