"""REST views of two experiments: what one gained on the other, case by case; and how much of a run passes."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import listing
from evalstudio.web.foreign import id_in
from evaluators.stats.paired import BETTER, CANNOT_TELL, WORSE
from experiments.analysis.comparing import asking
from experiments.analysis.comparing.cases import rows_of
from experiments.analysis.comparing.changed import changed
from experiments.analysis.comparing.judges import judges_of
from experiments.analysis.comparing.kept import comparison
from experiments.analysis.gains import gains_of, share_passing
from experiments.analysis.pairing import comparable
from experiments.api.serializers import EstimateSerializer
from experiments.api.trials import DifferenceSerializer
from experiments.api.views import _OneExperiment, _Runs
from experiments.models import Experiment

BASELINE = OpenApiParameter("baseline", int, required=True, description="Another experiment of the same data set.")
MOST, SIZE = 200, 50  # pairs on a page
VERDICTS = [BETTER, WORSE, CANNOT_TELL]


class GainCountsSerializer(serializers.Serializer):
    """How many pairs there are of each sort. A pair regressed where the compared score is the worse one."""

    regressed = serializers.IntegerField()
    improved = serializers.IntegerField()
    same = serializers.IntegerField()
    failed = serializers.IntegerField()
    unscored = serializers.IntegerField()
    awaiting = serializers.IntegerField()
    pending = serializers.IntegerField()
    unasked = serializers.IntegerField(help_text="Pairs of which at least one side was not to be judged.")
    flips = serializers.IntegerField(help_text="Comparisons that were judged otherwise in the other order.")


class ComparativeSerializer(serializers.Serializer):
    """What one comparative evaluator said of the two: 1 where the experiment won, -1 where the baseline did."""

    evaluator = serializers.CharField(source="version.evaluator.name")
    version = serializers.IntegerField(source="version.number")
    version_id = serializers.IntegerField(source="version.pk")
    run = serializers.IntegerField(source="run.pk")
    is_over = serializers.BooleanField(source="subject.is_over", help_text="Until then the figures may still change.")
    rehearsal = serializers.BooleanField(source="subject.is_rehearsal")
    difference = DifferenceSerializer()
    counts = GainCountsSerializer(source="figure.counts")
    p_value = serializers.FloatField(source="difference.p_value", allow_null=True, help_text="Two-sided.")
    adjusted_p_value = serializers.FloatField(
        source="figure.adjusted_p", allow_null=True, help_text="For all evaluators of this comparison (Holm)."
    )
    verdict = serializers.ChoiceField(choices=VERDICTS, help_text="What the interval of the difference tells.")
    verdict_of_all = serializers.ChoiceField(
        source="figure.verdict",
        choices=VERDICTS,
        help_text="What still holds by the adjusted p-value and with at least 80 % coverage.",
    )
    advice = serializers.CharField(source="figure.advice", help_text="Why nothing can be told, and what would help.")


class GainSerializer(ComparativeSerializer):
    """One evaluator's scores of the experiment minus those of the baseline, output by output, by the same version."""

    baseline_run = serializers.IntegerField(source="baseline_run.pk")
    direction = serializers.ChoiceField(
        source="figure.direction", choices=["higher", "lower"], help_text="Which scores are the better ones."
    )
    baseline = EstimateSerializer(source="figure.baseline", help_text="Of the pairs that both have a score for.")
    compared = EstimateSerializer(source="figure.compared", help_text="Likewise, of the experiment.")
    only_experiment = serializers.IntegerField(
        source="figure.counts.only_experiment", help_text="Scores whose output the baseline has no score for."
    )
    only_baseline = serializers.IntegerField(
        source="figure.counts.only_baseline", help_text="Scores of the baseline that the experiment lacks."
    )


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
    comparative = ComparativeSerializer(many=True)
    alone = AloneSerializer(many=True, help_text="Versions that judged only one of the two.")
    outputs = serializers.IntegerField(
        source="facts.outputs", help_text="Outputs that both have: the same case in the same attempt."
    )
    only_experiment = serializers.SerializerMethodField(help_text="Outputs that the baseline lacks.")
    only_baseline = serializers.SerializerMethodField(help_text="Outputs that the experiment lacks.")

    def get_only_experiment(self, gains: Any) -> int:
        return int(gains.facts["alone"][0]["count"])

    def get_only_baseline(self, gains: Any) -> int:
        return int(gains.facts["alone"][1]["count"])


