"""The REST API: who may call it, how it answers, how it refuses."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from evalstudio.projects.models import ApiToken, Project, Scope
from evaluators.models import Evaluator
from experiments.datasets.importing.tasks import run_import
from experiments.ledger.turn import work
from experiments.models import Experiment, Run

HEURISTIC = {
    "kind": "heuristic",
    "name": "Short enough",
    "config": {
        "code": "function evaluate({ outputs }) { return outputs.value.length < 12 ? 1 : 0.25; }",
        "scoring": {"type": "percentage"},
        "threshold": 0.5,
    },
}
LINES = [
    {"id": "a", "inputs": {"question": "Two and two?"}, "outputs": {"value": "Four."}},
    {"id": "b", "inputs": {"question": "Ten times ten?"}, "outputs": {"value": "It is one hundred."}},
]


@pytest.fixture
def call(client, alice, project):
    """A caller with a token that may write."""
    _, secret = ApiToken.issue(project, alice, "tests", Scope.WRITE)

    def send(method, path, data=None, secret=secret, **more):
        if data is not None and "format" not in more:
            more = {"data": json.dumps(data), "content_type": "application/json", **more}
        address = path if path.startswith("/") else f"/api/projects/{project.slug}/{path}"
        return getattr(client, method)(address, headers={"Authorization": f"Bearer {secret}"}, **more)

    return send


def import_file(client, project, alice):
    _, secret = ApiToken.issue(project, alice, "import", Scope.WRITE)
    file = SimpleUploadedFile("answers.jsonl", "\n".join(json.dumps(line) for line in LINES).encode())
    reply = client.post(
        f"/api/projects/{project.slug}/imports/",
        {"file": file, "dataset": "sums", "system": "abacus"},
        headers={"Authorization": f"Bearer {secret}"},
    )
    assert reply.status_code == 201, reply.json()
    run_import(reply.json()["id"])
    return reply.json()["id"]


def test_a_pipeline_imports_judges_and_reads_its_results(client, call, alice, project):
    job = import_file(client, project, alice)
    assert call("get", f"imports/{job}/").json()["state"] == "done"
    made = call("post", "evaluators/", HEURISTIC)
    assert made.status_code == 201, made.json()
    experiment = call("get", "experiments/").json()["results"][0]
    assert (experiment["system"], experiment["dataset"]) == ("abacus", "sums")

    started = call("post", "runs/", {"version": made.json()["published_version_id"], "experiment": experiment["id"]})
    assert started.status_code == 201
    work("cpu")

    run = call("get", f"runs/{started.json()['id']}/").json()
    assert run["state"] == "finished"
    assert run["counts"]["scored"] == 2
    assert run["estimate"]["value"] == 0.625
    results = call("get", f"experiments/{experiment['id']}/results/").json()["results"]
    assert [(one["key"], one["evaluations"][0]["score"]) for one in results] == [("a", 1.0), ("b", 0.25)]
    assert call("get", f"runs/{run['id']}/waiting/").json() == []


def test_no_token_is_401_with_a_problem(client, project):
    reply = client.get(f"/api/projects/{project.slug}/evaluators/")
    assert reply.status_code == 401
    assert reply["Content-Type"] == "application/problem+json"
    assert reply.json()["status"] == 401


def test_a_token_opens_its_own_project_only(call, alice):
    other = Project.start("Other", alice)
    reply = call("get", f"/api/projects/{other.slug}/evaluators/")
    assert reply.status_code == 404
    assert reply.json()["title"] == "Not Found"


def test_a_reading_token_may_not_write(call, alice, project):
    _, secret = ApiToken.issue(project, alice, "reader", Scope.READ)
    assert call("get", "evaluators/", secret=secret).status_code == 200
    reply = call("post", "evaluators/", HEURISTIC, secret=secret)
    assert reply.status_code == 403
    assert reply.json()["detail"] == "This token may only read."


def test_a_viewers_token_may_not_write(call, bob, project):
    _, secret = ApiToken.issue(project, bob, "viewer", Scope.WRITE)
    assert call("post", "evaluators/", HEURISTIC, secret=secret).status_code == 403


def test_a_wrong_configuration_names_its_field_and_line(call):
    wrong = {**HEURISTIC, "config": {**HEURISTIC["config"], "code": "function evaluate() {\n  return 1 +;\n}"}}
    reply = call("post", "evaluators/", wrong)
    assert reply.status_code == 400
    error = reply.json()["errors"][0]
    assert error["field"] == "config.code"
    assert "line 2" in error["message"]
    assert not Evaluator.objects.exists()


@pytest.mark.parametrize(
    "config",
    [{"scoring": 7}, {"scoring": {"type": "enum", "options": "x"}}, {"code": None}, {"nonsense": 1}, {"threshold": []}],
)
def test_a_configuration_of_another_shape_is_refused(call, config):
    reply = call("post", "evaluators/", {**HEURISTIC, "config": {**HEURISTIC["config"], **config}})
    assert reply.status_code == 400
    assert reply.json()["errors"][0]["field"].startswith("config")


def test_the_same_configuration_gives_the_same_version(call):
    made = call("post", "evaluators/", HEURISTIC).json()
    again = call("post", f"evaluators/{made['id']}/versions/", {"config": HEURISTIC["config"]})
    assert again.json()["number"] == 1
    changed = {**HEURISTIC["config"], "threshold": 0.9}
    assert call("post", f"evaluators/{made['id']}/versions/", {"config": changed}).json()["number"] == 2


def test_a_run_of_what_is_not_there_is_refused_by_field(call):
    reply = call("post", "runs/", {"version": 999, "experiment": 999})
    assert reply.status_code == 400
    assert reply.json()["errors"] == [{"field": "version", "message": "There is no such version in this project."}]


def test_lists_are_paged_by_key(call, project):
    for number in range(5):
        Evaluator.objects.create(project=project, name=f"evaluator {number}", kind="heuristic")
    first = call("get", "evaluators/?limit=2").json()
    second = call("get", f"evaluators/?limit=2&after={first['next']}").json()
    assert [one["name"] for one in second["results"]] == ["evaluator 2", "evaluator 3"]
    assert call("get", f"evaluators/?limit=2&before={second['previous']}").json()["results"] == first["results"]


def test_broken_json_is_a_problem(call):
    reply = call("post", "runs/", content_type="application/json", data="{", format="raw")
    assert reply.status_code == 400
    assert reply["Content-Type"] == "application/problem+json"


def test_lists_have_a_constant_number_of_queries(client, call, alice, project, django_assert_max_num_queries):
    import_file(client, project, alice)
    made = call("post", "evaluators/", HEURISTIC).json()
    experiment = Experiment.objects.get()
    call("post", "runs/", {"version": made["published_version_id"], "experiment": experiment.pk})
    for path in ("evaluators/", "experiments/", "runs/", f"experiments/{experiment.pk}/results/", "datasets/"):
        with django_assert_max_num_queries(15):
            assert call("get", path).status_code == 200
    assert Run.objects.count() == 1


def test_the_reference_shows_every_operation(as_alice, project):
    page = as_alice.get(reverse("api-docs")).content.decode()
    schema = as_alice.get(reverse("api-schema")).json()
    operations = [one["operationId"] for methods in schema["paths"].values() for one in methods.values()]
    assert len(operations) >= 20
    assert all(f'id="{operation}"' in page for operation in operations)
