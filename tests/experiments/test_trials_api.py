"""Trying versions and measuring noise over the API."""

import pytest

from evalstudio.projects.models import ApiToken, Scope
from experiments.ledger.turn import work
from experiments.models import Run
from tests.experiments.judged import experiment_of
from tests.experiments.trying import heuristic_version

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def call(client, alice, project):
    """A caller with a token that may write: call("post", "change/", ...) about the evaluator of `two`."""
    _, secret = ApiToken.issue(project, alice, "tests", Scope.WRITE)

    def send(method, evaluator, path, said=None):
        url = f"/api/projects/{project.slug}/evaluators/{evaluator.pk}/{path}"
        more = {"content_type": "application/json"} if method == "post" else {}
        return getattr(client, method)(url, said, headers={"Authorization": f"Bearer {secret}"}, **more)

    return send


@pytest.fixture
def evaluator(project):
    heuristic_version(project, "return 1", threshold=0.5)
    return heuristic_version(project, "return outputs.value.endsWith('3') ? 0.2 : 1", threshold=0.5).evaluator


@pytest.fixture
def experiment(project):
    return experiment_of(project, 20)


def test_two_versions_are_tried_and_what_differs_is_read(call, evaluator, experiment):
    said = {"from": 1, "to": 2, "experiment": experiment.pk}
    started = call("post", evaluator, "change/", said)
    assert started.status_code == 201
    assert started.json()["is_over"] is False
    assert started.json()["share"] is None
    work("cpu")
    told = call("get", evaluator, "change/", said | {"n": 50}).json()
    assert told["is_over"] is True
    assert told["runs"] == started.json()["runs"]
    assert told["share"]["value"] == 0.1
    assert told["difference"]["value"] == pytest.approx(-0.08)
    first = told["differing"][0]
    assert (first["key"], first["difference"]) == ("case-003", pytest.approx(-0.8))
    assert (first["before"]["passed"], first["after"]["passed"]) == (True, False)
    assert len(told["differing"]) == 2
    assert told["lopsided"] == []


def test_what_was_not_tried_yet_says_so(call, evaluator, experiment):
    reply = call("get", evaluator, "change/", {"from": 1, "to": 2, "experiment": experiment.pk})
    assert reply.status_code == 400
    assert "not tried" in reply.content.decode()


@pytest.mark.parametrize(
    ("path", "wrong", "field"),
    [("change/", {"to": 7}, "to"), ("change/", {"n": 1}, "n"), ("noise/", {"repeats": 1}, "repeats")],
)
def test_errors_name_their_field(call, evaluator, experiment, path, wrong, field):
    said = {"from": 1, "to": 2, "version": 1, "experiment": experiment.pk} | wrong
    reply = call("post", evaluator, path, said)
    assert reply.status_code == 400
    assert [error["field"] for error in reply.json()["errors"]] == [field]
    assert not Run.objects.exists()


def test_noise_is_measured_and_read(call, evaluator, experiment):
    assert call("get", evaluator, "noise/").json() == []
    said = {"version": 1, "experiment": experiment.pk, "outputs": 5, "repeats": 2}
    run = call("post", evaluator, "noise/", said)
    assert run.status_code == 201
    again = call("post", evaluator, "noise/", said)
    assert again.status_code == 400
    assert "being measured already" in again.content.decode()
    work("cpu")
    [told] = call("get", evaluator, "noise/").json()
    assert told["run"] == run.json()["run"]
    assert (told["version"], told["judgements"], told["floor"], told["floor_outputs"]) == (1, 10, 0, 20)
    assert told["agreement"]["value"] == 1
