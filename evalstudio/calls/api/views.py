"""REST view of connections: to know which id a configuration may name."""

from __future__ import annotations

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.calls.models import Connection
from evalstudio.projects.api_access import ProjectView, listing
from evalstudio.web.pagination import Order


class ConnectionSerializer(serializers.ModelSerializer):
    """An endpoint that evaluators can call. Its key is never told."""

    class Meta:
        model = Connection
        fields = ("id", "name", "base_url", "model", "is_rehearsal", "max_in_flight", "requests_per_minute")
        read_only_fields = fields

    is_rehearsal = serializers.BooleanField(read_only=True)


class ConnectionList(ProjectView):
    @listing("connections_list", "List connections", ConnectionSerializer)
    def get(self, request: Request, project: str) -> Response:
        rows = Connection.objects.filter(project=self.project, archived_at=None)
        return self.page(rows, Order("name"), lambda found: ConnectionSerializer(found, many=True).data)
