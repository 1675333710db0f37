"""Requests come through a server that refuses, hangs up and answers nonsense now and then."""

import gzip
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from evalstudio_client.errors import Refused, Unreachable
from evalstudio_client.wire import Wire

CUT = "cut"


class Server(HTTPServer):
    """Answers in turn with `answers`: (status, headers, body), or CUT to hang up. Keeps what it was sent."""

    answers: list
    seen: list[tuple[str, dict, bytes]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((f"{self.command} {self.path}", dict(self.headers), body))
        answer = self.server.answers.pop(0)
        if answer == CUT:
            self.close_connection = True
            return
        status, headers, said = answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = _answer

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server():
    server = Server(("127.0.0.1", 0), Handler)
    server.answers, server.seen = [], []
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def wire(server, pauses):
    wire = Wire(f"http://127.0.0.1:{server.server_port}/", "es_x", "support", sleep=pauses.append)
    yield wire
    wire.close()


GOOD = (200, {}, b'{"accepted": 1}')


def test_a_request_is_sent_again_with_the_same_content(server, wire, pauses):
    server.answers = [CUT, (429, {"Retry-After": "7"}, b"{}"), (503, {}, b""), (500, {}, b"oops"), GOOD]
    assert wire.post("experiments/1/outputs/", {"outputs": ["x" * 2_000]}) == {"accepted": 1}
    assert len({(line, body) for line, _, body in server.seen}) == 1
    assert len(server.seen) == 5
    assert pauses[1] == 7
    assert 0.3 < pauses[0] < pauses[2] < pauses[3]


def test_large_bodies_travel_packed_and_small_ones_do_not(server, wire):
    server.answers = [GOOD, GOOD]
    wire.post("a/", {"text": "ä" * 2_000})
    wire.post("b/", {"text": "ä"})
    (_, packed, body), (_, plain, text) = server.seen
    assert packed["Content-Encoding"] == "gzip"
    assert len(body) < 200
    assert json.loads(gzip.decompress(body)) == {"text": "ä" * 2_000}
    assert "Content-Encoding" not in plain
    assert json.loads(text) == {"text": "ä"}
    assert packed["Authorization"] == "Bearer es_x"


def test_a_server_that_never_answers_is_given_up(server, wire, pauses):
    server.answers = [CUT] * 6
    with pytest.raises(Unreachable, match="did not answer"):
        wire.get("runs/")
    assert len(server.seen) == 6
    assert len(pauses) == 5


def test_what_is_refused_for_good_is_not_asked_again(server, wire):
    problem = {"detail": "Some fields are wrong.", "errors": [{"field": "system", "message": "This is required."}]}
    server.answers = [(400, {}, json.dumps(problem).encode())]
    with pytest.raises(Refused, match=r"Some fields are wrong\. system: This is required\.") as caught:
        wire.post("experiments/")
    assert caught.value.status == 400
    assert len(server.seen) == 1


def test_the_last_refusal_is_told_when_patience_is_over(server, wire):
    server.answers = [(429, {"Retry-After": "1"}, b'{"detail": "Ask again in 1 s."}')] * 6
    with pytest.raises(Refused, match="Ask again in 1 s"):
        wire.get("runs/")


@pytest.mark.parametrize(
    "answer", [(200, {}, b"<html>"), (404, {}, b"<html>"), (302, {"Location": "/"}, b""), (400, {}, b"[]")]
)
def test_what_is_no_evalstudio_is_refused(server, wire, answer):
    server.answers = [answer]
    with pytest.raises(Refused, match="answer"):
        wire.get("runs/")


@pytest.mark.parametrize("answer", [b'{"ok": true}', b"[]", b"7"])
def test_a_list_that_is_no_page_is_refused(server, wire, answer):
    server.answers = [(200, {}, answer)]
    with pytest.raises(Refused, match="does not answer as EvalStudio does"):
        list(wire.pages("runs/"))


@pytest.mark.parametrize(
    ("asked", "least", "most"),
    [("3600", 60, 60), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.3, 0.7), ("soon", 0.3, 0.7), ("-5", 0.3, 0.7)],
)
def test_a_pause_is_never_endless(server, wire, pauses, asked, least, most):
    server.answers = [(503, {"Retry-After": asked}, b""), GOOD]
    wire.get("runs/")
    assert least <= pauses[0] <= most
