"""REST views of golden cases and publishing."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView, listing
from evalstudio.projects.models import AuditEntry
from evalstudio.web.foreign import is_storable
from evalstudio.web.pagination import Order
from evalstudio.web.problems import problem
from evaluators.core import PARTS
from evaluators.engine import Work, work_of
from evaluators.forms.golden import fitting
from evaluators.golden import NotKept, checked_must, keep, sample_in, stored_sample
from evaluators.golden_judging import PeopleGrade, judge
from evaluators.kinds import KINDS, BadConfig
from evaluators.models import Evaluator, EvaluatorVersion, GoldenCase
from evaluators.publishing import GateClosed, gate_of, publish, rule_of


class GoldenCaseSerializer(serializers.ModelSerializer):
    """A sample with the verdict that must come: {"label": …}, {"passed": true or false} or {"value": 0.6}."""

    author = serializers.CharField(source="author.username", default=None, read_only=True, allow_null=True)

    class Meta:
        model = GoldenCase
        fields = ("id", "title", "must", "note", "sample", "author", "created_at")
        read_only_fields = fields


class NewGoldenCaseSerializer(serializers.Serializer):
    """A sample to keep: an object with some of inputs, expectedOutputs, outputs, steps, metadata and comparison."""

    sample = serializers.DictField()
    must = serializers.DictField()
    title = serializers.CharField(max_length=80, required=False, default="", allow_blank=True)
    note = serializers.CharField(max_length=300, required=False, default="", allow_blank=True)


class ChangedGoldenCaseSerializer(serializers.Serializer):
    """What may be changed of a golden case; what is left out stays."""

    must = serializers.DictField(required=False)
    title = serializers.CharField(max_length=80, required=False)
    note = serializers.CharField(max_length=300, required=False, allow_blank=True)


class JudgedSerializer(serializers.Serializer):
    """What one round did: ask again while `left` is above zero and `not_now` is empty."""

    judged = serializers.IntegerField()
    left = serializers.IntegerField()
    not_now = serializers.CharField(allow_blank=True)


class GateSerializer(serializers.Serializer):
    """Whether a version may be published, each condition as a sentence, and its figures on the golden cases."""

    is_open = serializers.BooleanField()
    reasons = serializers.ListField(child=serializers.CharField())
    figures = serializers.DictField(allow_null=True)


class OfEvaluator(ProjectView):
    """A view of something that belongs to one evaluator."""

    def evaluator(self, pk: int) -> Evaluator:
        return get_object_or_404(Evaluator, project=self.project, pk=pk, kind__in=KINDS)

    def version(self, pk: int, number: int) -> EvaluatorVersion:
        return get_object_or_404(EvaluatorVersion, evaluator=self.evaluator(pk), number=number)

    def work(self, evaluator: Evaluator) -> Work:
        """What the latest version does. Raises ValidationError where it cannot judge golden cases."""
        version = evaluator.versions.select_related("evaluator").order_by("-number").first()
        if version is None:
            raise Http404
        try:
            work = work_of(version)
        except BadConfig as error:
            raise serializers.ValidationError({"must": [f"The latest version cannot be read: {error}"]}) from None
        if not work.needs.is_judged_here:
            raise serializers.ValidationError({"must": ["Nothing here judges for it, so it has no golden cases."]})
        return work


class GoldenCaseList(OfEvaluator):
    @listing("golden_cases_list", "List golden cases", GoldenCaseSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        rows = GoldenCase.objects.filter(evaluator=self.evaluator(pk)).select_related("author")
        return self.page(rows, Order("pk"), lambda found: GoldenCaseSerializer(found, many=True).data)

    @extend_schema(
        operation_id="golden_cases_create",
        summary="Keep a golden case",
        description="A sample that is kept already gives its case back, with what must come now.",
        request=NewGoldenCaseSerializer,
        responses={201: GoldenCaseSerializer, 200: GoldenCaseSerializer},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        evaluator = self.evaluator(pk)
        said = _valid(NewGoldenCaseSerializer, request)
        work = self.work(evaluator)
        unknown = sorted(set(said["sample"]) - set(PARTS))
        if unknown:
            raise serializers.ValidationError({"sample": [f"“{name}” is no part of a sample." for name in unknown]})
        try:
            stored = stored_sample(fitting(sample_in(said["sample"]), work))
            must = checked_must(said["must"], work)
            case, made = keep(evaluator, stored, must, title=said["title"], note=said["note"], author=request.user)
        except NotKept as error:
            raise serializers.ValidationError({error.field or "sample": [str(error)]}) from None
        if made:
            AuditEntry.note(self.project, request.user, "kept golden case of", f"evaluator {evaluator.name}")
        return Response(GoldenCaseSerializer(case).data, status=status.HTTP_201_CREATED if made else status.HTTP_200_OK)


class GoldenCaseDetail(OfEvaluator):
    @extend_schema(operation_id="golden_cases_read", summary="Read a golden case", responses=GoldenCaseSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        return Response(GoldenCaseSerializer(self.case(pk)).data)

    @extend_schema(
        operation_id="golden_cases_update",
        summary="Change what must come of a golden case, its title or note",
        request=ChangedGoldenCaseSerializer,
        responses=GoldenCaseSerializer,
    )
    def patch(self, request: Request, project: str, pk: int) -> Response:
        case = self.case(pk)
        said = _valid(ChangedGoldenCaseSerializer, request)
        if "must" in said:
            try:
                said["must"] = checked_must(said["must"], self.work(case.evaluator))
            except NotKept as error:
                raise serializers.ValidationError({"must": [str(error)]}) from None
        for name, value in said.items():
            setattr(case, name, value)
        case.save(update_fields=list(said))
        return Response(GoldenCaseSerializer(case).data)

    @extend_schema(operation_id="golden_cases_delete", summary="Delete a golden case", responses={204: None})
    def delete(self, request: Request, project: str, pk: int) -> Response:
        case = self.case(pk)
        AuditEntry.note(self.project, request.user, "deleted golden case of", f"evaluator {case.evaluator.name}")
        case.delete()
        return Response(status=status.HTTP_204_NO_CONTENT)

    def case(self, pk: int) -> GoldenCase:
        cases = GoldenCase.objects.select_related("author", "evaluator")
        return get_object_or_404(cases, evaluator__project=self.project, evaluator__kind__in=KINDS, pk=pk)


class GoldenJudging(OfEvaluator):
    @extend_schema(
        operation_id="golden_cases_judge",
        summary="Judge golden cases with a version",
        description="Judges those without a verdict, as many as fit into about ten seconds.",
        request=None,
        responses={200: JudgedSerializer, 409: None},
    )
    def post(self, request: Request, project: str, pk: int, number: int) -> Response:
        try:
            done = judge(self.version(pk, number))
        except (PeopleGrade, BadConfig) as error:
            return problem(409, str(error))
        return Response(JudgedSerializer(done).data)


class Publishing(OfEvaluator):
    @extend_schema(
        operation_id="versions_gate", summary="Read whether a version may be published", responses=GateSerializer
    )
    def get(self, request: Request, project: str, pk: int, number: int) -> Response:
        gate = gate_of(self.version(pk, number), rule_of(self.project.pk))
        figures = gate.figures.stored() if gate.figures else None
        return Response({"is_open": gate.is_open, "reasons": gate.reasons, "figures": figures})

    @extend_schema(
        operation_id="versions_publish",
        summary="Publish a version",
        description="A closed gate answers 409 with its `reasons`.",
        request=None,
        responses={200: GateSerializer, 409: None},
    )
    def post(self, request: Request, project: str, pk: int, number: int) -> Response:
        try:
            publish(self.version(pk, number), request.user)
        except GateClosed as closed:
            return problem(409, "The version may not be published yet.", reasons=closed.reasons)
        return self.get(request, project, pk, number)


def _valid(shape: Any, request: Request) -> dict[str, Any]:
    said = shape(data=request.data)
    said.is_valid(raise_exception=True)
    wrong = [name for name, value in said.validated_data.items() if isinstance(value, str) and not is_storable(value)]
    if wrong:
        raise serializers.ValidationError({name: ["Leave out the characters that cannot be stored."] for name in wrong})
    return dict(said.validated_data)
