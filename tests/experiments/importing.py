"""Bringing files into a project, for tests: as text, carried out on the spot."""

import json
from io import BytesIO
from typing import Any

from django.core.files import File

from evalstudio.projects.models import Project
from experiments.datasets.importing import running
from experiments.datasets.importing.starting import prepare_import
from experiments.models import Case, CaseSpan, Dataset, Import


def upload(content: str | bytes, name: str = "cases.jsonl") -> File:
    return File(BytesIO(content.encode() if isinstance(content, str) else content), name=name)


def jsonl(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def waiting(
    project: Project, content: str | bytes, name: str = "cases.jsonl", dataset: str = "questions", **options
) -> Import:
    return prepare_import(project, None, upload(content, name), {"dataset": dataset, **options})


def bring(project: Project, content: str | bytes, name: str = "cases.jsonl", **options) -> Import:
    """Import and carry out; the import as it is afterwards."""
    job = waiting(project, content, name, **options)
    assert running.run(job.pk)
    job.refresh_from_db()
    return job


def cases_of(dataset: Dataset, version: int | None = None) -> dict[str, Case]:
    """The cases of a version, the latest by default, by key and in order."""
    dataset.refresh_from_db()
    number = dataset.latest_version if version is None else version
    spans = CaseSpan.objects.filter(dataset=dataset).at(number).select_related("case").order_by("position")
    return {span.key: span.case for span in spans}
