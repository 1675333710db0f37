"""REST views of scales."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView, listing
from evalstudio.web.pagination import Order
from evaluators.editing import as_typed
from evaluators.forms.scale import ScaleForm
from evaluators.kinds.scored import typed_scoring
from evaluators.models import Scale


class ScaleSerializer(serializers.ModelSerializer):
    """A scoring of the project by name. Versions keep it as it was when they were saved."""

    class Meta:
        model = Scale
        fields = ("id", "name", "description", "scoring", "created_at", "updated_at", "archived_at")
        read_only_fields = fields


class GivenScaleSerializer(serializers.Serializer):
    """A scale to save. `scoring` has the shape that it has in a version's configuration."""

    name = serializers.CharField(max_length=80)
    description = serializers.CharField(max_length=5_000, required=False, allow_blank=True)
    scoring = serializers.DictField()


class ScaleList(ProjectView):
    @listing(
        "scales_list",
        "List scales",
        ScaleSerializer,
        parameters=(OpenApiParameter("archived", bool, description="The archived ones instead of those in use."),),
    )
    def get(self, request: Request, project: str) -> Response:
        in_use = request.query_params.get("archived") != "true"
        rows = Scale.objects.filter(project=self.project, archived_at__isnull=in_use)
        return self.page(rows, Order("name"), lambda found: ScaleSerializer(found, many=True).data)

    @extend_schema(
        operation_id="scales_create",
        summary="Make a scale",
        request=GivenScaleSerializer,
        responses={201: ScaleSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        said = GivenScaleSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        form = _form(said.validated_data, project=self.project)
        return Response(ScaleSerializer(form.save(request.user)).data, status=status.HTTP_201_CREATED)


class ScaleView(ProjectView):
    """A view of one scale."""

    def scale(self, pk: int) -> Scale:
        return get_object_or_404(Scale.objects.select_related("project"), project=self.project, pk=pk)


class ScaleDetail(ScaleView):
    @extend_schema(operation_id="scales_read", summary="Read a scale", responses=ScaleSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        return Response(ScaleSerializer(self.scale(pk)).data)

    @extend_schema(
        operation_id="scales_update",
        summary="Change a scale",
        description="What is not sent stays. Saved versions keep the scale as it was.",
        request=GivenScaleSerializer,
        responses=ScaleSerializer,
    )
    def patch(self, request: Request, project: str, pk: int) -> Response:
        scale = self.scale(pk)
        said = GivenScaleSerializer(data=request.data, partial=True)
        said.is_valid(raise_exception=True)
        kept = {"name": scale.name, "description": scale.description, "scoring": scale.scoring}
        form = _form({**kept, **said.validated_data}, project=self.project, scale=scale)
        return Response(ScaleSerializer(form.save(request.user)).data)


class ScaleArchive(ScaleView):
    @extend_schema(
        operation_id="scales_archive",
        summary="Archive a scale",
        description="It leaves lists and pickers. Evaluators that have it keep it.",
        request=None,
        responses=ScaleSerializer,
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        scale = self.scale(pk)
        scale.archive(request.user)
        return Response(ScaleSerializer(scale).data)


class ScaleRestore(ScaleView):
    @extend_schema(
        operation_id="scales_restore", summary="Restore an archived scale", request=None, responses=ScaleSerializer
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        scale = self.scale(pk)
        scale.restore(request.user)
        return Response(ScaleSerializer(scale).data)


def _form(given: dict[str, Any], **about: Any) -> ScaleForm:
    """The checked form over what was sent. Raises ValidationError with every fault by field."""
    try:
        scoring = typed_scoring(given["scoring"])
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise serializers.ValidationError({"scoring": [f"This is not a scoring: {error!r}."]}) from None
    named = {"name": [given["name"]], "description": [given.get("description", "")]}
    form = ScaleForm(as_typed(named | scoring), **about)
    if not form.is_valid():
        said = {name: [fault.message for fault in faults] for name, faults in form.faults.items()}
        raise serializers.ValidationError(said)
    return form
