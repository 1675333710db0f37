"""Links: which are valid, and which answer a real server."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from evaluators.catalogue.links import candidates, is_valid
from tests.evaluators.catalogue.examples import score


@pytest.mark.parametrize(
    ("link", "valid"),
    [
        ("http://a.org", True),
        ("HTTPS://A.ORG/x", True),
        ("http://a.org:65535/", True),
        ("http://a.org:65536/", False),
        ("http://a.org:x/", False),
        ("http://127.0.0.1", True),
        ("http://127.0.0.1:8000/x", True),
        ("http://256.0.0.1", False),
        ("http://1.2.3", False),
        ("http://localhost", False),
        ("http://nodomain", False),
        ("http://a.b", False),
        ("http://a.b2", False),
        ("http://-a.org", False),
        ("http://a-.org", False),
        ("http://a--b.org", True),
        ("http://" + "a" * 63 + ".org", True),
        ("http://" + "a" * 64 + ".org", False),
        ("http://a..org", False),
        ("http://münchen.de", True),
        ("http://[::1]/", False),
        ("http://user:key@a.org/", True),
        ("ftp://a.org", False),
    ],
)
def test_a_valid_link_names_a_possible_host_and_port(link, valid):
    assert is_valid(link) is valid


def test_candidates_end_before_punctuation_and_brackets():
    text = "See (https://a.org/x), [b](http://b.org). WWW.c.org! and <www.d.org?q=1>; xhttp://e.org 'http://f.org'"
    assert candidates(text) == [
        "https://a.org/x",
        "http://b.org",
        "http://WWW.c.org",
        "http://www.d.org?q=1",
        "http://f.org",
    ]


def test_what_stands_in_the_way_is_named():
    assert score("no_valid_links", text="a http://a.org, www.b.org.").reason == "Found: http://a.org, http://www.b.org."


class _Answers(BaseHTTPRequestHandler):
    def _answer(self):
        self.server.asked.append((self.command, self.path))
        status = {"/ok": 200, "/moved": 302, "/gone": 404, "/get-only": 405 if self.command == "HEAD" else 200}
        self.send_response(status.get(self.path, 500))
        self.send_header("Location", "http://169.254.169.254/")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET = _answer

    def log_message(self, *args):
        pass


@pytest.fixture
def site(settings):
    """A server on this machine that an administrator vouches for."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answers)
    server.asked = []
    server.url = f"http://127.0.0.1:{server.server_port}"
    settings.OUTBOUND_ALLOW = (f"127.0.0.1:{server.server_port}",)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def reached(text):
    return score("contains_valid_link", {"check_reachable": True, "timeout_s": 5.0}, text=text)


def test_a_link_that_answers_passes_and_its_answer_is_told(site):
    found = reached(f"See {site.url}/ok")
    assert (found.passed, found.reason) == (True, f"{site.url}/ok: answered 200.")
    assert site.asked == [("HEAD", "/ok")]


def test_a_redirect_counts_and_is_not_followed(site):
    assert reached(f"{site.url}/moved").passed
    assert site.asked == [("HEAD", "/moved")]


def test_what_refuses_head_is_asked_with_get(site):
    assert reached(f"{site.url}/get-only").passed
    assert site.asked == [("HEAD", "/get-only"), ("GET", "/get-only")]


def test_one_good_link_among_bad_ones_is_enough(site):
    bad = reached(f"{site.url}/gone")
    assert (bad.passed, bad.reason) == (False, f"{site.url}/gone: answered 404.")
    assert reached(f"{site.url}/gone {site.url}/ok").passed


def test_addresses_out_of_bounds_are_never_asked(site):
    for link in ("http://127.0.0.1:9/", "http://169.254.169.254/latest", "http://user:pw@10.0.0.1/"):
        assert reached(link).passed is False
    assert "private network" in reached("http://127.0.0.1:9/").reason
    assert site.asked == []


def test_nothing_is_asked_unless_it_is_wanted(site):
    assert score("contains_valid_link", text=f"{site.url}/ok").passed
    assert score("no_valid_links", text=f"{site.url}/ok").passed is False
    assert site.asked == []
