"""Data sets over the API: made, read, edited in batches, restored, described by a schema."""

import pytest

from evalstudio.projects.models import ApiToken, Scope
from experiments.datasets.committing import BUSY
from experiments.datasets.importing import leases
from experiments.models import Dataset
from tests.api.test_api import call  # noqa: F401
from tests.experiments.importing import jsonl, waiting


@pytest.fixture
def pk(call):  # noqa: F811
    """A data set with the cases a and b, in its version 2."""
    made = call("post", "datasets/", {"name": "sums"})
    assert made.status_code == 201
    pk = made.json()["id"]
    rows = [
        {"key": "a", "inputs": {"q": "1 + 1"}, "expected_outputs": {"value": 2}, "split": "train"},
        {"key": "b", "inputs": {"q": "2 + 2"}, "metadata": {"tags": ["easy"]}},
    ]
    sent = call("post", f"datasets/{pk}/versions/", {"add": rows, "note": "First"})
    assert (sent.status_code, sent.json()) == (
        201,
        {"version": 2, "added": 2, "changed": 0, "removed": 0, "unchanged": 0},
    )
    return pk


@pytest.fixture
def commit(call, pk):  # noqa: F811
    return lambda **batch: call("post", f"datasets/{pk}/versions/", batch)


def test_a_data_set_is_read_with_its_versions_and_cases(call, pk):  # noqa: F811
    assert call("get", f"datasets/{pk}/").json()["latest_version"] == 2
    versions = call("get", f"datasets/{pk}/versions/").json()["results"]
    assert [(one["number"], one["note"], one["author"], one["n_cases"]) for one in versions] == [
        (2, "First", "alice", 2),
        (1, "Made without cases", "alice", 0),
    ]
    for query, found in (("q=2", "ab"), ("q=EASY+2", "b"), ("split=train", "a"), ("split=+", "b"), ("tag=easy", "b")):
        rows = call("get", f"datasets/{pk}/cases/?{query}").json()["results"]
        assert [row["key"] for row in rows] == list(found), query
    assert call("get", f"datasets/{pk}/cases/?version=1").json()["results"] == []
    assert call("get", f"datasets/{pk}/cases/?version=3").status_code == 400
    assert call("post", "datasets/", {"name": "sums"}).status_code == 409


def test_a_batch_adds_changes_and_removes_at_once(call, pk, commit):  # noqa: F811
    batch = {"add": [{"inputs": {"q": "3"}}], "change": [{"key": "a", "split": "test"}], "remove": ["b"]}
    assert commit(**batch).json() == {"version": 3, "added": 1, "changed": 1, "removed": 1, "unchanged": 0}
    cases = call("get", f"datasets/{pk}/cases/").json()["results"]
    assert cases[0]["expected_outputs"] == {"value": 2}
    assert cases[0]["split"] == "test"
    assert len(cases[1]["key"]) == 16
    unchanged = commit(change=[{"key": "a", "split": "test"}])
    assert (unchanged.status_code, unchanged.json()["version"], unchanged.json()["unchanged"]) == (200, 3, 1)


def test_edits_of_cases_that_changed_since_the_base_version_are_a_conflict(commit, pk):
    commit(change=[{"key": "a", "split": "other"}])
    refused = commit(base_version=2, change=[{"key": "b", "split": "x"}, {"key": "a", "split": "mine"}], remove=[])
    assert refused.status_code == 409
    assert [(error["field"], error["case"]) for error in refused.json()["errors"]] == [("change[1]", "a")]
    assert commit(base_version=2, change=[{"key": "b", "split": "x"}]).status_code == 201
    assert commit(add=[{"key": "a", "inputs": {"q": "new"}}]).status_code == 409
    assert Dataset.objects.get(pk=pk).latest_version == 4


