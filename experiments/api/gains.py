"""REST views for gates: what an experiment gained on a baseline, and how much of a run passes its threshold."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.web.foreign import id_in
from evaluators.stats.paired import BETTER, CANNOT_TELL, WORSE
from experiments.analysis.gains import gains_of, share_passing
from experiments.analysis.pairing import comparable
from experiments.api.serializers import EstimateSerializer
from experiments.api.trials import DifferenceSerializer
from experiments.api.views import _OneExperiment, _Runs


class GainSerializer(serializers.Serializer):
    """One evaluator's scores of the experiment minus those of the baseline, output by output, by the same version."""

    evaluator = serializers.CharField(source="version.evaluator.name")
    version = serializers.IntegerField(source="version.number")
    version_id = serializers.IntegerField(source="version.pk")
    run = serializers.IntegerField(source="run.pk")
    baseline_run = serializers.IntegerField(source="baseline_run.pk")
    is_over = serializers.BooleanField(help_text="Whether both runs are over; until then the figures may still change.")
    rehearsal = serializers.BooleanField(source="is_rehearsal")
    direction = serializers.ChoiceField(choices=["higher", "lower"], help_text="Which scores are the better ones.")
    difference = DifferenceSerializer()
    verdict = serializers.ChoiceField(
        choices=[BETTER, WORSE, CANNOT_TELL], help_text="What the interval of the difference tells."
    )
    only_experiment = serializers.IntegerField(help_text="Scores whose output the baseline has no score for.")
    only_baseline = serializers.IntegerField(help_text="Scores of the baseline that the experiment lacks.")


class AloneSerializer(serializers.Serializer):
    """A run whose version did not judge the other side."""

    run = serializers.IntegerField(source="pk")
    experiment = serializers.IntegerField(source="experiment_id")
    evaluator = serializers.CharField(source="version.evaluator.name")
    version = serializers.IntegerField(source="version.number")
    version_id = serializers.IntegerField()


class GainsSerializer(serializers.Serializer):
    """Two experiments of one data set, case by case. What only one side has is counted and in no figure."""

    evaluators = GainSerializer(source="gains", many=True)
    alone = AloneSerializer(many=True, help_text="Versions that judged only one of the two.")
    outputs = serializers.IntegerField(help_text="Outputs that both have: the same case in the same attempt.")
    only_experiment = serializers.IntegerField(help_text="Outputs that the baseline lacks.")
    only_baseline = serializers.IntegerField(help_text="Outputs that the experiment lacks.")


class ExperimentGains(_OneExperiment):
    @extend_schema(
        operation_id="experiments_compare",
        summary="Compare an experiment with a baseline",
        description="The mean of paired differences by each evaluator version that judged both, with its interval.",
        parameters=[
            OpenApiParameter("baseline", int, required=True, description="Another experiment of the same data set.")
        ],
        responses=GainsSerializer,
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        experiment = self.experiment(pk)
        wanted = id_in(request.query_params.get("baseline", "")) or 0
        baseline = comparable(experiment).select_related("system").filter(pk=wanted).first()
        if baseline is None:
            raise serializers.ValidationError({"baseline": ["Give the id of another experiment of this data set."]})
        return Response(GainsSerializer(gains_of(experiment, baseline)).data)


class RunPassing(_Runs):
    @extend_schema(
        operation_id="runs_passing",
        summary="Read which share of a run passes",
        description="Of its scored rows, those on the good side of the threshold. Without a threshold nothing is said.",
        responses=EstimateSerializer,
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        return Response(EstimateSerializer(share_passing(self.run(pk))).data)
