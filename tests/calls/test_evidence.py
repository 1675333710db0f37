"""Replies as rows: evidence of every call, and a cache of those that could be read."""

import asyncio
from dataclasses import replace
from decimal import Decimal

import pytest

from evalstudio.calls import evidence
from evalstudio.calls.models import REHEARSAL_URL, Call, Connection, ModelTraits
from evalstudio.calls.replies import Reply, WrongKey
from tests.calls.talking import question
from tests.local_chat_server import says


@pytest.fixture
def connection(project, chat_server):
    connection = Connection(
        project=project,
        name="Local",
        base_url=f"{chat_server.url}/",
        model="tiny",
        usd_per_million_in=Decimal(1),
        usd_per_million_out=Decimal(10),
    )
    connection.key = "sk-right"
    connection.save()
    return connection


def reply(connection, key="k1", **more):
    return Reply(key=key, connection_id=connection.pk, model_asked="tiny", **{"text": "Yes.", "reusable": True, **more})


def asking(*asks):
    """The replies of a client on the database."""
    from evalstudio.calls.chat import open_chat

    async def live():
        async with open_chat() as chat:
            return await asyncio.gather(*(chat.ask(ask) for ask in asks))

    return asyncio.run(live())


def test_a_reply_comes_back_as_it_was_stored(connection):
    whole = reply(
        connection, model_reported="tiny-1", fingerprint="fp", finish_reason="stop", tokens_in=3, tokens_out=1,
        cost_usd=0.5, latency_ms=12.0, left_out=("seed",),
    )  # fmt: skip
    assert evidence.store([whole]) == 1
    assert evidence.find(["k1", "k2"]) == {"k1": replace(whole, from_cache=True)}


def test_a_reply_that_could_not_be_read_is_kept_but_not_used_again(connection):
    evidence.store([reply(connection, text="Hm.", reusable=False)])
    assert Call.objects.get().text == "Hm."
    assert evidence.find(["k1"]) == {}


def test_a_later_readable_reply_replaces_one_that_was_not(connection):
    evidence.store([reply(connection, text="Hm.", reusable=False)])
    evidence.store([reply(connection)])
    assert Call.objects.get().text == "Yes."


def test_a_reusable_reply_stays_for_ever(connection):
    evidence.store([reply(connection)])
    assert evidence.store([reply(connection, text="No.")]) == 0
    assert Call.objects.get().text == "Yes."


def test_what_came_from_the_cache_is_not_stored_again(connection):
    assert evidence.store([reply(connection, from_cache=True)]) == 0


def test_equal_keys_in_one_batch_are_one_row(connection):
    unread = reply(connection, text="Hm.", reusable=False)
    assert [row.text for row in evidence.rows_for([unread, reply(connection), unread])] == ["Yes."]


def test_storing_takes_the_same_queries_for_one_and_for_many(connection, django_assert_max_num_queries):
    with django_assert_max_num_queries(4):  # two of them open and close the transaction
        evidence.store([reply(connection, f"k{number}") for number in range(64)])
    assert Call.objects.count() == 64


@pytest.mark.django_db(transaction=True)
def test_a_question_is_asked_once_and_then_remembered(connection, chat_server):
    chat_server.then(says("Yes.", usage={"prompt_tokens": 1000, "completion_tokens": 100}))
    [first] = asking(question(connection_id=connection.pk))
    assert (first.text, first.cost_usd) == ("Yes.", 0.002)
    evidence.store([replace(first, reusable=True)])
    [second] = asking(question(connection_id=connection.pk))
    assert (second.text, second.from_cache, chat_server.calls) == ("Yes.", True, 1)
    assert chat_server.received[0].headers["authorization"] == "Bearer sk-right"


@pytest.mark.django_db(transaction=True)
def test_what_a_model_refuses_is_remembered_across_clients(connection, chat_server):
    chat_server.refuses = {"temperature"}
    chat_server.renames = {"max_tokens": "max_completion_tokens"}
    asking(question(connection_id=connection.pk))
    traits = ModelTraits.objects.get()
    assert (traits.model, traits.left_out, traits.renamed) == (
        "tiny", ["temperature"], {"max_tokens": "max_completion_tokens"},
    )  # fmt: skip
    [again] = asking(question("Another one?", connection_id=connection.pk))
    assert (again.attempts, again.left_out) == (1, ("temperature",))


@pytest.mark.django_db(transaction=True)
def test_the_rehearsal_is_a_connection_without_cost(project):
    rehearsal = Connection.objects.create(project=project, name="Rehearsal", base_url=REHEARSAL_URL, model="rehearsal")
    [answer] = asking(question(connection_id=rehearsal.pk))
    assert (answer.model_reported, answer.cost_usd) == ("rehearsal", 0.0)


@pytest.mark.django_db(transaction=True)
def test_a_key_of_another_encryption_key_is_said(connection, settings):
    settings.ENCRYPTION_KEY = "another"
    with pytest.raises(WrongKey, match="Type it in again"):
        asking(question(connection_id=connection.pk))
