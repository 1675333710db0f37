"""Scales: named scorings of a project, shared by its evaluators and frozen into their versions."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone

from evalstudio.projects.models import AuditEntry, Project, User


class Scale(models.Model):
    """A named scoring: options with percentages, or a range, and what they measure."""

    project = models.ForeignKey(Project, models.CASCADE)
    name = models.CharField(max_length=80)
    description = models.TextField(blank=True)
    scoring = models.JSONField()  # as `evaluators.scoring` stores it
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="scale_name_once")]

    def __str__(self) -> str:
        return self.name

    def archive(self, by: User) -> None:
        """Offer it to nobody any more. Versions that have it keep it."""
        self.archived_at = timezone.now()
        self.save(update_fields=["archived_at"])
        AuditEntry.note(self.project, by, "archived", f"scale {self.name}")

    def restore(self, by: User) -> None:
        self.archived_at = None
        self.save(update_fields=["archived_at"])
        AuditEntry.note(self.project, by, "restored", f"scale {self.name}")

    def frozen(self) -> dict[str, Any]:
        """What a version keeps of it beside the scoring itself."""
        return {"id": self.pk, "name": self.name, "description": self.description}
