"""REST view of what a project asks of a version before it is published."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView
from evalstudio.projects.models import AuditEntry, Role
from evaluators.forms.publishing import SHARES, PublishingRuleForm
from evaluators.kinds.forms import as_percent
from evaluators.models import PublishingRule
from evaluators.publishing import rule_of


class ShareField(serializers.FloatField):
    """A share in [0, 1], or null where none is asked for."""

    def __init__(self, **more: object) -> None:
        super().__init__(min_value=0, max_value=1, allow_null=True, required=False, default=None, **more)


class PublishingRuleSerializer(serializers.ModelSerializer):
    """What golden cases must show before a version is published; all null asks for nothing."""

    class Meta:
        model = PublishingRule
        fields = ("least_cases", *SHARES)

    least_cases = serializers.IntegerField(min_value=1, max_value=100_000, required=False, default=1)
    min_agreement = ShareField()
    min_sensitivity = ShareField(help_text="Of the cases that must pass; with min_specificity, or not at all.")
    min_specificity = ShareField(help_text="Of the cases that must not pass; with min_sensitivity, or not at all.")


class PublishingRuleView(ProjectView):
    writes = Role.OWNER

    @extend_schema(
        operation_id="publishing_rule_read", summary="Read the publishing rule", responses=PublishingRuleSerializer
    )
    def get(self, request: Request, project: str) -> Response:
        return self._told(rule_of(self.project.pk))

    @extend_schema(
        operation_id="publishing_rule_set",
        summary="Set the publishing rule",
        description="It holds for every evaluator of the project. Without any share nothing is asked.",
        request=PublishingRuleSerializer,
        responses=PublishingRuleSerializer,
    )
    def put(self, request: Request, project: str) -> Response:
        said = PublishingRuleSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        shares = {name: as_percent(share) for name in SHARES if (share := said.validated_data[name]) is not None}
        form = PublishingRuleForm(shares | {"least_cases": said.validated_data["least_cases"]})
        if not form.is_valid():
            raise serializers.ValidationError(form.errors)
        saved = form.save(self.project)
        AuditEntry.note(self.project, request.user, "set" if saved else "lifted", "the publishing rule")
        return self._told(saved)

    def _told(self, rule: PublishingRule | None) -> Response:
        return Response(PublishingRuleSerializer(rule or PublishingRule()).data)
