"""A project's processor: code that adds `processed` to every output before evaluators see it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from evalstudio.projects.models import Project


class ProcessorVersion(models.Model):
    """One version of it, immutable. The highest number is the one in use; empty code means that there is none."""

    project = models.ForeignKey(Project, models.CASCADE)
    number = models.PositiveIntegerField()
    code = models.TextField(blank=True)
    note = models.CharField(max_length=300, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "number"], name="processor_version_once")]

    def __str__(self) -> str:
        return f"v{self.number}"
