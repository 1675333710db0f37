"""REST view of how far people agree."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotations.agreeing import (
    WEIGHTS,
    Pair,
    Person,
    counted,
    figures,
    latest_graded,
    level_of,
    pairs_of,
    people_in,
    said_in,
    table_of,
)
from annotations.called import names_for
from annotations.models import Queue
from annotations.queueing import config_of
from evalstudio.projects.api_access import ProjectView
from evalstudio.web.foreign import id_in
from evaluators.models import Evaluator
from experiments.api.serializers import EstimateSerializer


class PersonSerializer(serializers.Serializer):
    """A person's grades beside the others', beside their own when asked again, and beside known answers."""

    person = serializers.CharField(help_text="A name, or “Person 1” where a blind queue hides it.")
    grades = serializers.IntegerField()
    others = EstimateSerializer()
    again = EstimateSerializer()
    known = EstimateSerializer()


class PairOfPeopleSerializer(serializers.Serializer):
    """Two people on the items that both graded. `kappa` is Cohen's, weighted for grades with an order."""

    people = serializers.ListField(child=serializers.CharField())
    items = serializers.IntegerField()
    same = EstimateSerializer()
    kappa = EstimateSerializer()


class AgreementSerializer(serializers.Serializer):
    """How far people agree. Reviewers get their own row of `people` and nothing else; other figures are null then.

    Coefficients are in [−1, 1]: 1 is perfect and 0 what chance would give. `cohen` is null unless there are two people.
    """

    version = serializers.IntegerField(help_text="The id of the evaluator version.")
    level = serializers.ChoiceField([*WEIGHTS])
    items = serializers.IntegerField(allow_null=True, help_text="Items that two people or more graded.")
    same = EstimateSerializer(allow_null=True)
    krippendorff = EstimateSerializer(allow_null=True)
    gwet = EstimateSerializer(allow_null=True, help_text="AC1, or AC2 for grades with an order.")
    fleiss = EstimateSerializer(allow_null=True)
    cohen = EstimateSerializer(allow_null=True)
    people = PersonSerializer(many=True)
    pairs = PairOfPeopleSerializer(many=True)


class AgreementOfPeople(ProjectView):
    reviewers = True

    @extend_schema(
        operation_id="evaluators_agreement",
        summary="Read how far people agree who grade by an evaluator",
        parameters=[
            OpenApiParameter("version", int, description="Its number; else the latest by which somebody graded."),
            OpenApiParameter("queue", int, description="Only grades given in this queue."),
            OpenApiParameter("level", enum=[*WEIGHTS], description="As the scale suggests unless told."),
        ],
        responses=AgreementSerializer,
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        evaluator = get_object_or_404(Evaluator, project=self.project, pk=pk, kind="human")
        asked = request.query_params
        versions = evaluator.versions.select_related("evaluator").order_by("-number")
        if asked.get("version"):
            version = get_object_or_404(versions, number=self._id("version"))
        else:
            version = latest_graded(list(versions)) or get_object_or_404(versions)
        queue = get_object_or_404(Queue, project=self.project, pk=self._id("queue")) if asked.get("queue") else None
        scoring = config_of(version).scoring
        level = next((one for one in WEIGHTS if one == asked.get("level")), level_of(scoring))
        said = said_in(counted(version, queue))
        people = people_in(said, version, queue)
        name = names_for(version, self.role)
        told: dict[str, Any] = {"version": version.pk, "level": level, "pairs": []}
        told |= dict.fromkeys(("items", "same", "krippendorff", "gwet", "fleiss", "cohen"))
        if self.role.looks_around:
            table = table_of(said, scoring, level)
            found = figures(table, level)
            told |= {key: getattr(found, key) for key in ("items", "same", "krippendorff", "gwet", "fleiss", "cohen")}
            told["pairs"] = [_pair(one, name) for one in pairs_of(said, table, level)]
        else:
            people, name = [one for one in people if one.pk == request.user.pk], lambda _: request.user.username
        told["people"] = [_person(one, name) for one in people]
        return Response(AgreementSerializer(told).data)

    def _id(self, name: str) -> int:
        found = id_in(self.request.query_params[name])
        if found is None:
            raise serializers.ValidationError({name: ["Give a number."]})
        return found


def _person(one: Person, name: Any) -> dict[str, Any]:
    told = {"others": one.others, "again": one.again, "known": one.known}
    return {"person": name(one.pk), "grades": one.grades, **told}


def _pair(one: Pair, name: Any) -> dict[str, Any]:
    return {"people": [name(one.first), name(one.second)], "items": one.items, "same": one.same, "kappa": one.kappa}