@pytest.mark.parametrize(
    ("batch", "field", "said"),
    [
        ({"add": [{"key": "c"}]}, "add[0].inputs", "A case needs an input."),
        ({"add": [{"inputs": {"q": 1}}, {"inputs": {"q": 1}}]}, "add[1].key", "add[0] has the key"),
        ({"add": ["x"]}, "add[0]", "An edit is a JSON object."),
        ({"add": [{"inputs": {"q": 1}, "tags": []}]}, "add[0]", "There is no field"),
        ({"add": [{"inputs": {"q": "nul \0"}}]}, "add[0]", "NUL"),
        ({"add": [{"inputs": [1]}]}, "add[0].inputs", "This is no object"),
        ({"change": [{"key": "z", "split": "x"}]}, "change[0].key", "no case with the key"),
        ({"change": [{"key": "\ud800", "split": "x"}]}, "change[0].key", "control character"),
        ({"change": [{"key": "a", "inputs": {}}]}, "change[0].inputs", "A case needs an input."),
        ({"change": [{"key": "a", "split": 5 * ["x"]}]}, "change[0].split", "A split is text."),
        ({"remove": ["z"]}, "remove[0]", "no case with the key"),
        ({"remove": ["a", "a"]}, "remove[1]", "remove[0] has the key"),
    ],
)
def test_what_is_wrong_is_told_by_its_place_and_nothing_is_committed(commit, pk, batch, field, said):
    good = {"key": "good", "inputs": {"q": "good"}}
    refused = commit(**{**batch, "add": [*batch.get("add", []), good]})
    assert refused.status_code == 422, refused.json()
    (error,) = refused.json()["errors"]
    assert error["field"] == field
    assert said in error["message"]
    assert Dataset.objects.get(pk=pk).latest_version == 2


def test_during_an_import_a_batch_is_refused(commit, project):
    assert leases.take(waiting(project, jsonl({"id": "z", "inputs": {"q": "?"}}), dataset="sums").pk)
    refused = commit(remove=["a"])
    assert (refused.status_code, refused.json()["detail"]) == (409, BUSY)


def test_an_earlier_version_is_restored(call, pk, commit):  # noqa: F811
    commit(remove=["a"])
    restored = call("post", f"datasets/{pk}/restore/", {"version": 2})
    assert restored.status_code == 201
    assert restored.json() == {"version": 4, "added": 1, "changed": 0, "removed": 0, "unchanged": 1}
    assert [case["key"] for case in call("get", f"datasets/{pk}/cases/").json()["results"]] == ["a", "b"]
    again = call("post", f"datasets/{pk}/restore/", {"version": 2})
    assert (again.status_code, again.json()["added"], again.json()["unchanged"]) == (200, 0, 2)
    assert call("post", f"datasets/{pk}/restore/", {"version": 9}).status_code == 400


def test_a_schema_is_inferred_written_and_kept_to(call, pk, commit):  # noqa: F811
    assert call("get", f"datasets/{pk}/schema/").json() == {"inputs": None, "expected_outputs": None}
    schema = call("get", f"datasets/{pk}/schema/?inferred=true").json()
    assert schema["inputs"]["required"] == ["q"]
    strict = {"inputs": {**schema["inputs"], "properties": {"q": {"type": "string", "pattern": "1"}}}}
    written = call("put", f"datasets/{pk}/schema/", strict)
    assert (written.status_code, written.json()["breaking"]) == (200, 1)
    refused = commit(add=[{"key": "c", "inputs": {"q": 3}}])
    assert refused.json()["errors"][0]["field"] == "add[0].inputs.q"
    wrong = call("put", f"datasets/{pk}/schema/", {"inputs": {"type": "nothing"}})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (400, "inputs")


def test_a_token_that_only_reads_writes_nothing(call, pk, project, alice, bob, client):  # noqa: F811
    _, reading = ApiToken.issue(project, alice, "reader", Scope.READ)
    for method, path, data in (
        ("post", "datasets/", {"name": "more"}),
        ("post", f"datasets/{pk}/versions/", {"remove": ["a"]}),
        ("post", f"datasets/{pk}/restore/", {"version": 1}),
        ("put", f"datasets/{pk}/schema/", {}),
    ):
        assert call(method, path, data, secret=reading).status_code == 403, path
    client.force_login(bob)
    assert (
        client.put(f"/api/projects/{project.slug}/datasets/{pk}/schema/", "{}", "application/json").status_code == 403
    )
