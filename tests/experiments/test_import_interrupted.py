"""What is left of an import that was killed, failed, or met another one."""

from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone

from experiments.datasets.importing import arriving, leases, reading, receiving, running, tasks
from experiments.datasets.versions import PendingVersion
from experiments.models import (
    Case,
    CaseSpan,
    Dataset,
    DatasetVersion,
    Experiment,
    Import,
    ImportState,
    Output,
    System,
)
from tests.experiments.importing import bring, cases_of, jsonl, upload, waiting

CASES = jsonl({"id": "a", "inputs": {"question": "Why?"}}, {"id": "b", "inputs": {"question": "How?"}})
ANSWERS = jsonl(*({"id": key, "outputs": {"value": f"answer {key}"}} for key in "ab"))


# --- Interruption -----------------------------------------------------------------------------------------------------
class Killed(BaseException):
    """Stands for a kill: nothing in the product catches it."""


MANY = jsonl(
    *({"id": n, "inputs": {"q": f"q{n}"}, "output": f"o{n}"} for n in range(95)), {"id": 3, "inputs": {"q": "dup"}}
)


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(reading, "BATCH_ROWS", 10)


def kill_after(batches):
    def watch(job):
        nonlocal batches
        batches -= 1
        if batches == 0:
            raise Killed

    return watch


def expire_leases():
    Import.objects.update(lease_until=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("batches", [1, 4, 9, 10])
def test_a_killed_import_goes_on_where_it_was(project, small_batches, batches):
    whole = bring(project, MANY, dataset="whole", system="bot")
    job = waiting(project, MANY, system="bot")
    with pytest.raises(Killed):
        running.run(job.pk, watch=kill_after(batches))
    assert not running.run(job.pk)  # its lease has not run out
    expire_leases()
    assert running.run(job.pk)
    job.refresh_from_db()
    assert (job.counts, job.row_errors) == (whole.counts, whole.row_errors)
    assert job.outputs_digest == whole.outputs_digest
    assert list(cases_of(job.dataset)) == list(cases_of(whole.dataset))
    assert Output.objects.filter(experiment=job.experiment).count() == 95
    assert CaseSpan.objects.filter(dataset=job.dataset).count() == 95


def test_nobody_sees_half_an_import(project, small_batches):
    dataset = bring(project, jsonl({"id": 3, "inputs": {"q": "old"}})).dataset
    seen = []

    def look(job):
        seen.append((list(cases_of(dataset)), cases_of(dataset).get("3").inputs, Experiment.objects.count()))

    job = waiting(project, MANY, system="bot")
    running.run(job.pk, watch=look)
    assert seen == [(["3"], {"q": "old"}, 0)] * 10
    assert len(cases_of(dataset)) == 95
    assert Experiment.objects.get().dataset_version.number == 2


@pytest.fixture
def short_preview(monkeypatch):
    monkeypatch.setattr("experiments.datasets.importing.preview.LOOKED_AT_ROWS", 5)


def test_an_import_that_fails_leaves_the_old_version_as_it_was(project, small_batches, short_preview):
    dataset = bring(project, jsonl({"id": 3, "inputs": {"q": "old"}})).dataset
    rows = [f'{{"id": {n}, "inputs": {{"q": "new"}}}}' for n in range(95)]
    job = bring(project, "[" + ",".join(rows) + ",", "cases.json")
    assert job.state == ImportState.FAILED
    assert job.failure.startswith("The JSON cannot be read after item 95")
    assert cases_of(dataset)["3"].inputs == {"q": "old"}
    assert (dataset.latest_version, CaseSpan.objects.count(), Case.objects.count()) == (1, 1, 1)
    again = bring(project, CASES)
    assert again.version_number == 2


def test_taking_back_can_be_interrupted_too(project, small_batches, short_preview, monkeypatch):
    job = waiting(project, "[" + ",".join(f'{{"id": {n}, "inputs": {{"q": "x"}}}}' for n in range(95)), "cases.json")

    def killed(self):
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(PendingVersion, "abandon", killed)
        with pytest.raises(Killed):
            running.run(job.pk)
    expire_leases()
    running.run(job.pk)
    job.refresh_from_db()
    assert job.state == ImportState.FAILED
    assert not CaseSpan.objects.exists()
    assert not Dataset.objects.exists()


def test_an_import_that_keeps_ending_its_worker_is_given_up(project, small_batches, monkeypatch):
    job = waiting(project, MANY, system="bot")
    running_merge = running.merge

    def deadly(drafts, *rest):
        if drafts[0].key == "20":
            raise Killed
        return running_merge(drafts, *rest)

    monkeypatch.setattr(running, "merge", deadly)
    for _ in range(running.MAX_TRIES):
        with pytest.raises(Killed):
            running.run(job.pk)
        expire_leases()
    running.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.failure) == (ImportState.FAILED, "Reading on after row 20 ended its worker 3 times.")
    assert not CaseSpan.objects.exists()


