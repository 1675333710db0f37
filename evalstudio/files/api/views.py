"""REST view of files: send a picture, get the address to name it by."""

from __future__ import annotations

from django.core.files import File
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from evalstudio.files.keeping import NotTaken, keep
from evalstudio.files.models import StoredFile
from evalstudio.projects.api_access import ProjectView, listing
from evalstudio.web.pagination import Order


class StoredFileSerializer(serializers.ModelSerializer):
    """A stored picture. `url` is what inputs, outputs, metadata or steps name it by."""

    url = serializers.SerializerMethodField()

    class Meta:
        model = StoredFile
        fields = ("url", "name", "content_type", "size", "digest", "created_at")
        read_only_fields = fields

    def get_url(self, stored: StoredFile) -> str:
        return str(self.context["request"].build_absolute_uri(stored.get_absolute_url()))


class UploadSerializer(serializers.Serializer):
    """One picture: PNG, JPEG, GIF or WebP."""

    file = serializers.FileField()


class FileList(ProjectView):
    parser_classes = [MultiPartParser]

    @listing("files_list", "List files", StoredFileSerializer)
    def get(self, request: Request, project: str) -> Response:
        rows = StoredFile.objects.filter(project=self.project).select_related("project")
        return self.page(rows, Order("pk", descending=True), self._shown)

    @extend_schema(
        operation_id="files_create",
        summary="Send a picture",
        description="The same content gives the same address, however often it is sent.",
        request={"multipart/form-data": UploadSerializer},
        responses={201: StoredFileSerializer},
    )
    def post(self, request: Request, project: str) -> Response:
        said = UploadSerializer(data=request.data)
        said.is_valid(raise_exception=True)
        sent = said.validated_data["file"]
        try:
            stored = keep(self.project, request.user, File(sent.file, name=sent.name))
        except NotTaken as error:
            raise serializers.ValidationError({"file": [str(error)]}) from None
        return Response(StoredFileSerializer(stored, context={"request": request}).data, status=status.HTTP_201_CREATED)

    def _shown(self, rows: list[StoredFile]) -> list[dict[str, object]]:
        return list(StoredFileSerializer(rows, many=True, context={"request": self.request}).data)
