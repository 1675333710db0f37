"""Many questions at once: slots, shared replies, the cache, retries that cost only themselves, and stopping."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from evalstudio.calls.chat import ChatClient, Patience
from evalstudio.calls.guard import Guard
from evalstudio.calls.replies import NotNow
from tests.calls.talking import ask_all, ask_one, question, store_for, with_client
from tests.local_chat_server import broken, refused, slow, too_many


def questions(count):
    return [question(f"Is answer {number} good?") for number in range(count)]


def test_the_slots_are_filled_and_never_exceeded(chat_server):
    chat_server.latency_s = 0.05
    replies = ask_all(store_for(chat_server, max_in_flight=8), *questions(40))
    assert {reply.text for reply in replies} == {"ok"}
    assert chat_server.max_in_flight == 8


def test_256_calls_can_be_open_at_once(chat_server):
    everybody_is_here = threading.Barrier(256)

    def wait_for_all(body):
        everybody_is_here.wait(timeout=15)
        return "ok"

    chat_server.reply = wait_for_all
    replies = ask_all(store_for(chat_server, max_in_flight=256), *questions(256), patience=Patience())
    assert [reply.text for reply in replies] == ["ok"] * 256


def test_a_waiting_retry_holds_no_slot(chat_server):
    chat_server.then(too_many(0.5))
    replies = ask_all(store_for(chat_server, max_in_flight=1), *questions(5))
    assert [reply.attempts for reply in replies] == [2, 1, 1, 1, 1]
    arrivals = [received.body["messages"][0]["content"] for received in chat_server.received]
    assert arrivals[-1] == arrivals[0]
    assert chat_server.received[4].at - chat_server.received[0].at < 0.4


def test_a_retry_goes_before_new_questions(chat_server):
    chat_server.latency_s = 0.05
    chat_server.then(too_many(0.07))
    ask_all(store_for(chat_server, max_in_flight=1), *questions(8))
    arrivals = [received.body["messages"][0]["content"] for received in chat_server.received]
    assert arrivals[0] in arrivals[2:5]


def test_equal_questions_that_meet_are_asked_once(chat_server):
    chat_server.latency_s = 0.05
    first, *others = ask_all(store_for(chat_server), *[question()] * 5)
    assert chat_server.calls == 1
    assert not first.from_cache
    assert all(other == replace(first, from_cache=True) for other in others)


def test_another_asking_of_the_same_question_is_another_call(chat_server):
    ask_all(store_for(chat_server), question(), question(nonce=1))
    assert chat_server.calls == 2


def test_an_error_reaches_all_who_asked_the_same(chat_server):
    chat_server.then(refused(400, "No."))
    errors = ask_all(store_for(chat_server), question(), question())
    assert [str(error) for error in errors] == ["The endpoint refused the request (400): No."] * 2


def test_when_the_first_asker_gives_up_the_next_one_asks(chat_server):
    chat_server.then(slow(0.5))

    async def act(chat):
        first = asyncio.ensure_future(chat.ask(question()))
        await asyncio.sleep(0.1)
        second = asyncio.ensure_future(chat.ask(question()))
        await asyncio.sleep(0.01)
        first.cancel()
        return await second

    assert with_client(store_for(chat_server), act).text == "ok"
    assert chat_server.calls == 2


def test_a_stored_reply_is_not_asked_again(chat_server):
    store = store_for(chat_server)
    reply = ask_one(store)
    store.replies[reply.key] = replace(reply, reusable=True)
    assert ask_one(store) == replace(reply, reusable=True, from_cache=True)
    assert chat_server.calls == 1


def test_questions_that_come_together_are_looked_up_together(chat_server):
    store = store_for(chat_server)
    ask_all(store, *questions(50))
    together = [len(keys) for keys in store.looked_up]
    assert sum(together) == 50
    assert len(together) <= 3  # one, unless the computer is too busy for all to come at once


def test_a_broken_look_up_reaches_who_asked(chat_server):
    store = store_for(chat_server)
    store.find = lambda keys: 1 / 0
    assert [type(error) for error in ask_all(store, *questions(2))] == [ZeroDivisionError] * 2


def test_nothing_is_sent_before_slots_are_granted(chat_server):
    async def act(chat):
        asked = asyncio.ensure_future(chat.ask(question()))
        await asyncio.sleep(0.1)
        assert chat_server.calls == 0
        chat.set_slots(1, 2, None)
        return await asked

    assert with_client(store_for(chat_server), act, slots=0).text == "ok"


def test_slots_may_be_granted_before_the_first_question(chat_server):
    async def act(chat):
        chat.set_slots(1, 1, None)
        return await chat.ask(question())

    assert with_client(store_for(chat_server), act, slots=0).text == "ok"


def test_stopping_refuses_those_who_wait_and_lands_those_in_flight(chat_server):
    chat_server.then(slow(1), too_many(30))

    async def act(chat):
        asked = [asyncio.ensure_future(chat.ask(ask)) for ask in questions(4)]
        while len(chat_server.received) < 3:
            await asyncio.sleep(0.01)
        chat.stop()  # one in flight, one asleep until its retry, one in flight in its place, one waiting
        asked.append(asyncio.ensure_future(chat.ask(question("late"))))
        return await asyncio.gather(*asked, return_exceptions=True)

    chat_server.latency_s = 1
    began = time.monotonic()
    landed, asleep, *others = with_client(store_for(chat_server, max_in_flight=2), act)
    assert landed.text == "ok"
    assert isinstance(asleep, NotNow)
    assert others[0].text == "ok"
    assert [type(other) for other in others[1:]] == [NotNow, NotNow]
    assert time.monotonic() - began < 20  # the retry would have come after 30


def test_pressure_tells_what_the_gate_saw(chat_server):
    chat_server.then(*[too_many(0.05)] * 8)

    async def act(chat):
        await asyncio.gather(*(chat.ask(ask) for ask in questions(8)))
        return chat.pressure(), chat.pressure()

    first, second = with_client(store_for(chat_server, max_in_flight=8), act)
    assert (first[1].started, first[1].refused, first[1].lowered) == (16, 8, 1)
    assert first[1].ceiling == pytest.approx(5.6)
    assert (second[1].started, second[1].refused, second[1].lowered) == (0, 0, 0)


def test_an_endpoint_that_bears_less_than_granted_loses_nothing(chat_server):
    """Ten at once is all it takes; everything above gets 429 without a hint how long to wait."""
    chat_server.latency_s = 0.05
    chat_server.at_once = 10
    replies = ask_all(store_for(chat_server, max_in_flight=40), *questions(200), patience=Patience())
    assert [reply.text for reply in replies] == ["ok"] * 200


def test_a_long_retry_after_sends_the_work_back(chat_server):
    chat_server.then(too_many(3600))
    [error] = ask_all(store_for(chat_server), question(), patience=Patience())
    assert isinstance(error, NotNow)
    assert "left alone for 3" in str(error)


def test_a_client_belongs_to_its_loop(chat_server):
    async def opened():
        client = ChatClient(store_for(chat_server), ThreadPoolExecutor(1), Guard(may_be_private=True))
        async with client:
            return client

    client = asyncio.run(opened())
    with pytest.raises(RuntimeError, match="event loop"):
        asyncio.run(client.ask(question()))


def test_one_bad_question_does_not_disturb_the_others(chat_server):
    chat_server.then(broken(500))
    replies = ask_all(store_for(chat_server), *questions(10))
    assert sorted(reply.attempts for reply in replies) == [1] * 9 + [2]
