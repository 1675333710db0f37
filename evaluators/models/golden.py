"""Golden cases: samples with the verdict that an evaluator must give, and what its versions gave."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from evaluators.core import Status
from evaluators.models.evaluators import Evaluator, EvaluatorVersion


class GoldenCase(models.Model):
    """A sample, copied, so that it outlives the experiment it was found in.

    `must` says the verdict in one of three ways: {"label": "HIGH"}, {"passed": false} or {"value": 0.6}.
    """

    evaluator = models.ForeignKey(Evaluator, models.CASCADE, related_name="golden_cases")
    title = models.CharField(max_length=200)
    sample = models.JSONField()  # inputs, expectedOutputs, outputs, steps, metadata, comparison; what lacks is left out
    digest = models.CharField(max_length=64)  # of the sample
    must = models.JSONField()
    note = models.CharField(max_length=300, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["evaluator", "digest"], name="golden_sample_once")]

    def __str__(self) -> str:
        return self.title


class GoldenVerdict(models.Model):
    """What one version said about one golden case."""

    version = models.ForeignKey(EvaluatorVersion, models.CASCADE)
    case = models.ForeignKey(GoldenCase, models.CASCADE, related_name="verdicts")
    state = models.PositiveSmallIntegerField(default=Status.PENDING)
    value = models.FloatField(null=True)
    label = models.CharField(max_length=200, null=True)  # noqa: DJ001 - NULL is no label, "" would be one
    passed = models.BooleanField(null=True)
    reason = models.TextField(blank=True)
    judged_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["version", "case"], name="golden_verdict_once")]
