"""Answers where no view answers: pages for people, problem details for pipelines. Needs nothing of the API itself."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import defaults

API = "/api/"


def bad_request(request: HttpRequest, exception: Any) -> HttpResponse:
    if request.path_info.startswith(API):
        return _problem(HTTPStatus.BAD_REQUEST, "The address or the body cannot be understood.")
    return defaults.bad_request(request, exception)


def not_found(request: HttpRequest, exception: Any) -> HttpResponse:
    if request.path_info.startswith(API):
        return _problem(HTTPStatus.NOT_FOUND, "There is nothing here that you may see.")
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if request.path_info.startswith(API):
        return _problem(HTTPStatus.INTERNAL_SERVER_ERROR, "EvalStudio failed over this request. The log says why.")
    return defaults.server_error(request)


def _problem(status: HTTPStatus, detail: str) -> HttpResponse:
    body = {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": detail}
    return JsonResponse(body, status=status, content_type="application/problem+json")
