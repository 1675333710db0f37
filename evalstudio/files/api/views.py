"""REST view of files: send one, get the address to name it by."""

from __future__ import annotations

from django.conf import settings
from django.core.files import File
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.files.keeping import NotTaken, TooLarge, keep
from evalstudio.files.models import StoredFile
from evalstudio.projects.api_access import ProjectView, listing
from evalstudio.web.pagination import Order
from evalstudio.web.problems import problem

FRAME_BYTES = 64 * 1024  # what the multipart frame may add


class StoredFileSerializer(serializers.ModelSerializer):
    """A stored file. `url` is what inputs, outputs, metadata or steps name it by."""

    url = serializers.SerializerMethodField()

    class Meta:
        model = StoredFile
        fields = ("url", "name", "content_type", "size", "digest", "created_at")
        read_only_fields = fields

    def get_url(self, stored: StoredFile) -> str:
        return str(self.context["request"].build_absolute_uri(stored.get_absolute_url()))


class UploadSerializer(serializers.Serializer):
    """One file of any type. PNG, JPEG, GIF and WebP are shown, and sent to models that see; others are downloaded."""

    file = serializers.FileField()


class FileList(ProjectView):
    parser_classes = [MultiPartParser]

    @listing("files_list", "List files", StoredFileSerializer)
    def get(self, request: Request, project: str) -> Response:
        rows = StoredFile.objects.filter(project=self.project).select_related("project")
        return self.page(rows, Order("pk", descending=True), self._shown)

    @extend_schema(
        operation_id="files_create",
        summary="Send a file",
        description="The same content gives the same address, however often it is sent.",
        request={"multipart/form-data": UploadSerializer},
        responses={201: StoredFileSerializer, 413: None},
    )
    def post(self, request: Request, project: str) -> Response:
        announced = str(request.META.get("CONTENT_LENGTH") or "0")
        if announced.isdigit() and int(announced) > settings.FILE_MAX_BYTES + FRAME_BYTES:
            return problem(413, str(TooLarge()))
        said = UploadSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        sent = said.validated_data["file"]
        try:
            stored = keep(self.project, request.user, File(sent.file, name=sent.name))
        except TooLarge as error:
            return problem(413, str(error))
        except NotTaken as error:
            raise serializers.ValidationError({"file": [str(error)]}) from None
        return Response(StoredFileSerializer(stored, context={"request": request}).data, status=status.HTTP_201_CREATED)

    def _shown(self, rows: list[StoredFile]) -> list[dict[str, object]]:
        return list(StoredFileSerializer(rows, many=True, context={"request": self.request}).data)
