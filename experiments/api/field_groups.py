"""`?fields=scores,figures`: which groups of fields results tell, so that big ones travel only when wanted."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.request import Request

from experiments.analysis.exporting import EVERYTHING, GROUPS

FIELDS = OpenApiParameter(
    "fields",
    {"type": "array", "items": {"type": "string", "enum": list(GROUPS)}},
    description="Groups of fields, separated by commas; all of them unless told. `id`, `key` and `attempt` are always"
    " there. `case`: inputs, expected outputs and metadata. `figures`: error, latency, cost and tokens. `scores`:"
    " evaluations without their reasons; `reasons`: with them.",
    explode=False,
)


def groups_in(request: Request) -> frozenset[str]:
    """The groups that a request asks for. Raises ValidationError for one that there is not."""
    wanted = frozenset(word.strip() for word in request.query_params.get("fields", "").split(",")) - {""}
    if unknown := sorted(wanted - EVERYTHING):
        found = f"There is no group “{unknown[0][:40]}”. There are {', '.join(GROUPS)}."
        raise serializers.ValidationError({"fields": [found]})
    return wanted or EVERYTHING
