"""Several people and an import write into one dataset at the same time."""

from collections.abc import Callable
from threading import Thread

import pytest
from django.db import connection

from experiments.datasets.committing import Busy, Edit, commit
from experiments.datasets.importing import running
from experiments.models import CaseSpan, Dataset, DatasetVersion
from tests.experiments.curated import asking, case_id, curated, questions
from tests.experiments.importing import jsonl, waiting

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*acts: Callable[[], None]) -> None:
    def alone(act):
        try:
            act()
        finally:
            connection.close()

    threads = [Thread(target=alone, args=[act]) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_edits_of_different_cases_all_become_versions(project, alice):
    keys = [f"k{n}" for n in range(8)]
    dataset = curated(project, alice, **{key: asking("Old?") for key in keys})
    edits = [Edit(key, asking(f"New {key}?"), case_id(dataset, key)) for key in keys]
    at_once(*(lambda edit=edit: commit(Dataset.objects.get(pk=dataset.pk), [edit], alice) for edit in edits))
    assert questions(dataset) == {key: f"New {key}?" for key in keys}
    assert dataset.latest_version == 10
    assert list(DatasetVersion.objects.filter(dataset=dataset).order_by("number").values_list("number", flat=True)) == [
        *range(1, 11)
    ]


def test_an_import_and_commits_take_turns(project, alice):
    dataset = curated(project, alice, a=asking("A?"))
    rows = [{"id": f"row-{n}", "inputs": {"question": f"{n}?"}} for n in range(2500)]
    job = waiting(project, jsonl(*rows))
    committed, refused = [], []

    def edit_again_and_again():
        own = Dataset.objects.get(pk=dataset.pk)
        for n in range(40):
            try:
                commit(own, [Edit(f"edit-{n}", asking(f"{n}?"), None)], alice)
                committed.append(f"edit-{n}")
            except Busy:
                refused.append(n)

    at_once(edit_again_and_again, lambda: running.run(job.pk))
    job.refresh_from_db()
    assert job.counts["added"] == 2500
    assert len(committed) + len(refused) == 40
    assert set(questions(dataset)) == {"a", *committed, *(row["id"] for row in rows)}
    assert dataset.latest_version == 2 + 1 + len(committed)
    for version in DatasetVersion.objects.filter(dataset=dataset):
        assert CaseSpan.objects.filter(dataset=dataset).at(version.number).count() == version.n_cases
