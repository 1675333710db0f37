"""Datasets, versioned by interval: cases are immutable content, spans say in which versions they are a member."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from evalstudio.projects.models import Project

NEVER = 2_147_483_647  # `removed_in` of a case that is still a member


class DatasetQuerySet(models.QuerySet):
    def with_figures(self) -> Self:
        """Each with the `n_cases` and `changed_at` of its latest version and its number of experiments."""
        latest = DatasetVersion.objects.filter(dataset=models.OuterRef("pk"), number=models.OuterRef("latest_version"))
        return self.annotate(
            n_cases=models.Subquery(latest.values("n_cases")),
            changed_at=models.Subquery(latest.values("created_at")),
            n_experiments=models.Count(
                "versions__experiment", filter=models.Q(versions__experiment__is_arriving=False), distinct=True
            ),
        )


class Dataset(models.Model):
    """A versioned set of test cases."""

    project = models.ForeignKey(Project, models.CASCADE)
    name = models.CharField(max_length=120)
    latest_version = models.PositiveIntegerField(default=0)
    schema = models.JSONField(default=dict)  # JSON Schemas of "inputs" and "expected_outputs", as far as there are any
    created_at = models.DateTimeField(default=timezone.now)

    objects = DatasetQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "name"], name="dataset_name_once")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("dataset-page", args=[self.project.slug, self.pk])

    def drop_if_never_filled(self) -> None:
        """Delete it where its first import brought nothing and no other one is on its way."""
        fresh = Dataset.objects.filter(pk=self.pk, latest_version=0)
        fresh.exclude(import__state__in=(ImportState.WAITING, ImportState.RUNNING)).delete()


class DatasetVersion(models.Model):
    """A committed batch of edits."""

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    note = models.CharField(max_length=300, blank=True)
    n_cases = models.PositiveIntegerField()
    facets = models.JSONField(null=True)  # counted when somebody first looks, see experiments.datasets.browsing
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dataset", "number"], name="dataset_version_number_once")]

    def __str__(self) -> str:
        return f"{self.dataset.name} v{self.number}"


class Case(models.Model):
    """One test case: immutable content under a key. The same content keeps its row when it comes back.

    `inputs_hash` is the same for the same inputs.
    """

    dataset = models.ForeignKey(Dataset, models.CASCADE)
    key = models.CharField(max_length=200)
    content_hash = models.CharField(max_length=64)
    inputs = models.JSONField()
    expected_outputs = models.JSONField(null=True)
    metadata = models.JSONField(null=True)
    split = models.CharField(max_length=40, blank=True)
    inputs_hash = models.CharField(max_length=64, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dataset", "key", "content_hash"], name="case_content_once")]


class CaseWords(models.Model):
    """What a search looks through, apart from the case so that reading cases stays cheap. See `Content.words`."""

    case = models.OneToOneField(Case, models.CASCADE, primary_key=True, related_name="searched")
    words = models.TextField()


class CaseSpanQuerySet(models.QuerySet):
    def at(self, number: int) -> Self:
        """The members of one version of a dataset."""
        return self.filter(added_in__lte=number, removed_in__gt=number)


class CaseSpan(models.Model):
    """In which versions a case is a member: `added_in <= version < removed_in`."""

    dataset = models.ForeignKey(Dataset, models.CASCADE)
    case = models.ForeignKey(Case, models.CASCADE)
    key = models.CharField(max_length=200)
    position = models.PositiveIntegerField()
    added_in = models.PositiveIntegerField()
    removed_in = models.PositiveIntegerField(default=NEVER)

    objects = CaseSpanQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["dataset", "key", "removed_in"], name="span_of_key_once")]
        indexes = [models.Index(fields=["dataset", "position", "id"])]


class ImportState(StrEnum):
    MAPPING = "mapping"  # a person decides which column becomes what
    WAITING = "waiting"  # for a worker, or for another import into the same dataset
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Import(models.Model):
    """An uploaded file on its way into a dataset and, if it carries outputs, into an experiment.

    `read_to` is the row up to which everything is committed, so that an interrupted import goes on from
    there. Only the holder of the lease writes; only one import of a dataset runs at a time.
    """

    project = models.ForeignKey(Project, models.CASCADE)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    file = models.FileField(upload_to="imports/%Y/%m", max_length=300)
    file_name = models.CharField(max_length=200)
    size = models.BigIntegerField()
    format = models.CharField(max_length=8)
    options = models.JSONField(default=dict)  # the columns found, the names of dataset and system, the mapping
    state = models.CharField(max_length=10, default=ImportState.MAPPING)
    dataset = models.ForeignKey(Dataset, models.SET_NULL, null=True)
    experiment = models.ForeignKey("experiments.Experiment", models.SET_NULL, null=True)
    version_number = models.PositiveIntegerField(null=True)  # the version it made, or null when nothing changed
    read_to = models.PositiveIntegerField(default=0)
    bytes_read = models.BigIntegerField(default=0)
    counts = models.JSONField(default=dict)  # of rows, see experiments.datasets.importing.tally
    row_errors = models.JSONField(default=list)  # the first ones: {line, field, reason}
    outputs_digest = models.CharField(max_length=64, blank=True)  # of the outputs read so far, whatever their order
    failure = models.CharField(max_length=500, blank=True)
    tries = models.PositiveSmallIntegerField(default=0)  # starts at the place it has reached
    lease = models.CharField(max_length=32, blank=True)
    lease_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)
    waiting_since = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["dataset"], condition=models.Q(state=ImportState.RUNNING), name="import_running_once"
            )
        ]
        indexes = [models.Index(fields=["project", "state"])]

    def __str__(self) -> str:
        return self.file_name

    def get_absolute_url(self) -> str:
        return reverse("import-page", args=[self.project.slug, self.pk])

    @property
    def is_under_way(self) -> bool:
        return self.state in (ImportState.WAITING, ImportState.RUNNING)

    def discard(self) -> None:
        """Delete an upload that nobody mapped, with its file."""
        if Import.objects.filter(pk=self.pk, state=ImportState.MAPPING).delete()[0]:
            self.file.delete(save=False)
