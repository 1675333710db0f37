"""REST views of judges against people: who corrects one, its figures, several against the same grades."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.beside import beside, people_of, runs_with_people
from annotations.judging import against, calibrate, refer
from annotations.shootout import MARGIN, graded_experiments, shootout
from evalstudio.projects.api_access import ProjectView
from evaluators.models import Evaluator
from experiments.analysis.columns import columns
from experiments.api.serializers import EstimateSerializer

NOTHING_GRADED = "People have graded nothing that this evaluator has judged."


class ReferenceSerializer(serializers.Serializer):
    """The human evaluator whose grades correct a judge; null for none."""

    reference = serializers.IntegerField(allow_null=True)


class AgainstSerializer(serializers.Serializer):
    """A judge against people on `n` outputs that both have scored. What has no meaning for its scale is null.

    `corrected` is what people would say of everything that the judge has judged, but for outputs like the
    `cannot_judge` that nobody who was asked could judge and the `golden` ones that the judge may be tuned on. `counts`
    has rows of people's word,
    the judge's word and how often they met.
    """

    run = serializers.IntegerField()
    n = serializers.IntegerField()
    cannot_judge = serializers.IntegerField()
    golden = serializers.IntegerField()
    own = EstimateSerializer()
    corrected = EstimateSerializer()
    agreement = EstimateSerializer()
    kappa = EstimateSerializer(allow_null=True)
    sensitivity = EstimateSerializer(allow_null=True)
    specificity = EstimateSerializer(allow_null=True)
    correlation = serializers.FloatField(allow_null=True)
    ranks = serializers.FloatField(allow_null=True)
    counts = serializers.ListField(child=serializers.ListField())


class ContenderSerializer(serializers.Serializer):
    """A judge of a shoot-out. `behind` is how much less it agrees than the best, which has null."""

    run = serializers.IntegerField()
    evaluator = serializers.CharField()
    version = serializers.IntegerField()
    agreement = EstimateSerializer()
    kappa = EstimateSerializer(allow_null=True)
    behind = serializers.FloatField(allow_null=True)
    behind_low = serializers.FloatField(allow_null=True)
    cost_usd = serializers.FloatField(allow_null=True, help_text="Of 1,000 outputs.")
    latency_ms = serializers.FloatField(allow_null=True)
    is_good_enough = serializers.BooleanField()
    is_choice = serializers.BooleanField(help_text="The cheapest of those that are good enough.")


class ShootoutSerializer(serializers.Serializer):
    """Judges on the `n` outputs that people graded and all of them scored, the best first."""

    n = serializers.IntegerField()
    judges = ContenderSerializer(many=True)


class AgainstPeople(ProjectView):
    @extend_schema(
        operation_id="evaluators_people",
        summary="Read a judge against people",
        parameters=[OpenApiParameter("run", int, description="A run of it; the latest unless told.")],
        responses=AgainstSerializer,
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        judge = get_object_or_404(Evaluator, project=self.project, pk=pk)
        runs = runs_with_people(judge)
        wanted = request.query_params.get("run")
        run = next((each for each in runs if wanted in (None, str(each.pk))), None)
        people = people_of(run) if run else None
        if run is None or people is None:
            raise Http404(NOTHING_GRADED)
        found = against(beside(run, people), columns([run])[0].figure)
        calibrate(run)
        counts = [[*words, n] for words, n in found.table.counts.items()] if found.table else []
        left_out = {"cannot_judge": found.beside.cannot, "golden": found.beside.tuned_on}
        told: dict[str, Any] = {
            name: getattr(found, name) for name in AgainstSerializer().fields if hasattr(found, name)
        }
        return Response(AgainstSerializer(told | {"run": run.pk, "counts": counts, **left_out}).data)

    @extend_schema(
        operation_id="evaluators_refer",
        summary="Choose whose grades correct a judge",
        request=ReferenceSerializer,
        responses=ReferenceSerializer,
    )
    def put(self, request: Request, project: str, pk: int) -> Response:
        judge = get_object_or_404(Evaluator, project=self.project, pk=pk)
        said = ReferenceSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        wanted = said.validated_data["reference"]
        people = Evaluator.objects.filter(
            project=self.project, kind="human", compares=judge.compares, archived_at=None, pk=wanted
        ).first()
        if wanted is not None and people is None:
            raise serializers.ValidationError({"reference": ["There is no such human evaluator."]})
        refer(judge, people, request.user)
        return Response({"reference": judge.reference_id})


class AgainstJudges(ProjectView):
    @extend_schema(
        operation_id="evaluators_judges",
        summary="Compare judges with the grades of people",
        parameters=[
            OpenApiParameter("run", int, description="The run of these people; the latest unless told."),
            OpenApiParameter("experiment", int, description="The graded result, of several runs over it the latest."),
            OpenApiParameter("margin", float, description="How much worse a cheaper judge may be."),
        ],
        responses=ShootoutSerializer,
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        people = get_object_or_404(Evaluator, project=self.project, pk=pk, kind="human")
        graded = graded_experiments(people)
        wanted, of_result = (request.query_params.get(name) for name in ("run", "experiment"))
        found = (each for each in graded if wanted in (None, str(each.pk)))
        run = next((each for each in found if of_result in (None, str(each.experiment_id))), None)
        if run is None:
            raise Http404("These people have graded nothing here.")
        told = shootout(run, _margin(request.query_params.get("margin")))
        judges = [
            {
                "run": one.run.pk,
                "evaluator": one.run.version.evaluator.name,
                "version": one.run.version.number,
                "behind": one.behind.value if one.behind else None,
                "behind_low": one.behind.low if one.behind else None,
                **{name: getattr(one, name) for name in ("agreement", "kappa", "cost_usd", "latency_ms")},
                "is_good_enough": one.is_good_enough,
                "is_choice": one.is_choice,
            }
            for one in told.contenders
        ]
        return Response(ShootoutSerializer({"n": told.n, "judges": judges}).data)


def _margin(said: str | None) -> float:
    if said is None:
        return MARGIN
    try:
        margin = float(said)
    except ValueError:
        margin = -1.0
    if not 0 <= margin <= 1:
        raise serializers.ValidationError({"margin": ["This is a share from 0 to 1."]})
    return margin
