"""REST views that move evaluators out of a project and into one."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView
from evalstudio.web.problems import problem
from evaluators.api.serializers import EvaluatorSerializer
from evaluators.arriving import arrival, bring
from evaluators.exchange import MOST_BYTES, NotAnExport, exported, told_by
from evaluators.models import Evaluator


class ArrivingSerializer(serializers.Serializer):
    """An exported evaluator as it is; another name; and, by the names in the file, the connections to use instead."""

    evaluator = serializers.DictField()
    name = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)
    connections = serializers.DictField(child=serializers.IntegerField(), required=False, default=dict)


class EvaluatorExport(ProjectView):
    @extend_schema(
        operation_id="evaluators_export",
        summary="Export an evaluator with its versions and golden cases",
        responses={200: OpenApiTypes.OBJECT},
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        evaluators = Evaluator.objects.select_related("published_version")
        return Response(exported(get_object_or_404(evaluators, project=self.project, pk=pk)))


class EvaluatorImport(ProjectView):
    @extend_schema(
        operation_id="evaluators_import",
        summary="Import an exported evaluator",
        description=f"At most {MOST_BYTES // 1_000_000} MB. What does not fit is told, and then nothing is stored.",
        request=ArrivingSerializer,
        responses={201: EvaluatorSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        if int(request.META.get("CONTENT_LENGTH") or 0) > MOST_BYTES:
            return problem(413, f"An exported evaluator has at most {MOST_BYTES // 1_000_000} MB.")
        said = ArrivingSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        given: dict[str, Any] = said.validated_data
        try:
            incoming = told_by(given["evaluator"])
        except NotAnExport as error:
            raise serializers.ValidationError({"evaluator": [str(error)]}) from None
        come = arrival(incoming, self.project, name=given["name"], chosen=given["connections"])
        if come.faults:
            raise serializers.ValidationError({"evaluator": list(come.faults)})
        try:
            evaluator = bring(come, request.user)
        except IntegrityError:
            raise serializers.ValidationError({"name": ["This name was given away a moment ago."]}) from None
        return Response(EvaluatorSerializer(evaluator).data, status=status.HTTP_201_CREATED)
