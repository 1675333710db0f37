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
        return self.annotate(
            has_draft=models.Exists(Draft.objects.filter(evaluator=models.OuterRef("pk"), author=author))
        )


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
        """Save the configuration as the next version and publish it; the same configuration gives the latest version.

        `after` is the number of the version that the edits began from: raises NewerVersion when that is not the latest.
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


class DraftQuerySet(models.QuerySet["Draft"]):
    def of(self, author: User, evaluator: Evaluator | None, key: str) -> Self:
        """The draft at one place: this person's edits of an evaluator, or the new one begun under a key."""
        place = {"evaluator": evaluator} if evaluator else {"evaluator": None, "key": key}
        return self.filter(author=author, **place)

    def keep(
        self,
        project: Project,
        author: User,
        kind: str,
        fields: dict[str, list[str]],
        *,
        evaluator: Evaluator | None,
        key: str,
    ) -> Draft:
        """Keep the fields as typed, in place of what was kept there before."""
        values = {"project": project, "kind": kind, "fields": fields, "updated_at": timezone.now()}
        draft, _ = self.update_or_create(
            author=author, evaluator=evaluator, key="" if evaluator else key, defaults=values
        )
        return draft


class Draft(models.Model):
    """Unsaved edits of one person, kept so that nothing typed is lost: of an evaluator, or of a new one.

    A new one is told apart by `key`, a random word in the address of its page, so that two begun at once stay two.
    """

    project = models.ForeignKey(Project, models.CASCADE)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    evaluator = models.ForeignKey(Evaluator, models.CASCADE, null=True)
    key = models.CharField(max_length=24, blank=True)
    kind = models.CharField(max_length=20)
    fields = models.JSONField()  # the form as typed, field name → list of values
    updated_at = models.DateTimeField(default=timezone.now)

    objects = DraftQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["author", "evaluator"],
                condition=models.Q(evaluator__isnull=False),
                name="draft_of_evaluator_once",
            ),
            models.UniqueConstraint(
                fields=["author", "key"], condition=models.Q(evaluator=None), name="draft_of_new_once"
            ),
        ]

    @property
    def typed_name(self) -> str:
        """The name typed so far, for lists."""
        return str((self.fields.get("name") or [""])[0]).strip()


def config_hash(config: dict[str, Any]) -> str:
    text = json.dumps(config, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
