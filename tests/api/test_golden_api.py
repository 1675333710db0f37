"""Golden cases, publishing and exchange over REST."""

import json

import pytest

from evalstudio.projects.models import ApiToken, Project, Scope
from evaluators.models import Evaluator, GoldenCase, PublishingRule
from tests.evaluators.golden_stage import YES_NO, four_cases, heuristic_config, version_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def call(client, alice, project):
    """A caller with a token that may write: (status, body)."""
    _, secret = ApiToken.issue(project, alice, "tests", Scope.WRITE)

    def send(method, path, data=None):
        said = {} if data is None else {"data": json.dumps(data), "content_type": "application/json"}
        address = f"/api/projects/{project.slug}/{path}"
        reply = getattr(client, method)(address, headers={"Authorization": f"Bearer {secret}"}, **said)
        return reply.status_code, reply.json() if reply.content else None

    return send


@pytest.fixture
def version(project):
    return version_of(project, "Short", heuristic_config())


def test_a_case_is_kept_read_changed_and_deleted(call, version):
    path = f"evaluators/{version.evaluator_id}/golden-cases/"
    sample = {"outputs": {"value": "brief"}}
    status, made = call("post", path, {"sample": sample, "must": {"passed": True}, "note": "Curt is fine"})
    assert status == 201
    assert (made["title"], made["must"], made["author"]) == ("brief", {"passed": True}, "alice")
    assert call("post", path, {"sample": sample, "must": {"passed": False}})[0] == 200
    one = f"golden-cases/{made['id']}/"
    assert call("get", one)[1]["must"] == {"passed": False}
    status, changed = call("patch", one, {"must": {"value": 1}, "title": "Brief"})
    assert (status, changed["must"], changed["title"], changed["note"]) == (
        200,
        {"value": 1.0},
        "Brief",
        "Curt is fine",
    )
    assert [row["id"] for row in call("get", path)[1]["results"]] == [made["id"]]
    assert call("delete", one) == (204, None)
    assert not GoldenCase.objects.exists()


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({"must": {"label": "Yes"}}, "must"),
        ({"must": {"passed": "yes"}}, "must"),
        ({"sample": {}}, "sample"),
        ({"sample": {"output": 1}}, "sample"),
        ({"sample": {"outputs": 1, "comparison": {"outputs": 2}}}, "sample"),
        ({"sample": {"outputs": "a\0b"}}, "sample"),
        ({"note": "x" * 301}, "note"),
    ],
)
def test_what_is_wrong_is_told_by_field(call, version, said, field):
    body = {"sample": {"outputs": {"value": "brief"}}, "must": {"passed": True}} | said
    status, problem = call("post", f"evaluators/{version.evaluator_id}/golden-cases/", body)
    assert status == 400
    assert {error["field"] for error in problem["errors"]} == {field}


def test_a_closed_gate_answers_409_with_reasons_until_it_holds(call, version, project):
    PublishingRule.objects.create(project=project, least_cases=4, min_agreement=0.9)
    version = version_of(project, "Short", heuristic_config(threshold=0.6))
    four_cases(version.evaluator)
    path = f"evaluators/{version.evaluator_id}/versions/2/"
    status, problem = call("post", f"{path}publish/")
    assert status == 409
    assert problem["reasons"][0] == "v2 has judged 0 of 4 golden cases."
    assert call("post", f"{path}judge/") == (200, {"judged": 4, "left": 0, "not_now": ""})
    assert call("post", f"{path}judge/")[1]["judged"] == 0
    gate = call("get", f"{path}publish/")[1]
    assert (gate["is_open"], gate["figures"]["agreement"]["value"]) == (True, 1.0)
    assert call("post", f"{path}publish/")[0] == 200
    assert call("get", f"evaluators/{version.evaluator_id}/")[1]["published_version"] == 2


def test_people_cannot_be_asked_at_once(call, project):
    from evaluators.kinds import KINDS

    config = KINDS["human"].blank() | {"instructions": "Read it.", "scoring": YES_NO}
    version = version_of(project, "By hand", config, "human")
    assert call("post", f"evaluators/{version.evaluator_id}/versions/1/judge/")[0] == 409
    body = {"sample": {"outputs": 1}, "must": {"label": "Yes"}}
    assert call("post", f"evaluators/{version.evaluator_id}/golden-cases/", body)[0] == 400


def test_an_evaluator_leaves_and_comes_back(call, version):
    four_cases(version.evaluator)
    told = call("get", f"evaluators/{version.evaluator_id}/export/")[1]
    status, problem = call("post", "evaluators/import/", {"evaluator": told})
    assert status == 400
    assert "“Short 2” is free." in problem["errors"][0]["message"]
    status, made = call("post", "evaluators/import/", {"evaluator": told, "name": "Short again"})
    assert (status, made["name"], made["published_version"]) == (201, "Short again", 1)
    assert Evaluator.objects.get(name="Short again").golden_cases.count() == 4


def test_what_is_no_export_is_refused(call):
    status, problem = call("post", "evaluators/import/", {"evaluator": {"format": "other"}})
    assert status == 400
    assert problem["errors"][0]["field"] == "evaluator"
    assert call("post", "evaluators/import/", {"evaluator": {"versions": "x" * 5_000_001}})[0] == 413


def test_the_cases_of_other_projects_are_not_found(call, charlie):
    other = version_of(Project.start("Elsewhere", charlie), "Theirs", heuristic_config())
    four_cases(other.evaluator)
    case = GoldenCase.objects.first()
    for method, path in (
        ("get", f"golden-cases/{case.pk}/"),
        ("patch", f"golden-cases/{case.pk}/"),
        ("delete", f"golden-cases/{case.pk}/"),
        ("get", f"evaluators/{other.evaluator_id}/golden-cases/"),
        ("get", f"evaluators/{other.evaluator_id}/export/"),
        ("post", f"evaluators/{other.evaluator_id}/versions/1/publish/"),
        ("post", f"evaluators/{other.evaluator_id}/versions/1/judge/"),
    ):
        assert call(method, path)[0] == 404, path
