"""Datasets to edit, for tests."""

from __future__ import annotations

from typing import Any

from evalstudio.projects.models import Project, User
from experiments.datasets.committing import Edit, commit
from experiments.datasets.contents import Content
from experiments.datasets.wholesale import create
from experiments.models import CaseSpan, Dataset


def asking(question: str, answer: str | None = None, **more: Any) -> Content:
    return Content({"question": question}, {"value": answer} if answer else None, **more)


def curated(project: Project, author: User | None = None, name: str = "questions", **cases: Content) -> Dataset:
    """A dataset whose version 1 is empty and whose version 2 has these cases, by key."""
    dataset = create(project, name, author)
    commit(dataset, [Edit(key, content, None) for key, content in cases.items()], author)
    return dataset


def case_id(dataset: Dataset, key: str) -> int:
    """The case that has the key in the latest version."""
    dataset.refresh_from_db()
    return CaseSpan.objects.filter(dataset=dataset, key=key).at(dataset.latest_version).get().case_id


def questions(dataset: Dataset, version: int | None = None) -> dict[str, str]:
    """What the cases of a version ask, by key and in order."""
    dataset.refresh_from_db()
    spans = CaseSpan.objects.filter(dataset=dataset).at(version or dataset.latest_version)
    found = spans.order_by("position", "pk").select_related("case")
    return {span.key: span.case.inputs["question"] for span in found}
