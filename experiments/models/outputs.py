"""What is judged: systems, and their outputs for the cases of a dataset."""

from __future__ import annotations

from enum import StrEnum

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from evalstudio.projects.models import Project
from experiments.models.datasets import Case, DatasetVersion


class System(models.Model):
    """What is evaluated: a model, a prompt version, a pipeline."""

    project = models.ForeignKey(Project, models.CASCADE)
    name = models.CharField(max_length=120)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="system_name_once")]

    def __str__(self) -> str:
        return self.name


class Source(StrEnum):
    FILE = "file"
    API = "api"
    PROMPT = "prompt"  # answered here


class ArrivedExperiments(models.Manager):
    def get_queryset(self) -> models.QuerySet:
        return super().get_queryset().filter(is_arriving=False)


class Experiment(models.Model):
    """One system's outputs for one version of a dataset: what people also call a test result.

    While a file brings the outputs, `is_arriving` hides the experiment from every list and related manager, so that
    nobody evaluates half of it; `with_arriving` sees it all the same.
    """

    project = models.ForeignKey(Project, models.CASCADE)
    system = models.ForeignKey(System, models.RESTRICT)
    dataset_version = models.ForeignKey(DatasetVersion, models.RESTRICT)
    source = models.CharField(max_length=8)
    is_open = models.BooleanField(default=False)  # more outputs may come, or have and are yet to be judged
    is_arriving = models.BooleanField(default=False)
    outputs_digest = models.CharField(max_length=64, blank=True)  # of all outputs of a file, to know them again
    client_key = models.CharField(max_length=120, null=True)  # noqa: DJ001 - NULL is no key, and never twice the same
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField(default=timezone.now)

    with_arriving = models.Manager()
    objects = ArrivedExperiments()

    class Meta:
        default_manager_name = "objects"
        constraints = [
            models.UniqueConstraint(
                fields=["project", "client_key"],
                condition=models.Q(client_key__isnull=False),
                name="experiment_client_key_once",
            )
        ]

    def __str__(self) -> str:
        return self.system.name

    def get_absolute_url(self) -> str:
        return reverse("experiment-page", args=[self.project.slug, self.pk])

    def url_against(self, baseline_id: int) -> str:
        """The page that compares it with a baseline experiment."""
        return reverse("experiment-against", args=[self.project.slug, self.pk, baseline_id])


class Output(models.Model):
    """What the system answered for one case; `attempt` counts its answers to the same case."""

    experiment = models.ForeignKey(Experiment, models.CASCADE)
    case = models.ForeignKey(Case, models.RESTRICT)
    attempt = models.PositiveSmallIntegerField(default=0)
    content_hash = models.CharField(max_length=64)
    error = models.CharField(max_length=500, blank=True)
    latency_ms = models.FloatField(null=True)
    cost_usd = models.FloatField(null=True)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["experiment", "case", "attempt"], name="output_attempt_once")]


class OutputBody(models.Model):
    """The answer itself, apart from its row so that lists stay narrow."""

    output = models.OneToOneField(Output, models.CASCADE, primary_key=True, related_name="body")
    outputs = models.JSONField(null=True)
    steps = models.JSONField(null=True)
