"""REST views of imports, experiments, runs and results."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView, listing
from evalstudio.projects.models import AuditEntry
from evalstudio.web.foreign import id_in
from evalstudio.web.pagination import Order
from evalstudio.web.problems import problem
from evaluators.models import EvaluatorVersion
from experiments.analysis.columns import columns, current_runs
from experiments.analysis.exporting import record_page
from experiments.analysis.pairing import comparable, outputs_of
from experiments.api import serializers as shapes
from experiments.api.field_groups import FIELDS, groups_in
from experiments.api.options import BoundsSerializer, RetrySerializer, check_split
from experiments.datasets.importing.starting import ImportRefused, start_import
from experiments.ledger import verbs
from experiments.ledger.blocked import why_not_yet
from experiments.ledger.start import CannotStart, start
from experiments.models import Experiment, Import, Purpose, Run


class ImportStart(ProjectView):
    parser_classes = [MultiPartParser]

    @extend_schema(
        operation_id="imports_start",
        summary="Import cases or outputs from a file",
        description="CSV, JSONL or JSON. The import runs in the background; read it to follow it.",
        request={"multipart/form-data": shapes.NewImportSerializer},
        responses={201: shapes.ImportSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        said = shapes.NewImportSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        options = dict(said.validated_data)
        try:
            job = start_import(self.project, request.user, options.pop("file"), options)
        except ImportRefused as refused:
            raise serializers.ValidationError({name or "file": said for name, said in refused.errors.items()}) from None
        return Response(shapes.ImportSerializer(job).data, status=status.HTTP_201_CREATED)


class ImportDetail(ProjectView):
    @extend_schema(operation_id="imports_read", summary="Follow an import", responses=shapes.ImportSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        return Response(shapes.ImportSerializer(get_object_or_404(Import, project=self.project, pk=pk)).data)


class ExperimentList(ProjectView):
    @listing("experiments_list", "List experiments", shapes.ExperimentSerializer)
    def get(self, request: Request, project: str) -> Response:
        rows = Experiment.objects.filter(project=self.project).select_related("system", "dataset_version__dataset")
        order = Order("pk", descending=True)
        return self.page(rows, order, lambda found: shapes.ExperimentSerializer(found, many=True).data)


class _OneExperiment(ProjectView):
    def experiment(self, pk: int) -> Experiment:
        experiments = Experiment.objects.select_related("system", "dataset_version__dataset", "project")
        return get_object_or_404(experiments, project=self.project, pk=pk)


class ExperimentDetail(_OneExperiment):
    @extend_schema(operation_id="experiments_read", summary="Read an experiment", responses=shapes.ExperimentSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        return Response(shapes.ExperimentSerializer(self.experiment(pk)).data)


class ResultList(_OneExperiment):
    @listing(
        "results_list",
        "List an experiment's outputs with their evaluations",
        shapes.ResultSerializer,
        description="In the order in which the outputs arrived; every current run gives one evaluation per output. "
        "Against a baseline: the outputs whose case it answered as well, with what it answered and the comparative "
        "evaluations.",
        parameters=[OpenApiParameter("baseline", int, description="Another experiment of the same data set."), FIELDS],
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        experiment, groups = self.experiment(pk), groups_in(request)
        wanted = request.query_params.get("baseline", "")
        baseline = self._baseline(experiment, wanted) if wanted else None
        runs = current_runs(experiment, baseline)
        rows = outputs_of(experiment, baseline)
        return self.page(rows, Order("pk"), lambda found: record_page(found, runs, baseline, groups))

    def _baseline(self, experiment: Experiment, wanted: str) -> Experiment:
        baseline = comparable(experiment).filter(pk=id_in(wanted) or 0).first()
        if baseline is None:
            raise serializers.ValidationError({"baseline": ["Give the id of another experiment of this data set."]})
        return baseline


class _Runs(ProjectView):
    def runs(self) -> Any:
        return Run.objects.filter(experiment__project=self.project).select_related(
            "version__evaluator__project",
            "version__publication",
            "calibration",
            "connection",
            "experiment__system",
            "baseline__system",
        )

    def run(self, pk: int) -> Run:
        return get_object_or_404(self.runs(), pk=pk)

    def answer(self, pk: int, status_code: int = status.HTTP_200_OK) -> Response:
        return Response(_run_data([self.run(pk)])[0], status=status_code)


class RunList(_Runs):
    @listing(
        "runs_list",
        "List runs",
        shapes.RunSerializer,
        description="Runs over samples, for a trial or for noise, are left out unless they are asked for.",
        parameters=[
            OpenApiParameter("experiment", int, description="Only the runs of this experiment."),
            OpenApiParameter("baseline", int, description="Only the runs against this baseline."),
            OpenApiParameter("purpose", str, enum=[*Purpose], description="`results` unless told."),
        ],
    )
    def get(self, request: Request, project: str) -> Response:
        purpose = request.query_params.get("purpose", Purpose.RESULTS)
        if purpose not in list(Purpose):
            raise serializers.ValidationError({"purpose": [f"One of {', '.join(Purpose)}."]})
        rows = self.runs().filter(purpose=purpose)
        for name in ("experiment", "baseline"):
            if wanted := request.query_params.get(name, ""):
                if id_in(wanted) is None:
                    raise serializers.ValidationError({name: ["Give the id of an experiment."]})
                rows = rows.filter(**{name: id_in(wanted)})
        return self.page(rows, Order("pk", descending=True), _run_data)

    @extend_schema(
        operation_id="runs_start",
        summary="Run an evaluator version over an experiment",
        description="Asked again, it gives the same run back and adds rows for outputs that came since; with other "
        "options, or to judge all again, it is a new run. "
        "A comparative evaluator needs a baseline: the scores say how often the experiment beats it.",
        request=shapes.NewRunSerializer,
        responses={201: shapes.RunSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        said = shapes.NewRunSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        version, experiment, baseline = self._named(said.validated_data)
        asked = said.asked()
        check_split(experiment.dataset_version, asked)
        try:
            run = start(version, experiment, request.user, baseline=baseline, asked=asked)
        except CannotStart as error:
            raise serializers.ValidationError({"version": [str(error)]}) from None
        AuditEntry.note(self.project, request.user, "ran", f"{version.evaluator.name} {version} on {run.subject}")
        return self.answer(run.pk, status.HTTP_201_CREATED)

    def _named(self, said: dict[str, Any]) -> tuple[EvaluatorVersion, Experiment, Experiment | None]:
        versions = EvaluatorVersion.objects.select_related("evaluator").filter(evaluator__project=self.project)
        version = versions.filter(pk=said["version"]).first()
        if version is None:
            raise serializers.ValidationError({"version": ["There is no such version in this project."]})
        experiment = self._experiment("experiment", said["experiment"])
        baseline = said.get("baseline")
        return version, experiment, None if baseline is None else self._experiment("baseline", baseline)

    def _experiment(self, field: str, pk: int) -> Experiment:
        experiment = Experiment.objects.filter(project=self.project, pk=pk).first()
        if experiment is None:
            raise serializers.ValidationError({field: ["There is no such experiment in this project."]})
        return experiment


class RunDetail(_Runs):
    @extend_schema(operation_id="runs_read", summary="Read a run", responses=shapes.RunSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        return self.answer(pk)

    @extend_schema(
        operation_id="runs_bound",
        summary="Set the limits and the priority of a run",
        description="With another limit, a run that a limit had stopped goes on.",
        request=BoundsSerializer,
        responses={200: shapes.RunSerializer, 409: None},
    )
    def patch(self, request: Request, project: str, pk: int) -> Response:
        run, said = self.run(pk), BoundsSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        try:
            verbs.bound(run, said.bounds())
        except CannotStart as error:
            return problem(409, str(error))
        return self.answer(pk)


class RunWaiting(_Runs):
    @extend_schema(
        operation_id="runs_waiting",
        summary="Why rows of a run have not run yet",
        responses=shapes.WaitingSerializer(many=True),
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        return Response(shapes.WaitingSerializer(why_not_yet(self.run(pk)), many=True).data)


class RunStop(_Runs):
    @extend_schema(
        operation_id="runs_stop",
        summary="Stop a run",
        description="What is in flight lands; nothing new is started.",
        request=None,
        responses=shapes.RunSerializer,
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        verbs.stop(self.run(pk))
        return self.answer(pk)


class RunResume(_Runs):
    @extend_schema(
        operation_id="runs_resume",
        summary="Resume a stopped run",
        request=None,
        responses={200: shapes.RunSerializer, 409: None},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        try:
            verbs.resume(self.run(pk))
        except CannotStart as error:
            return problem(409, str(error))
        return self.answer(pk)


class RunRetry(_Runs):
    @extend_schema(
        operation_id="runs_retry",
        summary="Ask again for every row without a score",
        request=RetrySerializer,
        responses={200: shapes.RunSerializer, 409: None},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        run = self.run(pk)
        said = RetrySerializer(data=request.data)
        said.is_valid(raise_exception=True)
        try:
            verbs.retry(run, failed_only=said.validated_data["only_failed"])
        except CannotStart as error:
            return problem(409, str(error))
        return self.answer(pk)


def _run_data(runs: list[Run]) -> Any:
    return shapes.RunSerializer(columns(runs), many=True).data