class PairScoreSerializer(serializers.Serializer):
    """What one evaluator says of a pair. A comparative one has no baseline score."""

    run = serializers.IntegerField(source="subject.run.pk")
    evaluator = serializers.CharField(source="subject.evaluator.name")
    version = serializers.IntegerField(source="subject.version.number")
    baseline = serializers.FloatField(source="baseline.score", allow_null=True, default=None)
    compared = serializers.FloatField(source="compared.score", allow_null=True, default=None)
    gain = serializers.FloatField(allow_null=True, help_text="Positive where the experiment is the better one.")


class PairSerializer(serializers.Serializer):
    """Two outputs for one case in the same attempt."""

    key = serializers.CharField(source="output.case.key")
    attempt = serializers.IntegerField(source="output.attempt")
    output = serializers.IntegerField(source="output.pk")
    baseline_output = serializers.IntegerField(source="partner.pk")
    scores = PairScoreSerializer(source="told", many=True)


class _Compared(_OneExperiment):
    def baseline(self, experiment: Experiment) -> Experiment:
        wanted = id_in(self.request.query_params.get("baseline", "")) or 0
        found = comparable(experiment).select_related("system", "dataset_version").filter(pk=wanted).first()
        if found is None:
            raise serializers.ValidationError({"baseline": ["Give the id of another experiment of this data set."]})
        return found


class ExperimentGains(_Compared):
    @extend_schema(
        operation_id="experiments_compare",
        summary="Compare an experiment with a baseline",
        description="The mean of paired differences by each evaluator version that judged both, with its interval, and "
        "what comparative evaluators said of the two.",
        parameters=[BASELINE],
        responses=GainsSerializer,
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        experiment = self.experiment(pk)
        return Response(GainsSerializer(gains_of(experiment, self.baseline(experiment))).data)


class ExperimentPairs(_Compared):
    @listing(
        "experiments_compare_cases",
        "List the cases of a comparison",
        PairSerializer,
        description="Both scores of each pair and the gain, worst regressions first.",
        parameters=[
            BASELINE,
            OpenApiParameter("by", int, description="The run whose gains count; any evaluator's without it."),
            OpenApiParameter("show", str, enum=list(asking.SHOWS), description="Only these pairs."),
            OpenApiParameter(
                "sort", str, enum=list(asking.SORTS), description="Worst first, best first, or as they came."
            ),
            OpenApiParameter("q", str, description="Words of the case's key."),
        ],
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        experiment, said = self.experiment(pk), request.query_params
        baseline = self.baseline(experiment)
        subjects = judges_of(experiment, baseline, said.get("by", "")).subjects
        view = asking.View.of(said, subjects)
        found = comparison(experiment, baseline, subjects, view.columns)
        texts = found.changed
        if texts is None and view.show == "changed":
            texts = changed(experiment, baseline)
        size = min(MOST, max(1, id_in(said.get("limit", "")) or SIZE))
        page = asking.listing(view, found, texts).page(said, size)
        rows = PairSerializer(rows_of(found, page.rows), many=True).data
        return Response({"results": rows, "next": page.next, "previous": page.previous})


class RunPassing(_Runs):
    @extend_schema(
        operation_id="runs_passing",
        summary="Read which share of a run passes",
        description="Of its scored rows, those on the good side of the threshold. Without a threshold nothing is said.",
        responses=EstimateSerializer,
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        return Response(EstimateSerializer(share_passing(self.run(pk))).data)
