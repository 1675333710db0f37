"""Starting an import without a person looking at it in between: for the command line and the API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.files import File
from django.db import transaction

from evalstudio.projects.models import Project, User
from experiments.datasets.importing import receiving, tasks
from experiments.forms.imports import ImportFileForm, MappingForm
from experiments.models import Import


class ImportRefused(Exception):
    """What is wrong with what was asked for: sentences by field, "" for what no single field is to blame for."""

    def __init__(self, errors: Mapping[str, list[str]]) -> None:
        self.errors = dict(errors)
        super().__init__(" ".join(self.lines()))

    def lines(self) -> list[str]:
        """One sentence a line, behind the field that it is about."""
        return [f"{field}: {said}" if field else said for field, all_said in self.errors.items() for said in all_said]


def prepare_import(project: Project, author: User | None, file: File, options: Mapping[str, Any]) -> Import:
    """An import that waits to be carried out, without a person looking at it in between.

    `options`: dataset (name), system (name, needed where the file has outputs), targets ({column: target}) and types
    ({column: type}) for the columns that are not what their names suggest. Raises ImportRefused.
    """
    upload = ImportFileForm({"dataset": options.get("dataset", "")}, {"file": file}, project=project)
    if not upload.is_valid():
        raise ImportRefused(upload.errors_by_field())
    job = upload.receive(author)
    if job is None:
        raise ImportRefused(upload.errors_by_field())
    form = MappingForm.answering(job, options)
    if not form.is_valid():
        job.discard()
        raise ImportRefused(form.errors_by_field())
    receiving.begin(job, form.to_options())
    return job


def start_import(project: Project, author: User | None, file: File, options: Mapping[str, Any]) -> Import:
    """`prepare_import`, and a worker is asked to carry it out."""
    job = prepare_import(project, author, file, options)
    transaction.on_commit(lambda: tasks.enqueue(job.pk))
    return job
