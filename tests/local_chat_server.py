"""A real HTTP server on loopback that speaks the chat protocol and misbehaves on demand.

    def test_it_waits_as_told(chat_server):
        chat_server.then(too_many(retry_after=0.05))      # the next request gets this, later ones the usual
        ... ask something of chat_server.url ...
        assert chat_server.calls == 2

What is usual is set on the server; what happens once is queued with `then(...)`, in order:

    chat_server.reply = "yes"                     a text, or a function of the request's body (dict) that returns one
    chat_server.latency_s = 0.2                   before every usual reply
    chat_server.key = "sk-right"                  any other key gets 401
    chat_server.models = ["tiny"]                 any other model gets 404; also what GET /models lists
    chat_server.refuses = {"temperature"}         400 naming the first of these that a request holds
    chat_server.renames = {"max_tokens": "max_completion_tokens"}
    chat_server.structured = "json_object"        best it knows: json_schema (default), json_object or text
    chat_server.at_once = 10                      429 for whoever comes while so many are open
    chat_server.tokens = [("A", {"A": 0.7, "B": 0.3})]    sent as logprobs with each usual reply that asks for them
    release = chat_server.hold(after=8)           usual replies to all but the first eight wait for release.set()

Unless `reply` is set, a request with a JSON schema gets the smallest value that fits it and any other one gets "ok".
What arrived is in `chat_server.received` (path, headers, body, at), `calls` counts chat requests and `max_in_flight`
the most that were open at once. `chat_server.url` ends in /v1.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Body = dict[str, Any]
HELD_S = 60.0


@dataclass(frozen=True, slots=True)
class Received:
    """One chat request as it came in; `at` is the server's monotonic clock in seconds."""

    path: str
    headers: dict[str, str]
    body: Body
    at: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes over the wire. With `cut_at` the connection closes after so many bytes of the body."""

    status: int = 200
    payload: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    cut_at: int | None = None


Behaviour = Callable[["ChatServer", Body], Answer]


Tokens = list[tuple[str, dict[str, float]]]  # each token with the probabilities of what might stand in its place


def says(text: str, tokens: Tokens | None = None, **more: Any) -> Behaviour:
    """A proper reply with this text; `more` overrides top-level keys such as `usage` or `model`."""
    return lambda server, body: Answer(payload=completion(body, text, tokens, **more))


def too_many(retry_after: float | None = None, *, ms: float | None = None) -> Behaviour:
    """429, with Retry-After in seconds and/or retry-after-ms where given."""
    headers = {}
    if retry_after is not None:
        headers["Retry-After"] = f"{retry_after:g}"
    if ms is not None:
        headers["retry-after-ms"] = f"{ms:g}"
    return lambda server, body: Answer(429, problem("Rate limit reached."), headers)


def broken(status: int = 500) -> Behaviour:
    """A server error."""
    return lambda server, body: Answer(status, problem("Something went wrong here."))


def refused(status: int, message: str, param: str | None = None, code: str | None = None) -> Behaviour:
    """Any 4xx with the endpoint's own words."""
    return lambda server, body: Answer(status, problem(message, param, code))


def slow(seconds: float, text: str = "ok") -> Behaviour:
    """A proper reply after a while; long enough, it is an endpoint that hangs."""
    return lambda server, body: Answer(payload=completion(body, text), delay_s=seconds)


def cut_off(text: str = "ok") -> Behaviour:
    """A reply whose connection closes halfway through the body."""

    def behave(server: ChatServer, body: Body) -> Answer:
        payload = completion(body, text)
        return Answer(payload=payload, cut_at=len(payload) // 2)

    return behave


def sends(payload: bytes, status: int = 200, **headers: str) -> Behaviour:
    """Raw bytes: not JSON, far too much of it, a redirect."""
    return lambda server, body: Answer(status, payload, headers)


def not_json() -> Behaviour:
    return sends(b"<html>It works!</html>")


def redirect(to: str) -> Behaviour:
    return sends(b"", 307, Location=to)


def completion(body: Body, text: str, tokens: Tokens | None = None, **more: Any) -> bytes:
    """The body of a successful reply; one token per four characters. Tokens come only where they were asked for."""
    asked = sum(len(str(message.get("content"))) for message in body.get("messages", []))
    message = {"role": "assistant", "content": text}
    reply = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": body.get("model", ""),
        "system_fingerprint": "fp_local",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", **_logprobs(body, tokens)}],
        "usage": {
            "prompt_tokens": asked // 4,
            "completion_tokens": len(text) // 4,
            "total_tokens": (asked + len(text)) // 4,
        },
    }
    return json.dumps(reply | more).encode()


def _logprobs(body: Body, tokens: Tokens | None) -> dict[str, Any]:
    if not body.get("logprobs") or tokens is None:
        return {}
    entries = []
    for token, chances in tokens:
        top = [{"token": text, "logprob": math.log(chance)} for text, chance in chances.items()]
        own = math.log(chances.get(token, 1.0))
        entries.append({"token": token, "logprob": own, "top_logprobs": top[: body.get("top_logprobs", 0)]})
    return {"logprobs": {"content": entries}}


