"""Evaluators that are chosen with a file's columns judge its outputs as soon as these are there."""

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from evaluators.kinds import get_kind
from evaluators.models import Evaluator
from experiments.datasets.importing import running
from experiments.datasets.importing.starting import prepare_import
from experiments.forms.imports import MappingForm
from experiments.ledger.turn import work
from experiments.models import Evaluation, Import, Run, RunDefaults

pytestmark = pytest.mark.django_db(transaction=True)

LINES = b'{"key": "a", "question": "2+2", "output": "4"}\n{"key": "b", "question": "3+3", "output": "6"}\n'


def heuristic(project, name="Short"):
    kind = get_kind("heuristic")
    evaluator = Evaluator.objects.create(project=project, name=name, kind="heuristic")
    return evaluator.revise(kind.blank(), schema=kind.schema, author=None)


def prepared(project, alice):
    return prepare_import(project, alice, ContentFile(LINES, "sums.jsonl"), {"dataset": "sums", "system": "calc"})


def test_those_chosen_on_the_page_judge_what_the_file_brought(as_alice, project, alice):
    short, other = heuristic(project), heuristic(project, "Other")
    file = ContentFile(LINES, "sums.jsonl")
    as_alice.post(reverse("import-new", args=[project.slug]), {"file": file, "dataset": "sums"})
    job = Import.objects.get()
    assert "Other v1" in as_alice.get(job.get_absolute_url()).content.decode()
    typed = {name: field.initial or "" for name, field in MappingForm(job=job).fields.items() if name != "judges"}

    as_alice.post(job.get_absolute_url(), typed | {"system": "calc", "judges": [short.pk]})
    running.run(job.pk)
    work("cpu")

    assert [run.version for run in Run.objects.all()] == [short]
    assert Evaluation.objects.filter(score=1.0).count() == 2
    assert other.runs.count() == 0


def test_those_that_the_project_always_runs_are_chosen_already(as_alice, project, alice):
    short = heuristic(project)
    RunDefaults.objects.create(project=project).evaluators.set([short.evaluator])

    running.run(prepared(project, alice).pk)

    assert [run.version for run in Run.objects.all()] == [short]


def test_one_that_cannot_run_any_more_is_named_and_the_file_goes_in_all_the_same(as_alice, project, alice, connection):
    kind = get_kind("judge")
    evaluator = Evaluator.objects.create(project=project, name="Judge", kind="judge")
    own = {"prompt": "{{ outputs.value }}", "connection_id": connection.pk, "model": "tiny"}
    evaluator.revise(kind.blank() | own, schema=kind.schema, author=None)
    RunDefaults.objects.create(project=project).evaluators.set([evaluator])
    job = prepared(project, alice)
    connection.archive(alice)

    running.run(job.pk)

    page = as_alice.get(job.get_absolute_url()).content.decode()
    assert "Not judged." in page
    assert "is archived" in page
    assert "Open the experiment" in page


def test_the_version_of_another_project_cannot_be_chosen(as_alice, project, alice, charlie):
    from evalstudio.projects.models import Project

    theirs = heuristic(Project.start("Other", charlie))
    file = ContentFile(LINES, "sums.jsonl")
    as_alice.post(reverse("import-new", args=[project.slug]), {"file": file, "dataset": "sums"})
    job = Import.objects.get()
    typed = {name: field.initial or "" for name, field in MappingForm(job=job).fields.items() if name != "judges"}

    answer = as_alice.post(job.get_absolute_url(), typed | {"system": "calc", "judges": [theirs.pk]})

    assert answer.status_code == 422
