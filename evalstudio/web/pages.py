"""One view, two answers: the whole page, or the fragment that htmx puts into it."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """A request as pages see it, after the middleware."""

    htmx: HtmxDetails


def wants_fragment(request: HtmxRequest) -> bool:
    """Whether htmx will swap the answer into a part of a page, rather than show it as one.

    It shows it as one for a boosted link, a restored history entry and a request that selects from a whole page.
    """
    htmx = request.htmx
    whole = htmx.boosted or htmx.history_restore_request or request.headers.get("HX-Request-Type") == "full"
    return bool(htmx) and not whole


def page_or_fragment(
    request: HtmxRequest,
    page: str,
    context: dict[str, Any] | None = None,
    *,
    fragment: str | None = None,
    status: int = 200,
) -> HttpResponse:
    """Render `page`, or for htmx its fragment: `runs/_list.html` beside `runs/list.html` unless another is named.

    The answer varies by the htmx header, so that no cache and no back button shows a bare fragment as a page.
    """
    template = (fragment or fragment_of(page)) if wants_fragment(request) else page
    response = render(request, template, context, status=status)
    patch_vary_headers(response, ("HX-Request", "HX-Boosted", "HX-History-Restore-Request", "HX-Request-Type"))
    return response


def fragment_of(page: str) -> str:
    """The fragment's name of a page: the same folder, with an underscore before the file."""
    folder, slash, name = page.rpartition("/")
    return f"{folder}{slash}_{name}"
