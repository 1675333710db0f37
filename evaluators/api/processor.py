"""REST views of a project's processor: its versions, and trying code before it is saved."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView, listing
from evalstudio.web.pagination import Order
from evalstudio.web.problems import problem
from evaluators.core import PARTS
from evaluators.forms.processor import Overtaken, ProcessorForm
from evaluators.golden import sample_in
from evaluators.models import ProcessorVersion
from evaluators.processing import Processor, sentence


class ProcessorVersionSerializer(serializers.ModelSerializer):
    """A version; the highest number is in use. Without code there is no processor."""

    author = serializers.CharField(source="author.username", default=None, read_only=True, allow_null=True)

    class Meta:
        model = ProcessorVersion
        fields = ("number", "code", "note", "author", "created_at")
        read_only_fields = fields


class GivenProcessorSerializer(serializers.Serializer):
    """The next version: JavaScript that defines `process`, or nothing to have none."""

    code = serializers.CharField(allow_blank=True, trim_whitespace=False)
    note = serializers.CharField(max_length=300, required=False, default="", allow_blank=True)
    base = serializers.IntegerField(
        required=False, min_value=0, max_value=2**31 - 1, help_text="The version that the edits began with, 0 for none."
    )


class TriedProcessorSerializer(serializers.Serializer):
    """Code, and the sample whose output it gets."""

    code = serializers.CharField(trim_whitespace=False)
    sample = serializers.DictField(help_text=f"With some of {', '.join(PARTS)}.")


class MadeSerializer(serializers.Serializer):
    """What came of it: `processed`, or why there is nothing."""

    processed = serializers.DictField(allow_null=True)
    failure = serializers.CharField(allow_blank=True)
    logs = serializers.ListField(child=serializers.CharField())


class ProcessorList(ProjectView):
    @listing("processor_list", "List the versions of the processor", ProcessorVersionSerializer)
    def get(self, request: Request, project: str) -> Response:
        rows = ProcessorVersion.objects.filter(project=self.project).select_related("author")
        order = Order("number", descending=True)
        return self.page(rows, order, lambda found: ProcessorVersionSerializer(found, many=True).data)

    @extend_schema(
        operation_id="processor_save",
        summary="Save the processor",
        description="Makes the next version; the same code gives the version there is. Runs keep to the version that"
        " they were started with, so start them again for results that read this one. 409 where somebody saved a"
        " version after `base`.",
        request=GivenProcessorSerializer,
        responses={201: ProcessorVersionSerializer, 200: ProcessorVersionSerializer, 409: None},
    )
    def post(self, request: Request, project: str) -> Response:
        form = _form(GivenProcessorSerializer(data=request.data))
        try:
            saved, is_new = form.save(self.project, request.user)
        except Overtaken:
            return problem(409, "Somebody saved a newer version since these edits began.")
        if saved is None:
            raise serializers.ValidationError({"code": ["There is no processor, so there is nothing to take away."]})
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(ProcessorVersionSerializer(saved).data, status=code)


class ProcessorTry(ProjectView):
    @extend_schema(
        operation_id="processor_try",
        summary="Try code of a processor",
        description="Saves nothing.",
        request=TriedProcessorSerializer,
        responses=MadeSerializer,
    )
    def post(self, request: Request, project: str) -> Response:
        said = TriedProcessorSerializer(data=request.data)
        form = _form(said)
        outcome = Processor(0, form.cleaned_data["code"]).outcomes([sample_in(said.validated_data["sample"])])[0]
        failure = sentence(outcome) if outcome.fault else ""
        return Response({"processed": outcome.value, "failure": failure, "logs": list(outcome.logs)})


def _form(said: Any) -> ProcessorForm:
    """The form over what was said. Raises ValidationError with what is wrong."""
    said.is_valid(raise_exception=True)
    form = ProcessorForm(said.validated_data)
    if faults := form.faults():
        told = {
            name: [f"Line {each.line}: {each.message}" if each.line else each.message for each in found]
            for name, found in faults.items()
        }
        raise serializers.ValidationError(told)
    return form
