"""What the labels of a run come to over REST: the confusion table, curves, counts, and another run beside it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from evaluators.engine import work_of
from evaluators.stats.paired import BETTER, CANNOT_TELL, WORSE
from experiments.analysis.classes import Asked, Classified, classified
from experiments.analysis.classes_beside import Gains, candidates, gains
from experiments.analysis.classes_telling import KINDS, TooMuch, told_of
from experiments.api.serializers import EstimateSerializer
from experiments.api.trials import DifferenceSerializer
from experiments.api.views import _Runs
from experiments.models import Run

AT = OpenApiParameter(
    "at",
    str,
    description="How labels are called: by the highest score (max) or from this score on. Left out: as they were read.",
)
KEY = OpenApiParameter("key", str, description="Of labels with keys, those with this one.")
NONE_EXPECTED = "No score of this run names an expected label."
VERDICTS = [BETTER, WORSE, CANNOT_TELL]


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
    keys = serializers.ListField(child=serializers.CharField(), help_text="Keys of labels; empty for those without.")
    threshold = serializers.FloatField(allow_null=True, help_text="From which labels are called, where one is.")


class RunConfusion(_Runs):
    @extend_schema(
        operation_id="runs_confusion",
        summary="Read the confusion table of a run",
        description="404 for a run whose scores name no expected labels, as those of classifications do.",
        parameters=[AT, KEY],
        responses=ConfusionSerializer,
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        return Response(ConfusionSerializer(_told(_page(self, request, pk))).data)


def _page(view: _Runs, request: Request, pk: int) -> Classified:
    page = classified(view.run(pk), Asked.of_query(request.query_params))
    if page.found is None:
        raise NotFound(NONE_EXPECTED)
    return page


def _told(page: Classified) -> dict[str, Any]:
    found = page.found
    matrix: dict[str, dict[str, int]] = {}
    assert found is not None
    for (expected, predicted), cases in found.counts.items():
        matrix.setdefault(expected, {})[predicted] = cases
    names = ("rows", "columns", "cases", "of_all", "precision", "recall", "f1", "classes")
    more = {"matrix": matrix, "accuracy": page.accuracy, "keys": page.keys, "threshold": page.threshold}
    return {name: getattr(found, name) for name in names} | more


class RunClasses(_Runs):
    @extend_schema(
        operation_id="runs_classes",
        summary="Read what the scores of labels come to",
        description=(
            "`metrics`, `roc_auc`, `pr_curve` and `detailed_pr_curve` are what the entries of the catalogue tell; "
            "`areas` are the areas of every label with intervals, and `curves` the points of one label's curves."
        ),
        parameters=[
            OpenApiParameter("tell", str, enum=[*KINDS, "areas", "curves"], description="Left out: metrics."),
            OpenApiParameter("of", str, description="The label of the curves. Left out: the positive or first one."),
            AT,
            KEY,
        ],
        responses=OpenApiTypes.OBJECT,
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        kind = request.query_params.get("tell", "metrics")
        if kind not in (*KINDS, "areas", "curves"):
            raise ValidationError({"tell": f"This is one of {', '.join((*KINDS, 'areas', 'curves'))}."})
        page = _page(self, request, pk)
        try:
            told = _areas_or_curves(page, kind) if kind not in KINDS else told_of(page, kind, _config(page.run))
        except TooMuch as error:
            raise ValidationError({"tell": str(error)}) from None
        if told is None:
            raise NotFound(page.waits or "This run has no scores of labels.")
        return Response(told)


def _areas_or_curves(page: Classified, kind: str) -> dict[str, Any] | None:
    if kind == "areas":
        return page.areas
    return page.curves


def _config(run: Run) -> Any:
    return work_of(run.version).config


class ClassGainSerializer(serializers.Serializer):
    """One figure of both runs, on the outputs for the same cases."""

    figure = serializers.CharField(source="name")
    value = serializers.FloatField(source="ours")
    baseline = serializers.FloatField(source="theirs")
    difference = DifferenceSerializer()
    verdict = serializers.ChoiceField(choices=VERDICTS)


class ClassGainsSerializer(serializers.Serializer):
    """The figures of one label."""

    label = serializers.CharField()
    figures = ClassGainSerializer(source="gains", many=True)


class ClassifierGainsSerializer(serializers.Serializer):
    """What a classifier gained on another one."""

    pairs = serializers.IntegerField(help_text="Outputs of both for the same case.")
    whole = ClassGainSerializer(many=True)
    per_class = ClassGainsSerializer(source="classes", many=True)


class RunClassesBeside(_Runs):
    @extend_schema(
        operation_id="runs_classes_beside",
        summary="Compare what a classifier says with another run",
        description="404 unless both are results of one evaluator over one data set, with cases in common.",
        parameters=[AT, KEY],
        responses=ClassifierGainsSerializer,
    )
    def get(self, request: Request, project: str, pk: int, baseline: int) -> Response:
        page = _page(self, request, pk)
        other = next((run for run in candidates(page.run, baseline)), None)
        found: Gains | None = gains(page, classified(other, page.asked, curves=False)) if other else None
        if found is None:
            raise NotFound("There is no such result of the same evaluator with cases in common.")
        return Response(ClassifierGainsSerializer(found).data)
