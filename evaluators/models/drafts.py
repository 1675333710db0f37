"""Drafts: unsaved edits, kept so that nothing typed is lost."""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.db import models
from django.utils import timezone

from evalstudio.projects.models import Project, User
from evaluators.models.evaluators import Evaluator


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
