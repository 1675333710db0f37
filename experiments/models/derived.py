"""What is worked out from the ledger and kept. It holds as long as what it was made from, so nothing throws it away."""

from __future__ import annotations

from django.db import models
from django.utils import timezone

from experiments.models.ledger import Run
from experiments.models.outputs import Experiment


class RunVector(models.Model):
    """One column of the rows of a run, packed. It holds while its revision is the run's. See analysis.vectors."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="vectors")
    name = models.CharField(max_length=80)
    revision = models.PositiveIntegerField()
    length = models.PositiveIntegerField()
    data = models.BinaryField()  # little-endian; a single entry where all are equal

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "name"], name="run_vector_once")]


class Derived(models.Model):
    """The answer to a question about several runs. It holds while `made_from` is what one would make it from now."""

    project = models.ForeignKey("projects.Project", models.CASCADE, related_name="+")
    question = models.CharField(max_length=64, unique=True)  # a digest of what was asked
    made_from = models.CharField(max_length=64)  # a digest of the runs and their revisions
    answer = models.JSONField()
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["project", "made_at"])]  # the oldest make room


class PairColumn(models.Model):
    """One column over the pairs of two experiments, packed; it holds while `made_from` does. See analysis.comparing."""

    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="+")
    baseline = models.ForeignKey(Experiment, models.CASCADE, related_name="+")
    name = models.CharField(max_length=40)
    made_from = models.CharField(max_length=64)  # a digest of the outputs, the runs and their revisions
    data = models.BinaryField()
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["experiment", "baseline", "name"], name="pair_column_once")]
        indexes = [models.Index(fields=["made_at"])]  # the oldest make room


class Calibration(models.Model):
    """What people would say of the outputs that a run judged, told from those that they graded.

    The floor above writes it; it holds while `revision` is that of the judge's run and `format` is FORMAT.
    """

    FORMAT = 1  # raised whenever the code works corrections out otherwise

    run = models.OneToOneField(Run, models.CASCADE, related_name="calibration")
    people = models.ForeignKey(Run, models.CASCADE, related_name="+")  # their run over the same outputs
    revision = models.PositiveIntegerField()
    people_revision = models.PositiveIntegerField()
    format = models.PositiveSmallIntegerField(default=0)
    figure = models.JSONField()  # the fields of an Estimate
    made_at = models.DateTimeField(default=timezone.now)

    def holds_for(self, run: Run) -> bool:
        """Whether it is told from the run as it is now, the way corrections are told now."""
        return (self.format, self.revision) == (self.FORMAT, run.revision)
