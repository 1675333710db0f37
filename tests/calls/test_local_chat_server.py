"""The server of the tests is itself worth a few: a double that lies would hide what the client gets wrong."""

import json
import urllib.error
import urllib.request

import pytest

from tests.local_chat_server import cut_off, too_many


def ask(server, **body):
    request = urllib.request.Request(
        f"{server.url}/chat/completions",
        json.dumps({"model": "tiny", "messages": [], **body}).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer sk-right"},
    )
    with urllib.request.urlopen(request, timeout=5) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]


def test_it_replies(chat_server):
    assert ask(chat_server) == "ok"
    assert chat_server.received[0].headers["authorization"] == "Bearer sk-right"


def test_it_fills_a_schema(chat_server):
    schema = {"type": "object", "properties": {"label": {"enum": ["good", "bad"]}, "score": {"type": "number"}}}
    text = ask(chat_server, response_format={"type": "json_schema", "json_schema": {"schema": schema}})
    assert json.loads(text) == {"label": "good", "score": 0}


def test_what_is_queued_happens_once(chat_server):
    chat_server.then(too_many(retry_after=2))
    with pytest.raises(urllib.error.HTTPError) as refusal:
        ask(chat_server)
    assert (refusal.value.code, refusal.value.headers["Retry-After"]) == (429, "2")
    assert ask(chat_server) == "ok"


def test_it_cuts_a_reply_off(chat_server):
    chat_server.then(cut_off())
    with pytest.raises(Exception, match="IncompleteRead"):
        ask(chat_server)


def test_it_names_the_parameter_it_refuses(chat_server):
    chat_server.refuses = {"seed"}
    with pytest.raises(urllib.error.HTTPError) as refusal:
        ask(chat_server, seed=1)
    assert json.load(refusal.value)["error"]["param"] == "seed"
