"""REST views for pipelines: open an experiment, append outputs as they are produced, close it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView
from evalstudio.projects.models import AuditEntry
from evalstudio.web.problems import problem
from evalstudio.web.sound_json import Unchecked
from evaluators.models import EvaluatorVersion
from experiments.api.options import JudgeSerializer
from experiments.api.serializers import ExperimentSerializer
from experiments.api.views import ExperimentList, _OneExperiment
from experiments.ledger.start import CannotStart
from experiments.ledger.start import follow as follow_outputs
from experiments.models import Dataset, DatasetVersion
from experiments.outputs import intake
from experiments.outputs.judging import Judge
from experiments.outputs.keys import KeyInUse

KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
    OpenApiParameter.HEADER,
    description="The same key gives the same experiment, as `client_key` does; used for another one it is refused.",
)


class JudgesSerializer(serializers.Serializer):
    """Who judges outputs as they arrive."""

    versions = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**62),
        required=False,
        max_length=50,
        help_text="Ids of evaluator versions that judge outputs as they arrive, each without options.",
    )
    evaluators = serializers.ListField(
        child=JudgeSerializer(),
        required=False,
        max_length=50,
        help_text="Evaluators that judge outputs as they arrive. Where neither they nor `versions` are named, those"
        " that the project always runs do.",
    )


class NewExperimentSerializer(JudgesSerializer):
    """A system's answers to the cases of a data set, opened for outputs that are yet to come."""

    system = serializers.CharField(max_length=120)
    dataset = serializers.CharField(max_length=120, help_text="Name of the data set.")
    dataset_version = serializers.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, help_text="Its latest version unless told."
    )
    client_key = serializers.CharField(
        required=False, max_length=120, help_text="Your own name for it: asked again, the same experiment."
    )


class NewOutputsSerializer(serializers.Serializer):
    """A batch. Each output: `case` (its key), `outputs`, and as far as known `attempt`, `steps`, `error`, `latency_ms`,
    `cost_usd`, `tokens_in`, `tokens_out`."""

    outputs = serializers.ListField(child=Unchecked(), min_length=1, max_length=intake.MOST_ROWS)


class TakenSerializer(serializers.Serializer):
    """What became of a batch."""

    accepted = serializers.IntegerField()
    unchanged = serializers.IntegerField(help_text="They were there already, word for word.")


class Named(ProjectView):
    """What requests name, looked up; a ValidationError says what there is not."""

    def dataset_version(self, name: str, number: int | None) -> DatasetVersion:
        dataset = Dataset.objects.filter(project=self.project, name=name, latest_version__gt=0).first()
        if dataset is None:
            raise serializers.ValidationError({"dataset": [f"There is no data set “{name}” in this project."]})
        wanted = number or dataset.latest_version
        version = dataset.versions.filter(number=wanted, number__lte=dataset.latest_version).first()
        if version is None:
            raise serializers.ValidationError({"dataset_version": [f"“{name}” has no version {wanted}."]})
        return version

    def versions(self, ids: list[int]) -> list[EvaluatorVersion]:
        found = EvaluatorVersion.objects.filter(evaluator__project=self.project).in_bulk(ids)
        if missing := [str(pk) for pk in ids if pk not in found]:
            raise serializers.ValidationError({"versions": [f"This project has no version {', '.join(missing)}."]})
        return list(found.values())

    def judges(self, given: Mapping[str, Any]) -> list[Judge] | None:
        """Who is to judge from the beginning: whom `versions` and `evaluators` name; None where neither is said, and
        those do that the project always runs."""
        if "versions" not in given and "evaluators" not in given:
            return None
        named = [each.judge(self.project) for each in _each(given.get("evaluators", ()))]
        return [*map(Judge, self.versions(given.get("versions", []))), *named]


def _each(told: Sequence[Mapping[str, Any]]) -> Iterator[JudgeSerializer]:
    """What was said of each evaluator, as it can be asked."""
    for one in told:
        said = JudgeSerializer(data=one)
        said.is_valid(raise_exception=True)
        yield said


class ExperimentCollection(Named, ExperimentList):
    @extend_schema(
        operation_id="experiments_open",
        summary="Open an experiment",
        description="Outputs are appended as they are produced, and are seen and judged at once.",
        parameters=[KEY],
        request=NewExperimentSerializer,
        responses={201: ExperimentSerializer, 200: ExperimentSerializer, 409: None},
    )
    def post(self, request: Request, project: str) -> Response:
        said = NewExperimentSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        given = said.validated_data
        key = given.get("client_key") or request.headers.get("Idempotency-Key") or None
        if key is not None and len(key) > 120:
            raise serializers.ValidationError({"client_key": ["A key has at most 120 characters."]})
        judges = self.judges(given)
        try:
            experiment, is_new = intake.open_experiment(
                self.project,
                request.user,
                system=given["system"],
                version=self.dataset_version(given["dataset"], given.get("dataset_version")),
                client_key=key,
                judges=judges,
                is_pinned="dataset_version" in given,
            )
        except KeyInUse as error:
            return problem(409, str(error))
        except CannotStart as error:
            raise serializers.ValidationError({"evaluators": [str(error)]}) from None
        if is_new:
            AuditEntry.note(self.project, request.user, "opened", f"experiment of {experiment.system.name}")
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(ExperimentSerializer(experiment).data, status=code)


class OutputIntake(_OneExperiment):
    @extend_schema(
        operation_id="outputs_append",
        summary="Append outputs",
        description="Outputs that are there already change nothing, so a batch can be sent again. Where some are wrong"
        " the answer is 422 and names each with its case and the reason; the others are kept.",
        request=NewOutputsSerializer,
        responses={200: TakenSerializer, 409: None, 422: None},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        experiment = self.experiment(pk)
        said = NewOutputsSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        try:
            taken = intake.append(experiment, said.validated_data["outputs"])
        except intake.IsClosed:
            return problem(409, "This experiment is closed and takes no more outputs.")
        if taken.accepted or taken.unchanged:  # who sent them first may have ended before they were judged
            follow_outputs(experiment)
        figures: dict[str, Any] = {"accepted": taken.accepted, "unchanged": taken.unchanged}
        if not taken.faults:
            return Response(figures)
        errors = [
            {"field": f"outputs[{fault.place}]", "case": fault.case, "message": fault.reason} for fault in taken.faults
        ]
        kept = taken.accepted + taken.unchanged
        detail = f"{len(errors)} of {kept + len(errors)} outputs were not accepted; the others are stored."
        return problem(422, detail, errors=errors, **figures)


class ExperimentClose(_OneExperiment):
    @extend_schema(
        operation_id="experiments_close",
        summary="Close an experiment",
        description="It takes no more outputs afterwards.",
        request=None,
        responses=ExperimentSerializer,
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        experiment = self.experiment(pk)
        intake.close(experiment)
        follow_outputs(experiment)
        return Response(ExperimentSerializer(experiment).data)
