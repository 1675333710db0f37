"""The confusion table of a run over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from evaluators.stats.confusion import Confusion
from experiments.analysis.columns import columns
from experiments.analysis.confusion import confusion_of
from experiments.api.serializers import EstimateSerializer
from experiments.api.views import _Runs
from experiments.models import Run


class OneClassSerializer(serializers.Serializer):
    """The figures of one class."""

    label = serializers.CharField()
    support = serializers.IntegerField(help_text="Cases that belong to it.")
    precision = EstimateSerializer()
    recall = EstimateSerializer()
    f1 = EstimateSerializer()


class ConfusionSerializer(serializers.Serializer):
    """How often each label came for each expected one. Where nothing is counted, a figure is 0 and has no interval."""

    labels = serializers.ListField(source="rows", child=serializers.CharField(), help_text="The classes, in order.")
    columns = serializers.ListField(
        child=serializers.CharField(), help_text="The classes, then what was predicted beside them."
    )
    matrix = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()), help_text="Expected → predicted → cases."
    )
    cases = serializers.IntegerField(help_text="Scored cases with an expected label.")
    of_all = serializers.CharField(help_text="What precision, recall and F1 are of: a kind of average, or a class.")
    accuracy = EstimateSerializer()
    precision = EstimateSerializer()
    recall = EstimateSerializer()
    f1 = EstimateSerializer()
    per_class = OneClassSerializer(source="classes", many=True)


class RunConfusion(_Runs):
    @extend_schema(
        operation_id="runs_confusion",
        summary="Read the confusion table of a run",
        description="404 for a run whose scores name no expected labels, as those of classifications do.",
        responses=ConfusionSerializer,
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        run = self.run(pk)
        found = confusion_of(run)
        if found is None:
            raise NotFound("No score of this run names an expected label.")
        return Response(ConfusionSerializer(_told(run, found)).data)


def _told(run: Run, found: Confusion) -> dict[str, Any]:
    matrix: dict[str, dict[str, int]] = {}
    for (expected, predicted), cases in found.counts.items():
        matrix.setdefault(expected, {})[predicted] = cases
    names = ("rows", "columns", "cases", "of_all", "precision", "recall", "f1", "classes")
    accuracy = columns([run])[0].figure  # the figure of the run, so that the two never differ
    return {name: getattr(found, name) for name in names} | {"matrix": matrix, "accuracy": accuracy}
