"""The ledger: one durable row for every evaluation that was asked for. `experiments/ledger/` moves these rows."""

from __future__ import annotations

from enum import IntEnum, StrEnum

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from evaluators.core import Status
from evaluators.models import EvaluatorVersion
from experiments.models.datasets import Case
from experiments.models.outputs import Experiment, Output


class RunState(StrEnum):
    PREPARING = "preparing"  # rows are being written
    ACTIVE = "active"
    STOPPING = "stopping"  # nothing new is started, what is in flight lands
    STOPPED = "stopped"
    FINISHED = "finished"


class StopReason(StrEnum):
    """Why a run was stopped where nobody did it."""

    SPEND = "spend"  # it has spent what it may
    TIME = "time"  # it has gone on for as long as it may


class Priority(IntEnum):
    """Runs of a higher priority are served first."""

    LOW = -1
    NORMAL = 0
    HIGH = 1


class Purpose(StrEnum):
    RESULTS = "results"  # to know how good the experiment is
    TRIAL = "trial"  # to see on some of its outputs what another version would say
    NOISE = "noise"  # to see on some of its outputs how far the evaluator agrees with itself
    ANSWERS = "answers"  # to get its outputs in the first place: nothing is judged


class Run(models.Model):
    """One evaluator version applied to one experiment; for a comparative one, against a baseline experiment.

    The rows of a run with a baseline pair each output with the baseline's output for the same case and attempt. A run
    for answers has no version: its rows are about cases, `repeat` is the attempt, and each becomes an output.
    """

    version: models.ForeignKey[EvaluatorVersion, EvaluatorVersion] = models.ForeignKey(  # type: ignore[misc]
        EvaluatorVersion, models.RESTRICT, null=True, related_name="runs"
    )  # null only for answers, which no page of results meets
    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="runs")
    baseline = models.ForeignKey(Experiment, models.CASCADE, null=True, related_name="runs_against")
    purpose = models.CharField(max_length=8, default=Purpose.RESULTS)
    selection = models.JSONField(null=True)  # of a result, which outputs were asked for; None for all there are
    sample = models.JSONField(null=True)  # their ids, where it is a fixed number of outputs
    first_repeat = models.PositiveSmallIntegerField(default=0)
    repeats = models.PositiveSmallIntegerField(default=1)  # how often each output is judged, never from one reply
    processor = models.PositiveIntegerField(null=True)  # number of the version it uses, 0 for none; null: it reads none
    keeps_details = models.BooleanField(default=True)  # or scores only: no reasons, no keys of replies
    priority = models.SmallIntegerField(default=Priority.NORMAL)
    limit_usd = models.FloatField(null=True)  # what its calls may cost
    limit_s = models.PositiveIntegerField(null=True)  # how long it may go on, from each start or resumption
    ends_at = models.DateTimeField(null=True)  # when `limit_s` is over
    stop_reason = models.CharField(max_length=8, blank=True)  # a StopReason; empty where a person stopped it
    lane = models.CharField(max_length=8)
    connection = models.ForeignKey("calls.Connection", models.RESTRICT, null=True, related_name="+")
    state = models.CharField(max_length=10, default=RunState.PREPARING)
    is_current = models.BooleanField(default=True)  # of those that judge: the one whose results are shown
    served_at = models.DateTimeField(null=True)  # when a worker last took rows of it; the longest unserved goes first
    revision = models.PositiveIntegerField(default=0)  # counts every change of its rows
    summary = models.JSONField(null=True)
    summary_revision = models.PositiveIntegerField(null=True)
    left_out = models.JSONField(default=list)  # request parameters the endpoint refused
    spent_usd = models.FloatField(null=True)  # what its calls have cost, retried ones included; None without prices
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["version", "experiment"],
                condition=Q(is_current=True, baseline=None),
                name="run_current_once",
            ),
            models.UniqueConstraint(  # apart from the other, since no two NULLs are equal
                fields=["version", "experiment", "baseline"],
                condition=Q(is_current=True, baseline__isnull=False),
                name="run_current_against_once",
            ),
        ]
        indexes = [models.Index(fields=["state", "lane"]), models.Index(fields=["experiment", "is_current"])]

    def get_absolute_url(self) -> str:
        return reverse("run-page", args=[self.experiment.project.slug, self.pk])

    @property
    def title(self) -> str:
        """What does it: an evaluator's version, or the system that answers."""
        return f"{self.version.evaluator.name} {self.version}" if self.version_id else str(self.experiment)

    @property
    def covers_all(self) -> bool:
        """Whether it judges, once each, all outputs that there are: then it has as many rows as there are outputs."""
        return self.selection is None and self.sample is None and self.repeats == 1

    @property
    def subject(self) -> str:
        """What it judges, in words: a system, or a system against a baseline's."""
        return f"{self.experiment} against {self.baseline}" if self.baseline_id else str(self.experiment)

    @property
    def results_url(self) -> str | None:
        """Where its scores are read, its column chosen; None for a sample, which is no result."""
        if self.purpose != Purpose.RESULTS:
            return None
        base = self.experiment.url_against(self.baseline_id) if self.baseline_id else self.experiment.get_absolute_url()
        return f"{base}?by={self.pk}"

    @property
    def is_rehearsal(self) -> bool:
        """Whether its scores come from the scripted rehearsal: they must never stand unmarked."""
        return self.connection is not None and self.connection.is_rehearsal


