"""REST view of the catalogue: every built-in evaluator with its inputs, the schema of its parameters, its measures."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView
from evaluators import catalogue
from evaluators.catalogue import Entry


class InputSerializer(serializers.Serializer):
    """What an entry reads of a case; `path` is where it lies unless the mapping says otherwise."""

    key = serializers.CharField()
    path = serializers.CharField()
    description = serializers.CharField()
    required = serializers.BooleanField()


class MeasureSerializer(serializers.Serializer):
    """One number that an entry gives; the first of an entry is the score."""

    name = serializers.CharField()
    title = serializers.CharField()
    direction = serializers.CharField(allow_null=True)
    threshold = serializers.FloatField(allow_null=True)


class EntrySerializer(serializers.Serializer):
    """An entry. `parameters` is a JSON Schema of the parameters in a configuration of the kind "builtin"."""

    key = serializers.CharField()
    title = serializers.CharField()
    family = serializers.CharField()
    summary = serializers.CharField()
    inputs = InputSerializer(many=True)
    parameters = serializers.DictField()
    measures = MeasureSerializer(many=True)
    tags = serializers.ListField(child=serializers.CharField())


class Catalogue(ProjectView):
    @extend_schema(
        operation_id="catalogue_list",
        summary="List the built-in evaluators",
        description='What {"entry": key, "parameters": {…}, "mapping": {input: path}} may hold for the kind "builtin".',
        responses=inline_serializer("CatalogueOfEntries", {"results": EntrySerializer(many=True)}),
    )
    def get(self, request: Request, project: str) -> Response:
        return Response({"results": EntrySerializer([_plain(entry) for entry in catalogue.entries()], many=True).data})


def _plain(entry: Entry) -> dict[str, Any]:
    inputs = [
        {"key": one.key, "path": one.path, "description": one.doc, "required": one.key not in entry.optional}
        for one in entry.inputs
    ]
    parameters = {
        "type": "object",
        "properties": {one.name: one.schema() for one in entry.parameters},
        "required": [one.name for one in entry.parameters if one.is_required],
        "additionalProperties": False,
    }
    about = {"key": entry.key, "title": entry.title, "family": entry.family, "summary": entry.summary}
    return {**about, "inputs": inputs, "parameters": parameters, "measures": entry.measures, "tags": entry.tags}