def problem(message: str, param: str | None = None, code: str | None = None) -> bytes:
    error = {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    return json.dumps({"error": error}).encode()


def smallest(schema: Any) -> Any:
    """The smallest value that fits a simple JSON schema: first options, empty lists, minimum numbers."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object")
    if kind == "object":
        return {name: smallest(inner) for name, inner in schema.get("properties", {}).items()}
    return {"array": [], "string": "because", "boolean": True, "null": None}.get(kind, schema.get("minimum", 0))


class ChatServer:
    """See the module's docstring."""

    def __init__(self) -> None:
        self.reply: str | Callable[[Body], str] | None = None
        self.latency_s = 0.0
        self.key: str | None = None
        self.models: list[str] | None = None
        self.refuses: set[str] = set()
        self.renames: dict[str, str] = {}
        self.structured = "json_schema"
        self.at_once: int | None = None
        self.tokens: Tokens | None = None
        self.received: list[Received] = []
        self.in_flight = 0
        self.max_in_flight = 0
        self._once: deque[Behaviour] = deque()
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._held_after = math.inf
        self._release = threading.Event()
        self._http = _Listener(("127.0.0.1", 0), _handler_of(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def calls(self) -> int:
        return len(self.received)

    @property
    def bodies(self) -> list[Body]:
        return [received.body for received in self.received]

    def then(self, *behaviours: Behaviour) -> None:
        """Let the next chat requests get these, one each and in this order."""
        with self._lock:
            self._once.extend(behaviours)

    def stop(self) -> None:
        self._stopping.set()
        self._release.set()
        self._http.shutdown()
        self._http.server_close()

    def answer_chat(self, path: str, headers: dict[str, str], body: Body) -> Answer:
        with self._lock:
            self.received.append(Received(path, headers, body, time.monotonic()))
            behaviour = self._once.popleft() if self._once else None
            is_held = len(self.received) > self._held_after
        if behaviour is not None:
            return behaviour(self, body)
        if is_held:
            self._release.wait(HELD_S)
        return self._refusal(headers, body) or self._usual(body)

    def answer_models(self, headers: dict[str, str]) -> Answer:
        if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
            return _wrong_key()
        listed = [{"id": name, "object": "model"} for name in self.models or ["any-model"]]
        return Answer(payload=json.dumps({"object": "list", "data": listed}).encode())

    def hold(self, after: int = 0) -> threading.Event:
        """Let usual replies to all but the first few requests wait until the event is set, a minute at most."""
        self._held_after, self._release = after, threading.Event()
        return self._release

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Around one open request."""
        with self._lock:
            self.in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self.in_flight)
        try:
            yield
        finally:
            with self._lock:
                self.in_flight -= 1

    def wait(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the server."""
        self._stopping.wait(seconds)

    def _refusal(self, headers: dict[str, str], body: Body) -> Answer | None:
        if self.key is not None and headers.get("authorization") != f"Bearer {self.key}":
            return _wrong_key()
        if self.models is not None and body.get("model") not in self.models:
            words = f"The model `{body.get('model')}` does not exist or you do not have access to it."
            return Answer(404, problem(words, code="model_not_found"))
        for old, new in self.renames.items():
            if old in body:
                words = f"Unsupported parameter: '{old}' is not supported with this model. Use '{new}' instead."
                return Answer(400, problem(words, old, "unsupported_parameter"))
        for name in sorted(self.refuses & set(body)):
            words = f"Unsupported parameter: '{name}' is not supported with this model."
            return Answer(400, problem(words, name, "unsupported_parameter"))
        if self.at_once is not None and self.in_flight > self.at_once:
            return Answer(429, problem("Too many at once."))
        form = (body.get("response_format") or {}).get("type", "text")
        ranks = ["text", "json_object", "json_schema"]
        if ranks.index(form) > ranks.index(self.structured):
            words = f"Invalid parameter: 'response_format' of type '{form}' is not supported with this model."
            return Answer(400, problem(words, "response_format"))
        return None

    def _usual(self, body: Body) -> Answer:
        if callable(self.reply):
            text = self.reply(body)
        elif self.reply is not None:
            text = self.reply
        else:
            form = body.get("response_format") or {}
            text = json.dumps(smallest(form["json_schema"]["schema"])) if form.get("type") == "json_schema" else "ok"
        return Answer(payload=completion(body, text, self.tokens), delay_s=self.latency_s)


def _wrong_key() -> Answer:
    return Answer(401, problem("Incorrect API key provided.", code="invalid_api_key"))


class _Listener(ThreadingHTTPServer):
    request_queue_size = 512
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the tests; nobody needs its traceback."""


def _handler_of(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            if self.path.startswith("/v1/models"):
                self._send(server.answer_models(headers))
            else:
                self._send(Answer(404, problem("There is nothing here.")))

        def do_POST(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path != "/v1/chat/completions":
                self._send(Answer(404, problem("There is nothing here.")))
                return
            with server.counted():
                answer = server.answer_chat(self.path, headers, json.loads(body))
                server.wait(answer.delay_s)
            self._send(answer)

        def _send(self, answer: Answer) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer.payload)))
            self.end_headers()
            self.wfile.write(answer.payload[: answer.cut_at])
            if answer.cut_at is not None:
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            """The suite's output is for failures."""

    return Handler


@pytest.fixture
def chat_server() -> Iterator[ChatServer]:
    server = ChatServer()
    yield server
    server.stop()
