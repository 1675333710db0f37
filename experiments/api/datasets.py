"""REST views of data sets: their versions, cases and schema, and batches of edits that become the next version."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.projects.api_access import ProjectView, listing
from evalstudio.projects.models import AuditEntry
from evalstudio.web.foreign import id_in
from evalstudio.web.pagination import Order
from evalstudio.web.problems import problem
from experiments.api import dataset_shapes as shapes
from experiments.api.dataset_batches import Batch, BatchWrong
from experiments.api.serializers import CaseSerializer, DatasetSerializer
from experiments.datasets.browsing import Filter
from experiments.datasets.committing import Busy, Committed, Refused, commit
from experiments.datasets.inferring import inferred
from experiments.datasets.schemas import breaking
from experiments.datasets.wholesale import Uncommitted, create, restore
from experiments.models import CaseSpan, Dataset

VERSION = OpenApiParameter("version", int, description="A version of the data set; the latest if left out.")


class DatasetCollection(ProjectView):
    @listing("datasets_list", "List data sets", DatasetSerializer)
    def get(self, request: Request, project: str) -> Response:
        rows = Dataset.objects.filter(project=self.project)
        return self.page(rows, Order("name"), lambda found: DatasetSerializer(found, many=True).data)

    @extend_schema(
        operation_id="datasets_create",
        summary="Make a data set",
        description="Its first version has no cases; commit some to it.",
        request=shapes.NewDatasetSerializer,
        responses={201: DatasetSerializer, 409: None},
    )
    def post(self, request: Request, project: str) -> Response:
        said = shapes.NewDatasetSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        try:
            dataset = create(self.project, said.validated_data["name"], request.user)
        except IntegrityError:
            return problem(409, "Another data set of this project has this name.")
        return Response(DatasetSerializer(dataset).data, status=status.HTTP_201_CREATED)


class _OneDataset(ProjectView):
    def dataset(self, pk: int) -> Dataset:
        dataset: Dataset = get_object_or_404(Dataset.objects.select_related("project"), project=self.project, pk=pk)
        return dataset

    def number(self, dataset: Dataset, wanted: Any) -> int:
        """The version that was asked for, the latest unless told."""
        if wanted in (None, ""):
            return dataset.latest_version
        number = id_in(str(wanted)) or 0
        if not 1 <= number <= dataset.latest_version:
            raise serializers.ValidationError({"version": [f"There are versions 1 to {dataset.latest_version}."]})
        return number


class DatasetDetail(_OneDataset):
    @extend_schema(operation_id="datasets_read", summary="Read a data set", responses=DatasetSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        return Response(DatasetSerializer(self.dataset(pk)).data)


class CaseList(_OneDataset):
    @listing(
        "cases_list",
        "List the cases of a data set",
        CaseSerializer,
        parameters=[
            VERSION,
            OpenApiParameter("q", str, description="Words that all have to stand in the key or in the content."),
            OpenApiParameter("split", str, description="Only this split; a blank for cases without one."),
            OpenApiParameter("tag", str, description="Only cases with this tag, of `metadata.tags`."),
        ],
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        dataset = self.dataset(pk)
        number = self.number(dataset, request.query_params.get("version"))
        spans = Filter.of(request.query_params).among(CaseSpan.objects.filter(dataset=dataset).at(number))
        return self.page(
            spans.select_related("case"),
            Order("position"),
            lambda found: CaseSerializer([span.case for span in found], many=True).data,
        )


class VersionList(_OneDataset):
    @listing("dataset_versions_list", "List the versions of a data set", shapes.DatasetVersionSerializer)
    def get(self, request: Request, project: str, pk: int) -> Response:
        dataset = self.dataset(pk)
        rows = dataset.versions.filter(number__lte=dataset.latest_version).select_related("author")
        order = Order("number", descending=True)
        return self.page(rows, order, lambda found: shapes.DatasetVersionSerializer(found, many=True).data)

    @extend_schema(
        operation_id="dataset_versions_commit",
        summary="Commit a batch of edits as the next version",
        description="All of it or nothing. With `base_version`, edits of cases that somebody else changed since then"
        " are refused with 409 and their keys; edits of other cases go in. What is wrong is told with 422 by its place"
        " in the batch. A batch that changes nothing makes no version (200).",
        request=shapes.BatchSerializer,
        responses={201: shapes.CommittedSerializer, 200: shapes.CommittedSerializer, 409: None, 422: None},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        dataset = self.dataset(pk)
        said = shapes.BatchSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        given = said.validated_data
        base = self._base(dataset, given.get("base_version"))
        batch = Batch(dataset, base)
        try:
            edits = batch.edits(given["add"], given["change"], given["remove"])
            done = commit(dataset, edits, request.user, given["note"])
        except Busy as error:
            return problem(409, str(error))
        except BatchWrong as wrong:
            return _wrong(wrong.errors)
        except Refused as refused:
            if refused.conflicts:
                keys = [{"field": batch.place_of(key), "case": key, "message": CHANGED} for key in refused.conflicts]
                return problem(409, "Somebody else changed some of these cases since.", errors=keys)
            return _wrong([batch.told(fault) for fault in refused.faults])
        return Response(_told(dataset, done), status=status.HTTP_201_CREATED if done.version else status.HTTP_200_OK)

    def _base(self, dataset: Dataset, wanted: int | None) -> int | None:
        if wanted is not None and wanted > dataset.latest_version:
            raise serializers.ValidationError({"base_version": [f"There is no version {wanted} yet."]})
        return wanted


CHANGED = "This case is not as it was in the base version."


class DatasetRestore(_OneDataset):
    @extend_schema(
        operation_id="datasets_restore",
        summary="Restore an earlier version",
        description="Makes a new version with the cases of that one.",
        request=shapes.RestoreSerializer,
        responses={201: shapes.CommittedSerializer, 200: shapes.CommittedSerializer, 409: None, 422: None},
    )
    def post(self, request: Request, project: str, pk: int) -> Response:
        dataset = self.dataset(pk)
        said = shapes.RestoreSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        try:
            done = restore(dataset, self.number(dataset, said.validated_data["version"]), request.user)
        except (Busy, Uncommitted) as error:
            return problem(409, str(error))
        code = status.HTTP_201_CREATED if done.version else status.HTTP_200_OK
        return Response(_told(dataset, done), status=code)


class DatasetSchema(_OneDataset):
    @extend_schema(
        operation_id="dataset_schema_read",
        summary="Read the schema of a data set",
        description="With `inferred`, the schema that all cases of the latest version fit, which is not saved.",
        parameters=[OpenApiParameter("inferred", bool, description="Infer it from the cases.")],
        responses=shapes.SchemaSerializer,
    )
    def get(self, request: Request, project: str, pk: int) -> Response:
        dataset = self.dataset(pk)
        is_inferred = request.query_params.get("inferred", "").lower() in ("1", "true")
        schema = inferred(dataset, dataset.latest_version) if is_inferred else dataset.schema
        return Response(_schema(schema))

    @extend_schema(
        operation_id="dataset_schema_write",
        summary="Write the schema of a data set",
        description="Cases that come are checked by it; those that are there stay, and `breaking` counts the ones that"
        " do not fit.",
        request=shapes.SchemaSerializer,
        responses=shapes.WrittenSchemaSerializer,
    )
    def put(self, request: Request, project: str, pk: int) -> Response:
        dataset = self.dataset(pk)
        said = shapes.SchemaSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        dataset.schema = {part: schema for part, schema in said.validated_data.items() if schema}
        dataset.save(update_fields=["schema"])
        AuditEntry.note(self.project, request.user, "changed", f"schema of {dataset.name}")
        total = breaking(dataset, dataset.latest_version).total
        return Response({**_schema(dataset.schema), "breaking": total})


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {"inputs": schema.get("inputs"), "expected_outputs": schema.get("expected_outputs")}


def _told(dataset: Dataset, done: Committed) -> Any:
    counts = {name: getattr(done, name) for name in ("added", "changed", "removed", "unchanged")}
    return {"version": done.version.number if done.version else dataset.latest_version, **counts}


def _wrong(errors: list[dict[str, str]]) -> Response:
    return problem(422, f"{len(errors)} things are wrong, so nothing was committed.", errors=errors)
