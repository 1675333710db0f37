"""Probabilities of a reply's tokens: asked for, read, kept, and done without where an endpoint refuses them."""

import math

import pytest

from evalstudio.calls import evidence
from evalstudio.calls.chat.traits import Traits
from evalstudio.calls.models import REHEARSAL_URL, Call, Connection
from evalstudio.calls.replies import Ask, Reply, Token
from experiments.ledger.keeping import keep_replies
from tests.calls.talking import ask_one, error_of, question, store_for
from tests.local_chat_server import refused, says

TOKENS = [("So", {"So": 1.0}), (": ", {": ": 1.0}), ("A", {"A": 0.75, "B": 0.2, "\0": 0.01})]
KEPT = (Token("A", -0.25, (("A", -0.25), ("B", -1.5))),)


def test_they_are_asked_for_and_read(chat_server):
    chat_server.then(says("So: A", TOKENS))
    reply = ask_one(store_for(chat_server), question(top_logprobs=5))
    assert [token.text for token in reply.tokens] == ["So", ": ", "A"]
    last = reply.tokens[-1]
    assert math.exp(last.logprob) == pytest.approx(0.75, abs=1e-5)
    assert [text for text, _ in last.likeliest] == ["A", "B", "\N{REPLACEMENT CHARACTER}"]
    assert (chat_server.bodies[0]["logprobs"], chat_server.bodies[0]["top_logprobs"]) == (True, 5)


def test_nobody_gets_them_unasked(chat_server):
    chat_server.tokens = TOKENS
    assert ask_one(store_for(chat_server)).tokens == ()
    assert "logprobs" not in chat_server.bodies[0]


def test_only_the_last_of_a_long_reply_are_kept(chat_server):
    chat_server.then(says("x", [(str(number), {}) for number in range(500)]))
    reply = ask_one(store_for(chat_server), question(top_logprobs=5))
    assert [token.text for token in reply.tokens] == [str(number) for number in range(436, 500)]


@pytest.mark.parametrize(
    "odd", [None, {}, {"content": None}, {"content": [{}]}, {"content": [{"token": "A"}]}, ["A"], 7]
)
def test_another_shape_of_them_counts_as_none(chat_server, odd):
    choice = {"index": 0, "message": {"content": "A"}, "finish_reason": "stop", "logprobs": odd}
    chat_server.then(says("A", choices=[choice]))
    reply = ask_one(store_for(chat_server), question(top_logprobs=5))
    assert (reply.text, reply.tokens) == ("A", ())


@pytest.mark.parametrize(
    "complaint",
    [
        refused(400, "Unsupported parameter: 'logprobs' is not supported with this model.", "logprobs"),
        refused(400, "top_logprobs must be at most 3.", "top_logprobs"),
        refused(403, "You are not allowed to request logprobs from this model."),
    ],
)
def test_a_refusal_of_them_is_found_once_left_out_said_and_remembered(chat_server, complaint):
    chat_server.then(complaint)
    store = store_for(chat_server)
    reply = ask_one(store, question(top_logprobs=5))
    assert (reply.text, reply.left_out, reply.attempts) == ("ok", ("logprobs",), 2)
    assert not {"logprobs", "top_logprobs"} & set(chat_server.bodies[-1])
    assert store.traits == {(1, "tiny"): Traits(frozenset({"logprobs"}))}


def test_a_403_about_the_key_stays_one(chat_server):
    chat_server.then(refused(403, "This key may not use the project."))
    assert "does not accept the key (403)" in str(error_of(store_for(chat_server), question(top_logprobs=5)))
    assert chat_server.calls == 1


def test_a_question_without_them_keeps_the_key_it_always_had():
    plain = Ask(1, "tiny", ({"role": "user", "content": "Why?"},))
    assert plain.key == "31e6ab0ccb02c418d2156985f86c24267cc8ca0d6964f17f78ad88f8eb3fc432"
    assert Ask(1, "tiny", plain.messages, top_logprobs=5).key != plain.key


@pytest.mark.parametrize("keep", [evidence.store, keep_replies])
def test_a_reply_comes_back_with_them(project, keep):
    connection = Connection.objects.create(project=project, name="R", base_url=REHEARSAL_URL, model="m")
    reply = Reply("k", connection.pk, "m", "A", reusable=True, tokens=KEPT)
    keep([reply, Reply("other", connection.pk, "m", "A", reusable=True)])
    found = evidence.find(["k", "other"])
    assert (found["k"].tokens, found["other"].tokens) == (KEPT, ())
    assert Call.objects.get(key="other").tokens is None
