"""A batch of edits becomes one version, or nothing of it does."""

import os
import random
import signal
import time

import pytest
from django.db import connection

from evalstudio.projects.models import AuditEntry
from experiments.datasets.committing import Busy, Edit, Refused, commit
from experiments.datasets.contents import Content
from experiments.datasets.importing import leases, running
from experiments.models import Case, CaseSpan, CaseWords, Dataset, DatasetVersion, Import, ImportState
from tests.experiments.curated import asking, case_id, curated, questions
from tests.experiments.importing import jsonl, waiting


@pytest.fixture
def dataset(project, alice) -> Dataset:
    return curated(project, alice, a=asking("A?"), b=asking("B?"), c=asking("C?"))


def test_a_batch_is_one_version_with_author_and_note(dataset, alice):
    edits = [
        Edit("a", asking("A, really?"), case_id(dataset, "a")),
        Edit("b", None, case_id(dataset, "b")),
        Edit("d", asking("D?"), None),
    ]
    done = commit(dataset, edits, alice)
    version = DatasetVersion.objects.get(dataset=dataset, number=3)
    assert done.version == version
    assert (version.author, version.n_cases) == (alice, 3)
    assert version.note == "Added 1 case, edited 1 case, removed 1 case"
    assert questions(dataset) == {"a": "A, really?", "c": "C?", "d": "D?"}
    assert questions(dataset, 2) == {"a": "A?", "b": "B?", "c": "C?"}
    assert AuditEntry.objects.filter(act="committed", subject__startswith="questions v3").exists()


def test_what_changes_nothing_makes_no_version(dataset, alice):
    done = commit(dataset, [Edit("a", asking("A?"), case_id(dataset, "a"))], alice)
    assert (done.version, done.unchanged, dataset.latest_version) == (None, 1, 2)


def test_the_same_content_keeps_its_case_when_it_comes_back(dataset, alice):
    first = case_id(dataset, "a")
    commit(dataset, [Edit("a", asking("Other?"), first)], alice)
    commit(dataset, [Edit("a", asking("A?"), case_id(dataset, "a"))], alice)
    assert case_id(dataset, "a") == first


def test_edits_of_other_cases_merge_and_of_the_same_case_are_refused(dataset, alice, bob):
    a, b = case_id(dataset, "a"), case_id(dataset, "b")
    commit(dataset, [Edit("a", asking("Bob's A?"), a)], bob)
    commit(dataset, [Edit("b", asking("Alice's B?"), b)], alice)
    with pytest.raises(Refused) as refused:
        commit(dataset, [Edit("a", asking("Alice's A?"), a), Edit("c", None, case_id(dataset, "c"))], alice)
    assert refused.value.conflicts == ["a"]
    assert questions(dataset) == {"a": "Bob's A?", "b": "Alice's B?", "c": "C?"}


def test_a_new_case_is_refused_where_somebody_else_added_another_one_under_its_key(dataset, alice):
    with pytest.raises(Refused) as refused:
        commit(dataset, [Edit("a", asking("New?"), None)], alice)
    assert refused.value.conflicts == ["a"]


@pytest.mark.parametrize(("key", "content"), [("a", asking("A?")), ("gone", None)], ids=["there", "gone"])
def test_two_who_want_the_same_do_not_conflict(dataset, alice, key, content):
    assert commit(dataset, [Edit(key, content, None)], alice).version is None


def test_what_no_database_stores_is_told_with_its_key(dataset, alice):
    with pytest.raises(Refused) as refused:
        commit(dataset, [Edit("d", Content({"question": "nul \0"}), None)], alice)
    (fault,) = refused.value.faults
    assert (fault.key, fault.reason) == ("d", "This case holds a NUL character.")


# --- Imports into the same dataset ------------------------------------------------------------------------------------
def test_while_an_import_writes_a_commit_is_refused_with_a_sentence(project, dataset, alice):
    job = waiting(project, jsonl({"id": "z", "inputs": {"question": "Z?"}}))
    refused = []

    def edit(_):
        with pytest.raises(Busy) as busy:
            commit(dataset, [Edit("d", asking("D?"), None)], alice)
        refused.append(str(busy.value))

    assert running.run(job.pk, watch=edit)
    assert refused[0].startswith("An import is writing into this dataset.")
    assert list(questions(dataset)) == ["a", "b", "c", "z"]
    commit(dataset, [Edit("d", asking("D?"), None)], alice)
    assert list(questions(dataset)) == ["a", "b", "c", "z", "d"]


def test_an_import_that_waits_goes_on_after_a_commit(project, dataset, alice):
    job = waiting(project, jsonl({"id": "z", "inputs": {"question": "Z?"}}))
    commit(dataset, [Edit("d", asking("D?"), None)], alice)
    assert running.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.version_number) == (ImportState.DONE, 4)
    assert list(questions(dataset)) == ["a", "b", "c", "d", "z"]


def test_an_import_that_was_interrupted_keeps_its_place(project, dataset, alice):
    job = waiting(project, jsonl({"id": "z", "inputs": {"question": "Z?"}}))
    assert leases.take(job.pk)
    with pytest.raises(Busy):
        commit(dataset, [Edit("d", asking("D?"), None)], alice)
    assert Import.objects.get(pk=job.pk).state == ImportState.RUNNING
    assert not DatasetVersion.objects.filter(dataset=dataset, number=3).exists()


# --- Kills ------------------------------------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)
def test_a_killed_commit_leaves_nothing_or_everything(project, alice):
    """A process of its own commits a large batch and is killed at some moment, again and again."""
    dataset = curated(project, alice, **{f"k{n}": asking(f"{n}?") for n in range(1200)})
    chance = random.Random(4)
    for turn in range(12):
        dataset.refresh_from_db()
        before = dataset.latest_version
        bases = dict(CaseSpan.objects.filter(dataset=dataset).at(before).values_list("key", "case"))
        edits = [Edit(key, asking(f"{key} in turn {turn}?"), base) for key, base in bases.items()]
        child = _committing(dataset, edits, alice)
        if turn < 11:
            time.sleep(chance.uniform(0, 0.9))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        dataset.refresh_from_db()
        assert dataset.latest_version - before in ((0, 1) if status else (1,))
        asked = set(questions(dataset).values())
        assert len(asked) == 1200
        assert DatasetVersion.objects.filter(dataset=dataset).count() == dataset.latest_version
        assert not CaseSpan.objects.filter(dataset=dataset, added_in__gt=dataset.latest_version).exists()
    assert status == 0  # the last one was left alone
    assert Case.objects.filter(dataset=dataset).count() == CaseWords.objects.count()


def _committing(dataset, edits, author) -> int:
    connection.close()
    child = os.fork()
    if child == 0:
        try:
            commit(dataset, edits, author)
            os._exit(0)
        finally:
            os._exit(1)
    return child
