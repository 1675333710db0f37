"""Pipelines send outputs as they produce them."""

import gzip
import json

import pytest

from evalstudio.projects.models import ApiToken, Scope
from evaluators.models import Evaluator
from experiments.ledger.turn import work
from experiments.models import Dataset, Evaluation, Experiment, Output, System
from experiments.outputs.intake import append
from tests.api.test_api import LINES, call, import_file  # noqa: F401
from tests.experiments.trying import heuristic_version

CODE = "function evaluate({ outputs }) { return outputs.value.length < 12 ? 1 : 0.25; }"


@pytest.fixture
def dataset(client, alice, project):
    import_file(client, project, alice)
    return "sums"


@pytest.fixture
def opened(call, dataset):  # noqa: F811
    """The id of an open experiment."""
    return call("post", "experiments/", {"system": "calculator", "dataset": dataset}).json()["id"]


def test_outputs_are_seen_and_judged_as_they_come(call, dataset, project, alice):  # noqa: F811
    config = {"code": CODE, "scoring": {"type": "percentage"}, "threshold": None, "direction": "higher", "seed": 0}
    evaluator = Evaluator.objects.create(project=project, name="Short", kind="heuristic")
    version = evaluator.revise(config, schema=1, author=alice)
    made = call("post", "experiments/", {"system": "calculator", "dataset": dataset, "versions": [version.pk]})
    assert made.status_code == 201
    assert made.json()["is_open"]
    pk = made.json()["id"]
    for key, text, score in (("a", "Four.", 1.0), ("b", "One hundred, I think.", 0.25)):
        sent = call("post", f"experiments/{pk}/outputs/", {"outputs": [{"case": key, "outputs": {"value": text}}]})
        assert sent.json() == {"accepted": 1, "unchanged": 0}
        work("cpu")
        assert Evaluation.objects.get(output__case__key=key).score == score
    assert call("post", f"experiments/{pk}/close/").json()["is_open"] is False
    results = call("get", f"experiments/{pk}/results/").json()["results"]
    assert [row["key"] for row in results] == ["a", "b"]


def test_sent_again_nothing_doubles(call, opened):  # noqa: F811
    batch = {"outputs": [{"case": "a", "outputs": {"value": "4"}, "latency_ms": 12.5, "steps": [{"name": "add"}]}]}
    assert call("post", f"experiments/{opened}/outputs/", batch).json() == {"accepted": 1, "unchanged": 0}
    assert call("post", f"experiments/{opened}/outputs/", batch).json() == {"accepted": 0, "unchanged": 1}
    assert Output.objects.filter(experiment=opened).count() == 1


def test_a_wrong_output_names_its_case_and_the_reason_and_the_others_are_kept(call, opened):  # noqa: F811
    rows = [
        {"case": "a", "outputs": {"value": "4"}},
        {"case": "z", "outputs": {"value": "?"}},
        {"case": "a", "outputs": {"value": "5"}},
        {"case": "b", "outputs": "5"},
        {"case": "b", "answer": "5"},
        {"outputs": {"value": "5"}},
        {"case": "b", "outputs": {"value": "\0"}},
        {"case": "b", "outputs": {"value": "5"}, "latency_ms": -1},
        {"case": "b", "error": "timed out"},
        7,
    ]
    sent = call("post", f"experiments/{opened}/outputs/", {"outputs": rows})
    assert sent.status_code == 422
    assert sent["Content-Type"] == "application/problem+json"
    said = sent.json()
    assert said["detail"] == "8 of 10 outputs were not accepted; the others are stored."
    assert [(error["field"], error["case"]) for error in said["errors"]] == [
        *(("outputs[1]", "z"), ("outputs[2]", "a"), ("outputs[3]", "b"), ("outputs[4]", "b"), ("outputs[5]", "")),
        *(("outputs[6]", "b"), ("outputs[7]", "b"), ("outputs[9]", "")),
    ]
    assert "no case with the key" in said["errors"][0]["message"]
    assert "another output already" in said["errors"][1]["message"]
    assert {output.case.key: output.error for output in Output.objects.filter(experiment=opened)} == {
        "a": "",
        "b": "timed out",
    }


@pytest.mark.parametrize(
    "wrong",
    [b'"outputs": {"value": 1e999}', b'"outputs": {}, "tokens_in": -1e999', b'"error": "x", "latency_ms": 1%0400d' % 0],
)
def test_a_number_beyond_every_float_costs_its_output_and_no_other(send_raw, wrong):
    sent = send_raw(b'{"outputs": [{"case": "a", "outputs": {"value": "4"}}, {"case": "b", %b}]}' % wrong)
    assert (sent.status_code, sent.json()["accepted"]) == (422, 1)
    (error,) = sent.json()["errors"]
    assert (error["field"], error["case"]) == ("outputs[1]", "b")


@pytest.mark.parametrize("wrong", [b'{"case": "a\\ud800"}', b'{"case": "b", "half \\ud800": 1}'])
def test_half_a_character_in_a_wrong_output_is_quoted(send_raw, wrong):
    sent = send_raw(b'{"outputs": [{"case": "a", "outputs": {"value": "4"}}, %b]}' % wrong)
    assert sent.status_code == 422
    (error,) = sent.json()["errors"]
    assert error["field"] == "outputs[1]"
    assert "\ud800" in error["case"] + error["message"]


