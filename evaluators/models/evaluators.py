"""Evaluators and their immutable versions."""

from __future__ import annotations

import hashlib
import json
from itertools import count
from typing import Any, Self

from django.conf import settings
from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone

from evalstudio.projects.models import AuditEntry, Project, User
from evaluators.core import COMPARISON
from evaluators.models.scales import Scale

MOST_NAME = 120  # characters


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
    name = models.CharField(max_length=MOST_NAME)
    kind = models.CharField(max_length=20)
    created_at = models.DateTimeField(default=timezone.now)
    updated_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True)
    published_version = models.ForeignKey(
        "EvaluatorVersion", models.RESTRICT, null=True, related_name="+"
    )  # the latest
    compares = models.BooleanField(default=False)  # whether the latest version runs on a comparison of two results
    reference = models.ForeignKey("self", models.SET_NULL, null=True, related_name="+")  # people whose word counts more

    objects = EvaluatorQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="evaluator_name_once")]
        indexes = [
            models.Index(fields=["project", "updated_at", "id"], name="evaluator_by_update"),
            models.Index(fields=["project", "kind", "compares", "archived_at"], name="evaluator_by_kind"),
        ]

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

    def archive(self, by: User) -> None:
        """Take it out of lists and pickers. Its versions, runs and scores stay."""
        self.archived_at = timezone.now()
        self.save(update_fields=["archived_at"])
        AuditEntry.note(self.project, by, "archived", f"evaluator {self.name}")

    def restore(self, by: User) -> None:
        self.archived_at = None
        self.save(update_fields=["archived_at"])
        AuditEntry.note(self.project, by, "restored", f"evaluator {self.name}")

    @transaction.atomic
    def duplicate(self, by: User) -> Evaluator:
        """A new evaluator whose v1 is the latest version of this one. There has to be a version."""
        latest = self.versions.latest("number")
        copy = Evaluator.objects.create(project=self.project, name=self._name_of_copy(), kind=self.kind)
        note = f"Copied from {self.name} {latest}"
        copy.revise(latest.config, schema=latest.config_schema, author=by, note=note)
        AuditEntry.note(self.project, by, "duplicated", f"evaluator {self.name} as {copy.name}")
        return copy

    def _name_of_copy(self) -> str:
        """A name of its project that is free: "Name (copy)", "Name (copy 2)" and so on."""
        taken = set(
            Evaluator.objects.filter(project=self.project, name__contains="(copy").values_list("name", flat=True)
        )
        endings = (" (copy)" if number == 1 else f" (copy {number})" for number in count(1))
        names = (self.name[: MOST_NAME - len(ending)].rstrip() + ending for ending in endings)
        return next(name for name in names if name not in taken)

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
    scale = models.ForeignKey(Scale, models.SET_NULL, null=True, related_name="versions")  # as frozen into `config`
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["evaluator", "number"], name="evaluator_version_number_once")]

    def __str__(self) -> str:
        return f"v{self.number}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Insert it, as the latest of its evaluator, with what lists tell by columns of their own."""
        if self.pk:
            raise TypeError("A saved evaluator version never changes; revise its evaluator instead.")
        frozen = self.config.get("scale")
        scales = Scale.objects.filter(project=self.evaluator.project_id)
        self.scale = scales.filter(pk=frozen["id"]).first() if frozen else None
        super().save(*args, **kwargs)
        self.evaluator.compares = self.config.get("runs_on") == COMPARISON
        self.evaluator.save(update_fields=["compares"])


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
