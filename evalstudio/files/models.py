"""Stored files, each content once in its project."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from evalstudio.projects.models import Project

PICTURE_TYPES = {"image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp"}
TEXT_TYPES = frozenset(("application/json", "application/x-ndjson", "application/xml", "application/javascript"))


class StoredFile(models.Model):
    """A file of a project. Its address holds its digest, so what stands at an address never changes."""

    project = models.ForeignKey(Project, models.CASCADE)
    digest = models.CharField(max_length=64)  # SHA-256 of the content
    name = models.CharField(max_length=200)
    content_type = models.CharField(max_length=100)
    size = models.PositiveIntegerField()  # bytes
    content = models.FileField(upload_to="stored", max_length=200)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "digest"], name="file_once")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("file-content", args=[self.project.slug, self.digest, self.name])

    @property
    def is_picture(self) -> bool:
        """Whether its first bytes are those of a picture: all else is only downloaded, or shown as plain text."""
        return self.content_type in PICTURE_TYPES

    @property
    def is_text(self) -> bool:
        """Whether its name says that it is text, which may be shown as such and as nothing else."""
        return self.content_type.startswith("text/") or self.content_type in TEXT_TYPES
