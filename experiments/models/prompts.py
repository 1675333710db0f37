"""Systems that are prompts: what is sent to which model, and how."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from evalstudio.calls.models import Connection
from evalstudio.projects.models import Project
from experiments.models.outputs import System


class PromptVersion(models.Model):
    """A system that is a prompt with its model and parameters. Immutable: what differs is another system.

    `title` is what people call the prompt; `number` counts its texts, so that several models may answer the same one.
    """

    system = models.OneToOneField(System, models.CASCADE, primary_key=True, related_name="prompt")
    project = models.ForeignKey(Project, models.CASCADE)
    title = models.CharField(max_length=60)
    number = models.PositiveIntegerField()
    connection = models.ForeignKey(Connection, models.RESTRICT, related_name="+")
    config = models.JSONField()  # see experiments.outputs.prompting
    config_hash = models.CharField(max_length=64)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "title", "config_hash"], name="prompt_version_once")]

    def __str__(self) -> str:
        return self.system.name
