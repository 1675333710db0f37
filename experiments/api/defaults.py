"""REST views of what new runs of a project begin with."""

from __future__ import annotations

from django.http import QueryDict
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView
from evalstudio.projects.models import AuditEntry
from experiments.forms.defaults import RunDefaultsForm
from experiments.forms.starting import MOST_MINUTES, MOST_USD, limits_typed
from experiments.models import RunDefaults


class RunDefaultsSerializer(serializers.Serializer):
    """Limits of new runs, and the evaluators that judge every new result. What is null or empty asks for nothing."""

    limit_usd = serializers.FloatField(allow_null=True, min_value=0.000001, max_value=MOST_USD)
    limit_minutes = serializers.FloatField(allow_null=True, min_value=1 / 60, max_value=MOST_MINUTES)
    evaluators = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**62), max_length=1000, help_text="Ids of evaluators."
    )


class RunDefaultsDetail(ProjectView):
    @extend_schema(
        operation_id="run_defaults_read", summary="Read the defaults of new runs", responses=RunDefaultsSerializer
    )
    def get(self, request: Request, project: str) -> Response:
        return Response(_told(RunDefaults.of(self.project)))

    @extend_schema(
        operation_id="run_defaults_write",
        summary="Write the defaults of new runs",
        description="Whoever starts a run can say otherwise. Runs that exist keep what they were started with.",
        request=RunDefaultsSerializer,
        responses=RunDefaultsSerializer,
    )
    def put(self, request: Request, project: str) -> Response:
        said = RunDefaultsSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        typed = QueryDict(mutable=True)
        for name in ("limit_usd", "limit_minutes"):
            value = said.validated_data[name]
            typed[name] = "" if value is None else repr(value)
        typed.setlist("evaluators", [str(pk) for pk in said.validated_data["evaluators"]])
        form = RunDefaultsForm(typed, project=self.project)
        if not form.is_valid():
            raise serializers.ValidationError({name: list(found) for name, found in form.errors.items()})
        saved = form.save()
        AuditEntry.note(self.project, request.user, "set", "the defaults of new runs")
        return Response(_told(saved))


def _told(defaults: RunDefaults) -> dict[str, object]:
    chosen = RunDefaults.evaluators.through.objects.filter(rundefaults=defaults.pk).order_by("evaluator")
    return {**limits_typed(defaults), "evaluators": list(chosen.values_list("evaluator", flat=True))}
