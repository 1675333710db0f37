"""REST verbs of evaluators: archive, restore, duplicate."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evaluators.api.serializers import EvaluatorSerializer
from evaluators.api.views import EvaluatorDetail
from evaluators.models import Evaluator


class EvaluatorVerb(EvaluatorDetail):
    """A verb is posted to; its evaluator is read at its own address."""

    http_method_names = ["post", "options"]

    def evaluator(self, pk: int) -> Evaluator:
        evaluator = super().evaluator(pk)
        evaluator.project = self.project
        return evaluator


class EvaluatorArchive(EvaluatorVerb):
    @extend_schema(
        operation_id="evaluators_archive",
        summary="Archive an evaluator",
        description="It leaves lists and pickers. Its versions, runs and scores stay.",
        request=None,
        responses=EvaluatorSerializer,
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        evaluator = self.evaluator(pk)
        evaluator.archive(request.user)
        return Response(EvaluatorSerializer(evaluator).data)


class EvaluatorRestore(EvaluatorVerb):
    @extend_schema(
        operation_id="evaluators_restore",
        summary="Restore an archived evaluator",
        request=None,
        responses=EvaluatorSerializer,
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        evaluator = self.evaluator(pk)
        evaluator.restore(request.user)
        return Response(EvaluatorSerializer(evaluator).data)


class EvaluatorDuplicate(EvaluatorVerb):
    @extend_schema(
        operation_id="evaluators_duplicate",
        summary="Make another evaluator from the latest version of this one",
        request=None,
        responses={201: EvaluatorSerializer},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        evaluator = self.evaluator(pk)
        if not evaluator.versions.exists():
            raise serializers.ValidationError("It has no saved version yet, so there is nothing to copy.")
        copy = evaluator.duplicate(request.user)
        return Response(EvaluatorSerializer(copy).data, status=status.HTTP_201_CREATED)