def test_several_attempts_of_a_case_stand_side_by_side(call, opened):  # noqa: F811
    rows = [{"case": "a", "attempt": n, "outputs": {"value": str(n)}} for n in range(3)]
    assert call("post", f"experiments/{opened}/outputs/", {"outputs": rows}).json()["accepted"] == 3


def test_a_closed_experiment_takes_nothing(call, opened):  # noqa: F811
    call("post", f"experiments/{opened}/close/")
    sent = call("post", f"experiments/{opened}/outputs/", {"outputs": [{"case": "a", "outputs": {"value": "4"}}]})
    assert sent.status_code == 409
    assert not Output.objects.filter(experiment=opened).exists()


def test_the_client_s_key_gives_the_same_experiment(call, dataset):  # noqa: F811
    body = {"system": "calculator", "dataset": dataset, "client_key": "build-7"}
    first, second = call("post", "experiments/", body), call("post", "experiments/", body)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert Experiment.objects.filter(system__name="calculator").count() == 1


@pytest.mark.parametrize("other", [{"system": "slide rule"}, {"dataset": "more sums"}, {"dataset_version": 2}])
def test_a_key_that_stands_for_something_else_is_refused_and_opens_nothing(call, dataset, other):  # noqa: F811
    body = {"system": "calculator", "dataset": dataset, "client_key": "build-7"}
    first = call("post", "experiments/", body)
    call("post", "datasets/", {"name": "more sums"})
    pk = Dataset.objects.get(name=dataset).pk
    call("post", f"datasets/{pk}/versions/", {"add": [{"key": "new", "inputs": {"question": "One and one?"}}]})
    assert Dataset.objects.get(pk=pk).latest_version == 2
    refused = call("post", "experiments/", body | other)
    assert refused.status_code == 409
    assert "stands for an experiment of calculator over sums v1" in refused.json()["detail"]
    assert not System.objects.filter(name="slide rule").exists()
    again = call("post", "experiments/", body)  # also where the data set has a later version by now
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])


def test_outputs_whose_sender_ended_before_they_were_judged_are_judged_when_they_are_sent_again(
    call,  # noqa: F811
    dataset,
    project,
    alice,
):
    version = heuristic_version(project, "return 1")
    pk = call("post", "experiments/", {"system": "s", "dataset": dataset, "versions": [str(version.pk)]}).json()["id"]
    rows = [{"case": "a", "outputs": {"value": "4"}}]
    append(Experiment.objects.get(pk=pk), rows)  # all that a process did that was killed then
    assert call("post", f"experiments/{pk}/outputs/", {"outputs": rows}).json() == {"accepted": 0, "unchanged": 1}
    work("cpu")
    assert Evaluation.objects.get(run__experiment=pk).score == 1.0


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"system": "s", "dataset": "none"}, "dataset"),
        ({"system": "s", "dataset": "sums", "dataset_version": 9}, "dataset_version"),
        ({"dataset": "sums"}, "system"),
        ({"system": "s", "dataset": "sums", "versions": [77]}, "versions"),
    ],
)
def test_what_cannot_be_opened_says_why(call, dataset, body, field):  # noqa: F811
    refused = call("post", "experiments/", body)
    assert refused.status_code == 400
    assert [error["field"].partition("[")[0] for error in refused.json()["errors"]] == [field]


@pytest.fixture
def send_raw(client, alice, project, opened):
    """Send a body as it stands to the outputs of an open experiment."""
    _, secret = ApiToken.issue(project, alice, "raw", Scope.WRITE)
    address = f"/api/projects/{project.slug}/experiments/{opened}/outputs/"

    def send(body, **more):
        headers = {"Authorization": f"Bearer {secret}"}
        return client.post(address, body, content_type="application/json", headers=headers, **more)

    return send


def test_bodies_may_be_gzipped(send_raw):
    body = gzip.compress(json.dumps({"outputs": [{"case": "a", "outputs": {"value": "4"}}]}).encode())
    assert send_raw(body, HTTP_CONTENT_ENCODING="gzip").json() == {"accepted": 1, "unchanged": 0}
    assert send_raw(b"plain", HTTP_CONTENT_ENCODING="gzip").status_code == 400
    assert send_raw(body[:-9], HTTP_CONTENT_ENCODING="gzip").status_code == 400
    assert send_raw(body, HTTP_CONTENT_ENCODING="br").status_code == 400


def test_a_body_over_the_limit_is_too_large_also_when_it_is_packed(send_raw, settings):
    settings.API_MAX_BYTES = 1024 * 1024
    text = json.dumps({"outputs": [{"case": "a", "outputs": {"value": "4" * 2_000_000}}]}).encode()
    plain, packed = send_raw(text), send_raw(gzip.compress(text), HTTP_CONTENT_ENCODING="gzip")
    assert (plain.status_code, packed.status_code) == (413, 413)
    assert "may have 1 MB" in plain.json()["detail"]