def test_a_lost_lease_ends_a_worker_without_a_trace(project, small_batches):
    job = waiting(project, MANY, system="bot")

    def usurped(seen):
        if seen.read_to == 20:
            Import.objects.filter(pk=job.pk).update(lease="another worker")

    assert not running.run(job.pk, watch=usurped)
    assert CaseSpan.objects.count() == 20
    job.refresh_from_db()
    assert (job.state, job.read_to) == (ImportState.RUNNING, 20)


def test_a_file_that_vanished_fails_and_everything_is_taken_back(project, small_batches):
    job = waiting(project, MANY, system="bot")
    with pytest.raises(Killed):
        running.run(job.pk, watch=kill_after(5))
    assert Output.objects.count() == 50
    job.file.delete(save=False)
    expire_leases()
    running.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.experiment, job.version_number) == (ImportState.FAILED, None, None)
    assert "Upload it again" in job.failure
    left = (Output, Experiment.with_arriving, System, CaseSpan, Case, DatasetVersion, Dataset)
    assert not any((rows if hasattr(rows, "exists") else rows.objects).exists() for rows in left)


@pytest.mark.parametrize("moment", ["abandon", "arrive"])
def test_the_end_of_an_import_can_be_interrupted_too(project, small_batches, monkeypatch, moment):
    bring(project, MANY, system="bot")
    content = MANY if moment == "abandon" else MANY.replace("o1", "another")

    def killed(*_):
        raise Killed

    job = waiting(project, content, system="bot")
    with monkeypatch.context() as broken:
        broken.setattr(arriving, moment, killed)
        with pytest.raises(Killed):
            running.run(job.pk)
    assert Experiment.objects.count() == 1
    expire_leases()
    assert running.run(job.pk)
    expected = 1 if moment == "abandon" else 2
    assert (Experiment.with_arriving.count(), Output.objects.count()) == (expected, 95 * expected)
    assert [version.number for version in DatasetVersion.objects.all()] == [1]


# --- Several at a time ------------------------------------------------------------------------------------------------
def test_imports_into_one_data_set_wait_for_each_other(project, small_batches):
    first, second = waiting(project, MANY, system="bot"), waiting(project, CASES)
    other = waiting(project, CASES, dataset="other")
    turns = []

    def look(job):
        if not turns:
            turns.append(running.run(second.pk))
            turns.append(running.run(other.pk))

    running.run(first.pk, watch=look)
    assert turns == [False, True]
    assert running.run(second.pk)
    second.refresh_from_db()
    assert (second.version_number, second.counts["added"]) == (2, 2)


def test_two_running_imports_of_a_data_set_cannot_be_stored(project):
    first, second = waiting(project, CASES), waiting(project, CASES)
    Import.objects.filter(pk=first.pk).update(state=ImportState.RUNNING)
    with pytest.raises(IntegrityError):
        Import.objects.filter(pk=second.pk).update(state=ImportState.RUNNING)


def test_orphans_are_resumed_once(project, small_batches, monkeypatch):
    asked = []
    monkeypatch.setattr(tasks, "enqueue", asked.append)
    job, later = waiting(project, MANY, system="bot"), waiting(project, CASES)
    assert tasks.resume_orphans() == 0  # both were just asked for
    with pytest.raises(Killed):
        running.run(job.pk, watch=kill_after(3))
    assert tasks.resume_orphans() == 0
    expire_leases()
    assert tasks.resume_orphans() == 1
    assert tasks.resume_orphans() == 0
    assert asked == [job.pk]
    tasks.run_import(job.pk)
    assert asked == [job.pk, later.pk]


def test_running_it_twice_does_it_once(project):
    job = waiting(project, CASES)
    assert running.run(job.pk)
    assert not running.run(job.pk)
    assert leases.take(job.pk) is None
    assert CaseSpan.objects.count() == 2


def test_stale_uploads_are_dropped_with_their_files(project, alice):
    old, new = (receiving.receive(project, alice, upload(CASES), "questions") for _ in range(2))
    Import.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=8))
    assert tasks.drop_stale_uploads() == 1
    assert list(Import.objects.all()) == [new]
    assert not old.file.storage.exists(old.file.name)
    assert new.file.storage.exists(new.file.name)


def test_arriving_outputs_can_be_taken_back(project):
    bring(project, CASES)
    experiment = bring(project, ANSWERS, system="bot").experiment
    arriving.abandon(experiment)
    assert not Output.objects.exists()
    assert not Experiment.with_arriving.exists()
