"""REST views of evaluators and their versions."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView, listing
from evalstudio.projects.models import AuditEntry
from evalstudio.web.pagination import Order
from evaluators.api.serializers import (
    EvaluatorSerializer,
    NewEvaluatorSerializer,
    NewVersionSerializer,
    VersionSerializer,
)
from evaluators.editing import as_typed
from evaluators.kinds import KINDS, get_kind
from evaluators.models import Evaluator, EvaluatorVersion


def checked_config(kind: Any, project: Any, config: dict[str, Any]) -> dict[str, Any]:
    """The configuration as it will be stored, checked by the same form as the page. Raises ValidationError."""
    given = {**kind.blank(), **config}
    unknown = sorted(set(config) - set(kind.blank()))
    if unknown:
        raise serializers.ValidationError({"config": {name: ["There is no such setting."] for name in unknown}})
    try:
        form = kind.form(as_typed(kind.form.typed(given)), project=project)
    except (TypeError, KeyError, AttributeError, ValueError, ArithmeticError) as error:
        raise serializers.ValidationError({"config": [f"This is not a configuration of the kind: {error}."]}) from None
    if not form.is_valid():
        errors: dict[str, list[str]] = {}
        for fault in form.field_errors:
            place = f" (line {fault.line})" if fault.line else ""
            hint = f" Did you mean {fault.suggestion}?" if fault.suggestion else ""
            errors.setdefault(fault.field, []).append(f"{fault.message}{place}{hint}")
        raise serializers.ValidationError({"config": errors or {name: list(form.errors[name]) for name in form.errors}})
    return form.to_config()


class EvaluatorList(ProjectView):
    @listing("evaluators_list", "List evaluators", EvaluatorSerializer)
    def get(self, request: Request, project: str) -> Response:
        rows = Evaluator.objects.in_use().filter(project=self.project).select_related("published_version")
        return self.page(rows, Order("name"), lambda found: EvaluatorSerializer(found, many=True).data)

    @extend_schema(
        operation_id="evaluators_create",
        summary="Make an evaluator with its first version",
        request=NewEvaluatorSerializer,
        responses={201: EvaluatorSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        said = NewEvaluatorSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        given = said.validated_data
        if given["kind"] not in KINDS:
            raise serializers.ValidationError({"kind": [f"There is no such kind. There are: {', '.join(KINDS)}."]})
        if Evaluator.objects.filter(project=self.project, name=given["name"]).exists():
            raise serializers.ValidationError({"name": ["Another evaluator of this project has this name."]})
        kind = get_kind(given["kind"])
        config = checked_config(kind, self.project, given["config"])
        evaluator = Evaluator.objects.create(project=self.project, name=given["name"], kind=kind.key)
        evaluator.revise(config, schema=kind.schema, author=request.user, note=given["note"])
        AuditEntry.note(self.project, request.user, "saved v1 of", f"evaluator {evaluator.name}")
        return Response(EvaluatorSerializer(evaluator).data, status=status.HTTP_201_CREATED)


class EvaluatorDetail(ProjectView):
    @extend_schema(operation_id="evaluators_read", summary="Read an evaluator", responses=EvaluatorSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        return Response(EvaluatorSerializer(self.evaluator(pk)).data)

    def evaluator(self, pk: int) -> Evaluator:
        return get_object_or_404(Evaluator.objects.select_related("published_version"), project=self.project, pk=pk)


class VersionList(EvaluatorDetail):
    @listing("versions_list", "List an evaluator's versions", VersionSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        rows = EvaluatorVersion.objects.filter(evaluator=self.evaluator(pk)).select_related("author")
        return self.page(rows, Order("number", descending=True), lambda found: VersionSerializer(found, many=True).data)

    @extend_schema(
        operation_id="versions_create",
        summary="Save a configuration as the next version",
        description="The same configuration as the latest version's gives that version back.",
        request=NewVersionSerializer,
        responses={201: VersionSerializer},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        evaluator = self.evaluator(pk)
        said = NewVersionSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        kind = get_kind(evaluator.kind)
        config = checked_config(kind, self.project, said.validated_data["config"])
        version = evaluator.revise(config, schema=kind.schema, author=request.user, note=said.validated_data["note"])
        AuditEntry.note(self.project, request.user, f"saved {version} of", f"evaluator {evaluator.name}")
        return Response(VersionSerializer(version).data, status=status.HTTP_201_CREATED)
