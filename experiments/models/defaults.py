"""What new runs of a project begin with unless somebody says otherwise."""

from __future__ import annotations

from django.db import models

from evalstudio.projects.models import Project
from evaluators.models import Evaluator


class RunDefaults(models.Model):
    """Limits of new runs, and the evaluators that judge new experiments. A project without a row has neither."""

    project = models.OneToOneField(Project, models.CASCADE, primary_key=True)
    limit_usd = models.FloatField(null=True)  # what the calls of one run may cost
    limit_s = models.PositiveIntegerField(null=True)  # how long one run may go on, from each start or resumption
    evaluators = models.ManyToManyField(Evaluator, related_name="+")

    @classmethod
    def of(cls, project: Project) -> RunDefaults:
        """Those of a project, stored or not. No query where they were selected with it."""
        return getattr(project, "rundefaults", None) or cls(project=project)
