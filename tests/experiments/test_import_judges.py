"""Evaluators that are chosen with a file's columns judge its outputs as soon as these are there."""

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse

from evaluators.kinds import get_kind
from evaluators.models import Evaluator
from evaluators.publishing import publish
from experiments.datasets.importing import running
from experiments.datasets.importing.starting import prepare_import
from experiments.forms.imports import MappingForm
from experiments.ledger.turn import work
from experiments.models import Evaluation, Experiment, Import, Run, RunDefaults
from tests.experiments.compared import comparative

pytestmark = pytest.mark.django_db(transaction=True)

LINES = b'{"key": "a", "question": "2+2", "output": "4"}\n{"key": "b", "question": "3+3", "output": "6"}\n'


def heuristic(project, name="Short"):
    kind = get_kind("heuristic")
    evaluator = Evaluator.objects.create(project=project, name=name, kind="heuristic")
    return evaluator.revise(kind.blank(), schema=kind.schema, author=None)


def prepared(project, alice):
    return prepare_import(project, alice, ContentFile(LINES, "sums.jsonl"), {"dataset": "sums", "system": "calc"})


def guessed(job):
    """What the page fills in by itself, with nobody chosen to judge."""
    fields = MappingForm(job=job).fields.items()
    return {name: field.initial or "" for name, field in fields if name not in ("judges", "comparing")}


def test_those_chosen_on_the_page_judge_what_the_file_brought(as_alice, project, alice):
    short, other = heuristic(project), heuristic(project, "Other")
    file = ContentFile(LINES, "sums.jsonl")
    as_alice.post(reverse("import-new", args=[project.slug]), {"file": file, "dataset": "sums"})
    job = Import.objects.get()
    assert "Other v1" in as_alice.get(job.get_absolute_url()).content.decode()
    typed = guessed(job)

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


@pytest.fixture
def second_upload(as_alice, project, alice):
    """A file of another system, over a data set that one system has answered; (its import, that first result)."""
    running.run(prepared(project, alice).pk)
    longer = LINES.replace(b'"4"', b'"four"').replace(b'"6"', b'"six"')
    file = ContentFile(longer, "sums.jsonl")
    as_alice.post(reverse("import-new", args=[project.slug]), {"file": file, "dataset": "sums"})
    return Import.objects.latest("pk"), Experiment.objects.get()


def test_comparative_ones_compare_with_the_result_that_was_chosen(as_alice, project, second_upload):
    (job, first), shorter = second_upload, comparative(project)
    page = as_alice.get(job.get_absolute_url()).content.decode()
    assert "Compare with another result" in page
    assert "calc · v1" in page
    compared = {"system": "words", "comparing": [shorter.pk], "baseline": first.pk}

    as_alice.post(job.get_absolute_url(), guessed(job) | compared)
    running.run(job.pk)
    work("cpu")

    run = Run.objects.get()
    assert (run.version, run.experiment.system.name, run.baseline) == (shorter, "words", first)
    assert list(Evaluation.objects.values_list("score", flat=True)) == [0.0, 0.0]
    page = as_alice.get(run.experiment.get_absolute_url()).content.decode()
    assert f'<a href="{run.experiment.url_against(first.pk)}">calc</a>' in page


@pytest.mark.parametrize(
    ("half", "said"), [("comparing", "Choose the result that"), ("baseline", "Choose who compares")]
)
def test_a_comparison_takes_an_evaluator_and_a_result(as_alice, project, second_upload, half, said):
    (job, first), shorter = second_upload, comparative(project)
    both = {"comparing": [shorter.pk], "baseline": first.pk}

    answer = as_alice.post(job.get_absolute_url(), guessed(job) | {"system": "words", half: both[half]})

    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert "Makes an experiment of “words”" in answer.content.decode()


def test_the_result_of_another_data_set_cannot_be_compared_with(as_alice, project, second_upload, make_experiment):
    (job, _), shorter = second_upload, comparative(project)
    chosen = {"system": "words", "comparing": [shorter.pk], "baseline": make_experiment(2).pk}

    answer = as_alice.post(job.get_absolute_url(), guessed(job) | chosen)

    assert "Choose a result of this data set." in answer.content.decode()


def test_what_asks_a_model_judges_each_as_often_as_was_said_and_the_others_once(
    as_alice, project, second_upload, make_version, small_kinds, connection, alice
):
    job, _ = second_upload
    asking, short = make_version("asking", connection_id=connection.pk), heuristic(project)
    publish(asking, alice)

    typed = {"system": "words", "judges": [asking.pk, short.pk], "judge_repeats": "3"}
    as_alice.post(job.get_absolute_url(), guessed(job) | typed)
    running.run(job.pk)

    assert {run.version: run.repeats for run in Run.objects.all()} == {asking: 3, short: 1}


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
    typed = guessed(job)

    answer = as_alice.post(job.get_absolute_url(), typed | {"system": "calc", "judges": [theirs.pk]})

    assert answer.status_code == 422
