"""Everything that leaves the process: where calls go, who may make them now, and what was answered."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models
from django.utils import timezone

from evalstudio.calls.secrets import decrypt, encrypt
from evalstudio.projects.models import AuditEntry, Project

REHEARSAL_URL = "rehearsal:"
REHEARSAL_NAME = "Rehearsal (no language model)"


class Connection(models.Model):
    """An OpenAI-compatible endpoint with its limits and prices, or the built-in rehearsal."""

    project = models.ForeignKey(Project, models.CASCADE)
    name = models.CharField(max_length=80)
    base_url = models.CharField(max_length=500)
    key_encrypted = models.TextField(blank=True)
    model = models.CharField(max_length=200)
    max_in_flight = models.PositiveIntegerField(default=16)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    usd_per_million_in = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    usd_per_million_out = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    archived_at = models.DateTimeField(null=True)
    # Written by workers: how many calls the endpoint bears at present, and until when it asked to be left alone.
    ceiling = models.FloatField(null=True)
    ceiling_changed_at = models.DateTimeField(null=True)
    blocked_until = models.DateTimeField(null=True)
    blocked_why = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="connection_name_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def is_rehearsal(self) -> bool:
        return self.base_url == REHEARSAL_URL

    @property
    def key(self) -> str:
        return decrypt(self.key_encrypted) if self.key_encrypted else ""

    @key.setter
    def key(self, text: str) -> None:
        self.key_encrypted = encrypt(text) if text else ""

    @property
    def is_archived(self) -> bool:
        return self.archived_at is not None

    @property
    def is_left_alone(self) -> bool:
        """The endpoint asked for a pause that is not over."""
        return self.blocked_until is not None and self.blocked_until > timezone.now()

    def forget_endpoint(self) -> None:
        """Drop what was learned of the endpoint at the former address; the caller saves."""
        self.ceiling = self.ceiling_changed_at = self.blocked_until = None
        self.blocked_why = ""
        self.modeltraits_set.all().delete()

    def archive(self, by: Any) -> None:
        """Take it out of every choice. Versions and runs that use it keep working."""
        self._move(timezone.now(), by, "archived connection")

    def restore(self, by: Any) -> None:
        self._move(None, by, "restored connection")

    def _move(self, archived_at: datetime | None, by: Any, act: str) -> None:
        self.archived_at = archived_at
        self.save(update_fields=["archived_at"])
        AuditEntry.note(self.project, by, act, self.name)

    @classmethod
    def add_rehearsal(cls, project: Project, by: Any) -> Connection:
        """The project's rehearsal: made, taken out of the archive, or simply the one there is."""
        found = cls.objects.filter(project=project, base_url=REHEARSAL_URL).order_by("archived_at", "pk").first()
        if found is None:
            made = cls(
                project=project, name=REHEARSAL_NAME, base_url=REHEARSAL_URL, model="rehearsal", max_in_flight=32
            )
            made.save()
            AuditEntry.note(project, by, "added connection", made.name)
            return made
        if found.is_archived:
            found.restore(by)
        return found


def connections_for(project: Project) -> models.QuerySet[Connection]:
    """The connections that something new may use, by name."""
    return Connection.objects.filter(project=project, archived_at=None).order_by("name", "pk")


class ModelTraits(models.Model):
    """What one model behind a connection refuses or renames, found once and remembered."""

    connection = models.ForeignKey(Connection, models.CASCADE)
    model = models.CharField(max_length=200)
    left_out = models.JSONField(default=list)  # request parameters the endpoint refuses
    renamed = models.JSONField(default=dict)  # e.g. {"max_tokens": "max_completion_tokens"}
    structured = models.CharField(max_length=20, default="json_schema")  # json_schema, json_object or text
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["connection", "model"], name="model_traits_once")]

    @classmethod
    def remember(cls, connection_id: int, model: str, found: dict[str, Any]) -> None:
        """Keep what was found: left_out, renamed and structured."""
        defaults = {**found, "updated_at": timezone.now()}
        cls.objects.update_or_create(connection_id=connection_id, model=model, defaults=defaults)


class Lease(models.Model):
    """A worker's sign of life. Whatever a dead worker held is free again once this has expired."""

    id = models.CharField(max_length=32, primary_key=True)
    lane = models.CharField(max_length=8)
    host = models.CharField(max_length=200)
    boot_id = models.CharField(max_length=64)
    pid = models.PositiveIntegerField()
    pid_start = models.CharField(max_length=32)
    expires_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["expires_at"])]


class ConnectionShare(models.Model):
    """How many of a connection's slots a living worker may use."""

    connection = models.ForeignKey(Connection, models.CASCADE)
    lease = models.ForeignKey(Lease, models.CASCADE)
    wanted = models.PositiveIntegerField(default=0)  # the most it could use
    slots = models.PositiveIntegerField()
    rpm = models.FloatField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["connection", "lease"], name="share_once")]


class Call(models.Model):
    """One answered request: the reply cache and the evidence in one."""

    key = models.CharField(max_length=64, primary_key=True)
    connection = models.ForeignKey(Connection, models.CASCADE)
    model_asked = models.CharField(max_length=200)
    model_reported = models.CharField(max_length=200, blank=True)
    fingerprint = models.CharField(max_length=100, blank=True)
    text = models.TextField()
    finish_reason = models.CharField(max_length=40, blank=True)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    cost_usd = models.FloatField(null=True)
    latency_ms = models.FloatField()
    left_out = models.JSONField(default=list)
    tokens = models.JSONField(
        null=True
    )  # [text, log probability, [[alternative, log probability], …]] of the last ones
    reusable = models.BooleanField()
    made_at = models.DateTimeField(default=timezone.now)
