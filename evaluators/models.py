"""Evaluators and their immutable versions."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Self

from django.conf import settings
from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone

from evalstudio.projects.models import Project, User


class EvaluatorQuerySet(models.QuerySet):
    def in_use(self) -> Self:
        return self.filter(archived_at=None)


class Evaluator(models.Model):
    """The named thing people make. What it does is frozen in its versions."""

    project = models.ForeignKey(Project, models.CASCADE)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=20)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True)
    published_version = models.ForeignKey("EvaluatorVersion", models.RESTRICT, null=True, related_name="+")

    objects = EvaluatorQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="evaluator_name_once")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("evaluator-page", args=[self.project.slug, self.pk])

    def revise(self, config: dict[str, Any], *, schema: int, author: User | None, note: str = "") -> EvaluatorVersion:
        """Save the configuration as the next version and publish it; the same configuration gives the latest version."""
        with transaction.atomic():
            locked = Evaluator.objects.select_for_update().get(pk=self.pk)
            latest = locked.versions.order_by("-number").first()
            digest = config_hash(config)
            if latest and latest.config_hash == digest and latest.config_schema == schema:
                return latest
            version = EvaluatorVersion.objects.create(
                evaluator=self,
                number=latest.number + 1 if latest else 1,
                config=config,
                config_schema=schema,
                config_hash=digest,
                author=author,
                note=note,
            )
            self.published_version = version
            self.updated_at = timezone.now()
            self.save(update_fields=["published_version", "updated_at"])
        return version


class EvaluatorVersion(models.Model):
    """One frozen configuration of an evaluator."""

    evaluator = models.ForeignKey(Evaluator, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    config = models.JSONField()
    config_schema = models.PositiveSmallIntegerField()
    config_hash = models.CharField(max_length=64)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    note = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["evaluator", "number"], name="evaluator_version_number_once")]

    def __str__(self) -> str:
        return f"v{self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk:
            raise TypeError("A saved evaluator version never changes; revise its evaluator instead.")
        super().save(*args, **kwargs)


class Draft(models.Model):
    """Unsaved edits of one person, kept so that nothing typed is lost: of an evaluator, or of a new one of a kind."""

    project = models.ForeignKey(Project, models.CASCADE)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    evaluator = models.ForeignKey(Evaluator, models.CASCADE, null=True)
    kind = models.CharField(max_length=20)
    fields = models.JSONField()  # the form as typed, field name → list of values
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["author", "evaluator"], condition=models.Q(evaluator__isnull=False), name="draft_of_evaluator_once"
            ),
            models.UniqueConstraint(
                fields=["author", "project", "kind"], condition=models.Q(evaluator=None), name="draft_of_new_once"
            ),
        ]


def config_hash(config: dict[str, Any]) -> str:
    text = json.dumps(config, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
