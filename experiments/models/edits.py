"""Edits of cases that are not committed yet."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from experiments.models.datasets import Case, Dataset


class CaseEdit(models.Model):
    """One person's uncommitted change of one case: its new content as typed, right or wrong, or that it goes.

    `base` is the case that the person saw, None for a new one; by it a commit knows what others changed meanwhile.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    key = models.CharField(max_length=200)
    base = models.ForeignKey(Case, models.CASCADE, null=True)
    is_removal = models.BooleanField(default=False)
    typed = models.JSONField(default=dict)  # field name → text, see experiments.datasets.typed_cases
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dataset", "author", "key"], name="case_edit_once")]

    def __str__(self) -> str:
        return self.key
