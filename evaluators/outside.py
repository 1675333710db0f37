"""Evaluators whose scores come from outside, found or made by their name."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from evalstudio.projects.models import AuditEntry, Project
from evaluators.engine import work_of
from evaluators.kinds import BadConfig, get_kind
from evaluators.kinds.external import External
from evaluators.models import Evaluator, EvaluatorVersion

MOST_NAME = Evaluator._meta.get_field("name").max_length or 0


class NotOutside(Exception):
    """The name belongs to an evaluator that judges here. The message says so."""


def names_of(project: Project) -> list[str]:
    """The names of the evaluators of a project that take scores from outside."""
    found = Evaluator.objects.filter(project=project, kind=External.key, archived_at=None)
    return list(found.order_by("name").values_list("name", flat=True))


@transaction.atomic
def version_named(project: Project, name: str, author: Any) -> EvaluatorVersion:
    """The version that stands for the evaluator of this name; a new one takes numbers, 0 to 1. Raises NotOutside."""
    evaluator, is_new = Evaluator.objects.get_or_create(project=project, name=name, defaults={"kind": External.key})
    if is_new:
        AuditEntry.note(project, author, "added", f"evaluator {name}")
        return evaluator.revise(External().blank(), schema=External.schema, author=author)
    version = evaluator.published_version or evaluator.versions.order_by("-number").first()
    try:
        if version is None or work_of(version).needs.lane != "outside":
            title = get_kind(evaluator.kind).title
            raise NotOutside(f"“{name}” is another kind of evaluator here, {title}. Choose another name.")
    except (BadConfig, KeyError):
        raise NotOutside(f"“{name}” cannot be read any more. Choose another name.") from None
    return version
