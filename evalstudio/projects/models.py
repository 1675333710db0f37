"""Who works here, on what, and with which rights."""

from __future__ import annotations

import hashlib
import secrets
from enum import IntEnum
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify


class Role(IntEnum):
    """What a member may do; each role includes those below it, but that a reviewer does not look around.

    Who grades must not know what systems and judges scored, so a reviewer sees only what there is to grade.
    """

    VIEWER = 1
    REVIEWER = 2
    EDITOR = 3
    OWNER = 4

    @property
    def title(self) -> str:
        return self.name.lower()

    @property
    def looks_around(self) -> bool:
        """Whether it sees the project: all but reviewers do."""
        return self.may(Role.VIEWER)

    def may(self, least: Role, *, reviewers: bool = False) -> bool:
        """Whether it opens a door for `least`; one for viewers lets reviewers through only where it says so."""
        if self is Role.REVIEWER and least < Role.REVIEWER:
            return reviewers
        return self >= least


class User(AbstractUser):
    """A person who signs in."""


class ProjectQuerySet(models.QuerySet):
    def of(self, user: Any) -> Self:
        """Projects that the user is a member of, by name."""
        return self.filter(membership__user=user).order_by("name", "pk")


class Project(models.Model):
    """What groups evaluators, data sets, experiments, people and tokens."""

    name = models.CharField(max_length=80)
    slug = models.SlugField(max_length=60, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="projects")

    objects = ProjectQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("project-home", args=[self.slug])

    @classmethod
    def start(cls, name: str, owner: User) -> Project:
        """A new project with a slug of its own and its first owner."""
        base = slugify(name)[:50] or "project"
        slug, number = base, 1
        while cls.objects.filter(slug=slug).exists():
            number += 1
            slug = f"{base}-{number}"
        project = cls.objects.create(name=name, slug=slug)
        Membership.objects.create(project=project, user=owner, role=Role.OWNER)
        return project


class Membership(models.Model):
    project = models.ForeignKey(Project, models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    role = models.PositiveSmallIntegerField()
    joined_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__gte=1, role__lte=4), name="membership_role_known"),
        ]

    @property
    def role_title(self) -> str:
        return Role(self.role).title


def digest_of(secret: str) -> str:
    """How a secret of ours is stored: it is 256 random bits, so a plain digest is as safe as a slow one."""
    return hashlib.sha256(secret.encode()).hexdigest()


class Invitation(models.Model):
    """A link that makes whoever opens it first a member; shown once, stored as a digest, revocable."""

    project = models.ForeignKey(Project, models.CASCADE)
    role = models.PositiveSmallIntegerField()
    note = models.CharField(max_length=80, blank=True)  # whom it is meant for
    digest = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="+")
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(role__gte=1, role__lte=4), name="invitation_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.note or 'somebody'} as {self.role_title}"

    @property
    def role_title(self) -> str:
        return Role(self.role).title


class Scope(IntEnum):
    """What an API token may do, never more than its owner's role."""

    READ = 1
    WRITE = 2


class ApiToken(models.Model):
    """A key for pipelines: shown once, stored as a digest, revocable."""

    project = models.ForeignKey(Project, models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    name = models.CharField(max_length=80)
    scope = models.PositiveSmallIntegerField(default=Scope.WRITE)
    start = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    @classmethod
    def issue(cls, project: Project, user: User, name: str, scope: Scope) -> tuple[ApiToken, str]:
        """The token's row and the secret, which exists nowhere else."""
        secret = f"es_{secrets.token_urlsafe(32)}"
        token = cls.objects.create(
            project=project, user=user, name=name, scope=scope, start=secret[:8], digest=digest_of(secret)
        )
        return token, secret


class TokenMinute(models.Model):
    """The requests that processes have taken for a token in the latest minute it was used; see `allowance`."""

    token = models.OneToOneField(ApiToken, models.CASCADE, primary_key=True, related_name="+")
    minute = models.BigIntegerField()  # since 1970
    taken = models.PositiveIntegerField()


class AuditEntry(models.Model):
    """An important act: who did what to which thing, and when."""

    project = models.ForeignKey(Project, models.CASCADE)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    act = models.CharField(max_length=40)
    subject = models.CharField(max_length=200)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["project", "-id"])]

    @classmethod
    def note(cls, project: Project, actor: Any, act: str, subject: str) -> None:
        cls.objects.create(project=project, actor=actor, act=act, subject=subject[:200])