class Slice(models.Model):
    """A stretch of a run's rows, leased whole so that leasing never rewrites the rows."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="slices")
    first_id = models.BigIntegerField()
    last_id = models.BigIntegerField()
    done = models.BooleanField(default=False)
    lease = models.ForeignKey("calls.Lease", models.SET_NULL, null=True, related_name="+")
    crashes = models.PositiveSmallIntegerField(default=0)
    cursor_id = models.BigIntegerField(null=True)  # the row being tried alone after two crashes

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "first_id"], name="slice_once")]
        indexes = [models.Index(fields=["run", "done", "id"])]


class Evaluation(models.Model):
    """One row of the ledger: pending until it is settled, once."""

    run = models.ForeignKey(Run, models.CASCADE)
    output: models.ForeignKey[Output, Output] = models.ForeignKey(  # type: ignore[misc]
        Output, models.CASCADE, null=True
    )  # null only in a run for answers, until there is one
    case = models.ForeignKey(Case, models.RESTRICT, null=True, related_name="+", db_index=False)  # only in such a run
    baseline_output = models.ForeignKey(Output, models.CASCADE, null=True, related_name="+", db_index=False)
    repeat = models.PositiveSmallIntegerField(default=0)
    state = models.PositiveSmallIntegerField(default=Status.PENDING)
    score = models.FloatField(null=True)
    label_id = models.PositiveIntegerField(null=True)  # RunLabel.label_id of the same run
    expected_id = models.PositiveIntegerField(null=True)  # likewise, of the label that a classification should give
    passed = models.BooleanField(null=True)
    why = models.CharField(max_length=16, blank=True)
    latency_ms = models.FloatField(null=True)
    cost_usd = models.FloatField(null=True)
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "output", "repeat"], name="evaluation_once"),
            models.UniqueConstraint(
                fields=["run", "case", "repeat"], condition=Q(case__isnull=False), name="evaluation_of_case_once"
            ),
            models.CheckConstraint(
                condition=Q(state=Status.SCORED, score__isnull=False) | (~Q(state=Status.SCORED) & Q(score=None)),
                name="evaluation_score_iff_scored",
            ),
            models.CheckConstraint(
                condition=Q(state__lte=Status.AWAITING, settled_at=None)
                | Q(state__gt=Status.AWAITING, settled_at__isnull=False),
                name="evaluation_settled_iff_final",
            ),
        ]
        indexes = [
            models.Index(F("run"), F("state"), F("score"), F("id"), name="evaluation_by_state"),
            models.Index(fields=["output", "run"], name="evaluation_by_output"),
            models.Index(fields=["run", "settled_at"], name="evaluation_by_settling"),
            models.Index(  # confusion tables, whose counts it holds; empty but for classifications
                fields=["run", "expected_id", "label_id"],
                condition=Q(expected_id__isnull=False),
                name="evaluation_by_labels",
            ),
        ]


class EvaluationBody(models.Model):
    """The words behind a score, only where there are any."""

    evaluation = models.OneToOneField(Evaluation, models.CASCADE, primary_key=True, related_name="body")
    reason = models.TextField(blank=True)
    measures = models.JSONField(null=True)
    label_scores = models.JSONField(null=True)  # of a classification: RunLabel.label_id of the same run → score
    call_keys = models.JSONField(null=True)  # Call.key of every reply, the decisive one last
    logs = models.JSONField(null=True)


class RunLabel(models.Model):
    """The text of a label, once per run instead of once per row."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="labels")
    label_id = models.PositiveIntegerField()
    label = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "label_id"], name="run_label_id_once"),
            models.UniqueConstraint(fields=["run", "label"], name="run_label_once"),
        ]
