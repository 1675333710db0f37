"""The browsable reference of the REST API, drawn from the served OpenAPI schema itself."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as people read it."""

    id: str
    method: str
    path: str
    summary: str
    description: str
    parameters: list[dict[str, Any]]
    body: str  # an example of the request body, as JSON; empty when it takes none
    media_type: str
    answers: list[tuple[str, str]]  # status and an example of the body


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    """The OpenAPI schema as JSON; it tells nothing about any project."""
    from drf_spectacular.views import SpectacularJSONAPIView

    return SpectacularJSONAPIView.as_view()(request)


@require_safe
@login_required
def reference(request: HttpRequest) -> HttpResponse:
    """Decides which call a pipeline needs: every operation with its parameters and example bodies."""
    return render(request, "web/reference.html", {"groups": _groups(), "origin": request.build_absolute_uri("/")[:-1]})


@cache
def _groups() -> list[tuple[str, list[Operation]]]:
    from drf_spectacular.generators import SchemaGenerator

    told = SchemaGenerator().get_schema(request=None, public=True)
    groups: dict[str, list[Operation]] = {}
    for path, methods in told["paths"].items():
        topic = next(part for part in path.removeprefix("/api/projects/{project}/").split("/") if part)
        for method in METHODS:
            if method in methods:
                groups.setdefault(topic.capitalize(), []).append(_operation(path, method, methods[method], told))
    return list(groups.items())


def _operation(path: str, method: str, said: dict[str, Any], told: dict[str, Any]) -> Operation:
    content = said.get("requestBody", {}).get("content", {})
    media_type = next(iter(content), "")
    return Operation(
        said["operationId"],
        method.upper(),
        path,
        said.get("summary", said["operationId"]),
        said.get("description", ""),
        said.get("parameters", []),
        _example(content[media_type].get("schema", {}), told) if content else "",
        media_type,
        [(status, _answer(answer, told)) for status, answer in said.get("responses", {}).items() if status < "400"],
    )


def _answer(answer: dict[str, Any], told: dict[str, Any]) -> str:
    content = answer.get("content", {})
    return _example(next(iter(content.values())).get("schema", {}), told) if content else ""


def _example(shape: dict[str, Any], told: dict[str, Any]) -> str:
    return json.dumps(_value(shape, told, 0), indent=2, ensure_ascii=False)


def _value(shape: dict[str, Any], told: dict[str, Any], depth: int) -> Any:
    """A value of the shape: every property present, with its description where a type alone says too little."""
    if "$ref" in shape:
        return _value(told["components"]["schemas"][shape["$ref"].rsplit("/", 1)[1]], told, depth)
    for whole in ("allOf", "oneOf", "anyOf"):
        if shape.get(whole):
            return _value(shape[whole][0], told, depth)
    if shape.get("enum"):
        return shape["enum"][0]
    kind = shape.get("type", "any")
    if kind == "object" and depth < 8:
        return {name: _value(inner, told, depth + 1) for name, inner in shape.get("properties", {}).items()}
    if kind == "array" and depth < 8:
        return [_value(shape.get("items", {}), told, depth + 1)]
    named = {"integer": 1, "number": 0.84, "boolean": True}
    return named.get(str(kind), f"<{shape.get('format') or kind}>")
