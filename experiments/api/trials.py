"""REST views of what an evaluator is tried for: its noise floor, and what another version would change."""

from __future__ import annotations

from typing import Any

from django.forms import Form
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView
from evaluators.models import Evaluator
from experiments.analysis.change import Both, Change, change
from experiments.analysis.noise import Measured, measurements
from experiments.api.serializers import EstimateSerializer
from experiments.forms.trials import ASKED, OUTPUTS, REPEATS, TRIED, ChangeForm, NoiseForm, Offer
from experiments.ledger.progress import progress_of
from experiments.models import Run


class NewNoiseSerializer(serializers.Serializer):
    version = serializers.IntegerField(help_text="Number of a version of this evaluator.")
    experiment = serializers.IntegerField()
    against = serializers.IntegerField(
        required=False, allow_null=True, help_text="The baseline, of a version that compares two results."
    )
    outputs = serializers.IntegerField(required=False, default=OUTPUTS, help_text="How many are judged.")
    repeats = serializers.IntegerField(required=False, default=REPEATS, help_text="How often each is judged.")


class NoiseSerializer(serializers.Serializer):
    """A measurement of the noise floor, once it is over. Differences are shares: 0.018 is 1.8 points."""

    run = serializers.IntegerField(source="run.pk")
    version = serializers.IntegerField(source="run.version.number")
    experiment = serializers.IntegerField(source="run.experiment_id")
    repeats = serializers.IntegerField(source="run.repeats")
    outputs = serializers.IntegerField(source="noise.outputs")
    judgements = serializers.IntegerField(source="noise.judgements")
    agreement = EstimateSerializer(source="noise.agreement")
    deviation = serializers.FloatField(source="noise.deviation", allow_null=True)
    floor = serializers.FloatField(
        allow_null=True, help_text="The smallest difference worth believing between two runs over `floor_outputs`."
    )
    floor_low = serializers.SerializerMethodField()
    floor_high = serializers.SerializerMethodField()
    floor_outputs = serializers.IntegerField(source="over")

    def get_floor_low(self, measured: Measured) -> float | None:
        return measured.floor_interval[0] if measured.floor_interval else None

    def get_floor_high(self, measured: Measured) -> float | None:
        return measured.floor_interval[1] if measured.floor_interval else None


class StartedSerializer(serializers.Serializer):
    """A run that was started; follow it among the runs."""

    run = serializers.IntegerField()


class NewChangeSerializer(serializers.Serializer):
    to = serializers.IntegerField(help_text="Number of the version that might follow.")
    experiment = serializers.IntegerField()
    against = serializers.IntegerField(
        required=False, allow_null=True, help_text="The baseline, of versions that compare two results."
    )
    n = serializers.IntegerField(required=False, default=TRIED, help_text="How many outputs both versions judge.")

    def get_fields(self) -> dict[str, serializers.Field]:
        """With `from`, which is no name that Python allows here."""
        return {
            "from": serializers.IntegerField(help_text="Number of the version that stands."),
            **super().get_fields(),
        }


class DifferenceSerializer(serializers.Serializer):
    """A mean difference of scores, in [-1, 1], with its 95 % interval; `refused` says why there is none."""

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    clusters = serializers.IntegerField()
    asked = serializers.IntegerField()
    method = serializers.CharField()
    refused = serializers.CharField(allow_null=True)


class SideSerializer(serializers.Serializer):
    """What one version said about an output."""

    score = serializers.FloatField(allow_null=True)
    label = serializers.CharField(allow_null=True)
    passed = serializers.BooleanField(allow_null=True)


class ChangedSerializer(serializers.Serializer):
    """An output whose verdict differs, or that only one version scored."""

    output = serializers.IntegerField(source="before.output_id")
    key = serializers.CharField(source="before.output.case.key")
    before = SideSerializer()
    after = SideSerializer()
    difference = serializers.FloatField(allow_null=True)


class ChangeSerializer(serializers.Serializer):
    """What would change. While `is_over` is false the figures are null and the lists empty."""

    runs = serializers.ListField(child=serializers.IntegerField(), help_text="The run of `from`, then that of `to`.")
    is_over = serializers.BooleanField()
    share = EstimateSerializer(allow_null=True, help_text="The share of verdicts that differ.")
    difference = DifferenceSerializer(allow_null=True, help_text="How far the mean score moves.")
    differing = ChangedSerializer(many=True, help_text="Largest change first.")
    lopsided = ChangedSerializer(many=True, help_text="Scored by only one of the two.")


class _OfEvaluator(ProjectView):
    def offer(self, pk: int) -> Offer:
        evaluators = Evaluator.objects.select_related("project", "published_version")
        return Offer.of(get_object_or_404(evaluators, project=self.project, pk=pk))


class NoiseList(_OfEvaluator):
    @extend_schema(
        operation_id="noise_list",
        summary="Read the noise floor of an evaluator",
        description="The latest measurements that are over, the newest first.",
        responses=NoiseSerializer(many=True),
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        return Response(NoiseSerializer(measurements(self.offer(pk).evaluator), many=True).data)

    @extend_schema(
        operation_id="noise_measure",
        summary="Measure the noise floor of a version",
        description="Judges some outputs several times, never from a reply that is kept.",
        request=NewNoiseSerializer,
        responses={201: StartedSerializer},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        offer = self.offer(pk)
        form = NoiseForm(_said(NewNoiseSerializer, request.data), offer=offer)
        run = form.start(request.user) if form.is_valid() else None
        if run is None:
            raise _refused(form)
        return Response({"run": run.pk}, status=status.HTTP_201_CREATED)


class ChangeDetail(_OfEvaluator):
    @extend_schema(
        operation_id="change_read",
        summary="Read what another version would change",
        parameters=[OpenApiParameter(name, int) for name in ASKED],
        responses=ChangeSerializer,
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        runs = _trial(request.query_params.dict(), self.offer(pk)).trial().runs()
        if runs is None:
            raise serializers.ValidationError({"to": ["These two versions were not tried on these outputs yet."]})
        return Response(_told(runs))

    @extend_schema(
        operation_id="change_start",
        summary="Try two versions of an evaluator on the same outputs",
        description="Replies that are kept are used. Asked again, it gives the same runs.",
        request=NewChangeSerializer,
        responses={201: ChangeSerializer},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        offer = self.offer(pk)  # first, so that what is not there is not found, whatever was sent
        form = _trial(request.data, offer)
        runs = form.start(request.user)
        if runs is None:
            raise _refused(form)
        return Response(_told(runs), status=status.HTTP_201_CREATED)


def _trial(data: Any, offer: Offer) -> ChangeForm:
    form = ChangeForm(_said(NewChangeSerializer, data), offer=offer)
    if not form.is_valid():
        raise _refused(form)
    return form


def _said(shape: type[serializers.Serializer], data: Any) -> dict[str, Any]:
    said = shape(data=data)
    said.is_valid(raise_exception=True)
    return dict(said.validated_data)


def _refused(form: Form) -> serializers.ValidationError:
    errors = {name.replace("__all__", "version"): list(said) for name, said in form.errors.items()}
    return serializers.ValidationError(errors)


def _told(runs: tuple[Run, Run]) -> Any:
    is_over = all(each.is_over for each in progress_of(runs).values())
    found: Change | None = change(*runs) if is_over else None
    listed: list[list[Both]] = [found.differing, found.lopsided] if found else [[], []]
    told = {
        "runs": [run.pk for run in runs],
        "is_over": is_over,
        "share": found and found.share,
        "difference": found and found.difference,
        "differing": listed[0],
        "lopsided": listed[1],
    }
    return ChangeSerializer(told).data
