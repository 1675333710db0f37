"""Errors of the API as RFC 9457 problem details."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler


def problem(status: int, detail: str, **more: Any) -> Response:
    """A problem response; `more` are extension members such as `errors`."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return Response(body, status=status, content_type="application/problem+json")


def problem_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler: the same problem shape for every error that is the caller's."""
    plain = exception_handler(error, context)
    if plain is None:
        return None
    if isinstance(error, exceptions.ValidationError):
        answer = problem(plain.status_code, "Some fields are wrong.", errors=list(_field_errors(error.detail)))
    elif isinstance(error, Http404):
        answer = problem(404, "There is nothing here that you may see.")
    elif isinstance(error, PermissionDenied):
        answer = problem(403, str(error) or "You may not do this.")
    else:
        answer = problem(plain.status_code, str(getattr(error, "detail", error)))
    for name in ("WWW-Authenticate", "Retry-After", "Allow"):
        if name in plain.headers:
            answer[name] = plain[name]
    return answer


def _field_errors(detail: Any, path: str = "") -> Any:
    """Flatten DRF's nested errors to {field, message} with dotted field paths."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _field_errors(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(detail, list):
        for number, inner in enumerate(detail):
            nested = isinstance(inner, dict | list)
            yield from _field_errors(inner, f"{path}[{number}]" if nested else path)
    else:
        yield {"field": path, "message": str(detail)}


# --- In the schema ----------------------------------------------------------------------------------------------------
PROBLEM = {
    "type": "object",
    "description": "What went wrong, as RFC 9457 has it. `errors` says which fields are to blame.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "field": {"type": "string"},
                    "message": {"type": "string"},
                    "case": {"type": "string", "description": "Key of a wrong row's case, as it was sent."},
                },
                "required": ["field", "message"],
            },
        },
    },
    "required": ["type", "title", "status", "detail"],
}
ALWAYS = (400, 401, 403, 404, 429)
WITH_A_BODY = (413, 415)


def document_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of the schema: every operation may answer with a problem; views name more as `responses={409: None}`."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    for operations in result["paths"].values():
        for operation in operations.values():
            for status in (*ALWAYS, *(WITH_A_BODY if "requestBody" in operation else ())):
                operation["responses"].setdefault(str(status), {})
            for status, answer in operation["responses"].items():
                if int(status) >= 400 and "content" not in answer:
                    answer.update(description=HTTPStatus(int(status)).phrase, content=content)
    return result
