"""One view, two answers."""

from django.test import RequestFactory
from django_htmx.middleware import HtmxDetails

from evalstudio.web.pages import fragment_of, page_or_fragment, wants_fragment


def request_with(**headers):
    request = RequestFactory().get("/", headers=headers)
    request.htmx = HtmxDetails(request)
    return request


def test_a_browser_gets_the_page():
    assert not wants_fragment(request_with())


def test_htmx_gets_the_fragment():
    assert wants_fragment(request_with(hx_request="true"))


def test_a_boosted_link_a_restored_entry_and_a_full_request_get_the_page():
    assert not wants_fragment(request_with(hx_request="true", hx_boosted="true"))
    assert not wants_fragment(request_with(hx_request="true", hx_history_restore_request="true"))
    assert not wants_fragment(request_with(hx_request="true", hx_request_type="full"))


def test_the_fragment_lies_beside_its_page():
    assert fragment_of("runs/list.html") == "runs/_list.html"
    assert fragment_of("404.html") == "_404.html"


def test_the_answer_varies_by_the_header_and_keeps_the_status():
    context = {"title": "Nothing yet"}
    response = page_or_fragment(request_with(hx_request="true"), "empty.html", context, status=422)
    assert response.status_code == 422
    assert "HX-Request" in response.headers["Vary"]
    assert "Nothing yet" in response.content.decode()
    assert "<html" not in response.content.decode()


def test_another_fragment_can_be_named():
    response = page_or_fragment(request_with(hx_request="true"), "404.html", fragment="_empty.html")
    assert 'class="empty"' in response.content.decode()
