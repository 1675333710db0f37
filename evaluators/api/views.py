"""REST views of evaluators and their versions."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
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
from evaluators.editing import NameTaken, Place, as_typed
from evaluators.kinds import KINDS, get_kind
from evaluators.listed import COMPARATIVE, chosen, in_project
from evaluators.models import Evaluator, EvaluatorVersion


def typed_config(kind: Any, config: dict[str, Any]) -> dict[str, list[str]]:
    """The configuration as the fields of its kind's form. Raises ValidationError where it has another shape."""
    blank = kind.blank()
    unknown = sorted(set(config) - set(blank))
    if unknown:
        raise serializers.ValidationError({"config": {name: ["There is no such setting."] for name in unknown}})
    no_texts = [name for name, text in config.items() if isinstance(blank[name], str) and not isinstance(text, str)]
    if no_texts:
        raise serializers.ValidationError({"config": {name: ["This is a text."] for name in no_texts}})
    try:
        fields: dict[str, list[str]] = kind.form.typed({**blank, **config})
    except (TypeError, KeyError, AttributeError, ValueError, ArithmeticError) as error:
        raise serializers.ValidationError({"config": [f"This is not a configuration of the kind: {error}."]}) from None
    return fields


def checked(form: Any) -> Any:
    """The kind's form, once everything in it is right. Raises ValidationError with every fault by field."""
    if not form.is_valid():
        errors: dict[str, list[str]] = {}
        for fault in form.field_errors:
            place = f" (line {fault.line})" if fault.line else ""
            hint = f" Did you mean {fault.suggestion}?" if fault.suggestion else ""
            errors.setdefault(fault.field, []).append(f"{fault.message}{place}{hint}")
        raise serializers.ValidationError({"config": errors or {name: list(form.errors[name]) for name in form.errors}})
    return form


FILTERS = (
    OpenApiParameter("q", str, description="Words that the name holds, every one of them."),
    OpenApiParameter("kind", str, description=f"A kind, or `{COMPARATIVE}`: those of two results."),
    OpenApiParameter("archived", bool, description="The archived ones instead of those in use."),
)


class EvaluatorList(ProjectView):
    @listing("evaluators_list", "List evaluators", EvaluatorSerializer, parameters=FILTERS)
    def get(self, request: Request, project: str) -> Response:
        asked = request.query_params
        rows = chosen(in_project(self.project), asked.get("kind", "")).matching(asked.get("q", ""))
        rows = rows.filter(archived_at__isnull=asked.get("archived") != "true").select_related("published_version")
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
        place = Place(self.project, request.user, get_kind(given["kind"]))
        fields = typed_config(place.kind, given["config"]) | {"name": [given["name"]], "note": [given["note"]]}
        identity, form = place.forms(as_typed(fields))
        if not identity.is_valid():
            raise serializers.ValidationError({name: list(said) for name, said in identity.errors.items()})
        try:
            version, _ = place.save(identity, checked(form))
        except NameTaken:
            raise serializers.ValidationError({"name": ["Another evaluator of this project has this name."]}) from None
        return Response(EvaluatorSerializer(version.evaluator).data, status=status.HTTP_201_CREATED)


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
        typed = as_typed(typed_config(kind, said.validated_data["config"]))
        config, note = checked(kind.form(typed, project=self.project)).to_config(), said.validated_data["note"]
        version = evaluator.revise(config, schema=kind.schema, author=request.user, note=note)
        AuditEntry.note(self.project, request.user, f"saved {version} of", f"evaluator {evaluator.name}")
        return Response(VersionSerializer(version).data, status=status.HTTP_201_CREATED)
