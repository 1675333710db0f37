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


class NewerVersion(Exception):
    """Somebody saved a version after the one that these edits began from."""

    def __init__(self, latest: EvaluatorVersion) -> None:
        super().__init__(f"{latest} was saved since.")
        self.latest = latest


class EvaluatorQuerySet(models.QuerySet["Evaluator"]):
    def in_use(self) -> Self:
        return self.filter(archived_at=None)

    def matching(self, words: str) -> Self:
        """Those whose name holds every one of the words."""
        found = self
        for word in words.split():
            found = found.filter(name__icontains=word)
        return found

    def with_latest_id(self) -> Self:
        """With the id of each one's latest version as `latest_id`, None before the first."""
        newest = EvaluatorVersion.objects.filter(evaluator=models.OuterRef("pk")).order_by("-number")
        return self.annotate(latest_id=models.Subquery(newest.values("pk")[:1]))

    def with_draft_of(self, author: User) -> Self:
        """With `has_draft`: whether this person keeps unsaved edits of it."""
        drafted = Evaluator.objects.filter(pk=models.OuterRef("pk"), draft__author=author)
        return self.annotate(has_draft=models.Exists(drafted))


class Evaluator(models.Model):
    """The named thing people make. What it does is frozen in its versions."""

    project = models.ForeignKey(Project, models.CASCADE)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=20)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True)
    published_version = models.ForeignKey(
        "EvaluatorVersion", models.RESTRICT, null=True, related_name="+"
    )  # the latest

    objects = EvaluatorQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="evaluator_name_once")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("evaluator-page", args=[self.project.slug, self.pk])

    def rename(self, name: str) -> bool:
        """Take another name; whether it was another. Raises IntegrityError when the project has it already."""
        if name == self.name:
            return False
        self.name, self.updated_at = name, timezone.now()
        self.save(update_fields=["name", "updated_at"])
        return True

    def revise(
        self, config: dict[str, Any], *, schema: int, author: User | None, note: str = "", after: int | None = None
    ) -> EvaluatorVersion:
        """Save the configuration as the next version; the same configuration gives the latest version back.

        Where the project asks for nothing before, it is published at once. `after` is the number of the version that
        the edits began from: raises NewerVersion when that is not the latest.
        """
        with transaction.atomic():
            Evaluator.objects.select_for_update().get(pk=self.pk)  # nobody else saves a version meanwhile
            latest = self.versions.order_by("-number").first()
            if latest and after is not None and latest.number != after:
                raise NewerVersion(latest)
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
            self.updated_at = timezone.now()
            self.save(update_fields=["updated_at"])
            if not PublishingRule.objects.filter(project=self.project_id).exists():
                self.publish(version, author)
        return version

    @transaction.atomic
    def publish(self, version: EvaluatorVersion, by: Any, figures: dict[str, Any] | None = None) -> None:
        """Let a version stand for its evaluator, with the figures of its golden cases if they were asked for.

        The gate is not asked here (`evaluators.publishing` does). An older version may be published again.
        """
        Publication.objects.get_or_create(version=version, defaults={"by": by, "figures": figures})
        self.published_version = version
        self.save(update_fields=["published_version"])


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


class Publication(models.Model):
    """That a version was published, by whom, and the figures of its golden cases at that time."""

    version = models.OneToOneField(EvaluatorVersion, models.CASCADE, related_name="publication")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    at = models.DateTimeField(default=timezone.now)
    figures = models.JSONField(null=True)


class PublishingRule(models.Model):
    """The gate of a project: shares in [0, 1] that the golden cases of a version must reach; None asks for nothing."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="publishing_rule")
    least_cases = models.PositiveIntegerField(default=1)
    min_agreement = models.FloatField(null=True)
    min_sensitivity = models.FloatField(null=True)  # of the cases that must pass, the share that does
    min_specificity = models.FloatField(null=True)  # of the cases that must not pass, the share that does not


def config_hash(config: dict[str, Any]) -> str:
    text = json.dumps(config, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
