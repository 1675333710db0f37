"""The processor and the defaults of new runs over REST."""

import pytest

from evaluators.kinds import get_kind
from evaluators.models import Evaluator, ProcessorVersion
from experiments.models import RunDefaults
from tests.api.test_api import call  # noqa: F401

CODE = "function process({ outputs }) { return { n: outputs.value.length }; }"


@pytest.fixture
def short(project):
    kind = get_kind("heuristic")
    evaluator = Evaluator.objects.create(project=project, name="Short", kind="heuristic")
    evaluator.revise(kind.blank(), schema=kind.schema, author=None)
    return evaluator


def test_versions_are_saved_listed_and_never_twice_the_same(call, project):  # noqa: F811
    assert call("post", "processor/", {"code": CODE, "note": "first"}).status_code == 201
    assert call("post", "processor/", {"code": CODE}).status_code == 200
    assert call("post", "processor/", {"code": "", "base": 1}).json()["number"] == 2
    assert call("post", "processor/", {"code": CODE, "base": 1}).status_code == 409

    listed = call("get", "processor/").json()["results"]

    assert [(one["number"], one["code"]) for one in listed] == [(2, ""), (1, CODE)]


def test_code_that_cannot_be_loaded_is_refused_with_its_line(call):  # noqa: F811
    answer = call("post", "processor/", {"code": "function process() {\n  return {;\n}"})

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "code"
    assert answer.json()["errors"][0]["message"].startswith("Line 2")


def test_a_try_says_what_is_made_or_why_nothing_is_and_saves_nothing(call):  # noqa: F811
    made = call("post", "processor/try/", {"code": CODE, "sample": {"outputs": {"value": "four"}}}).json()
    failed = call("post", "processor/try/", {"code": CODE, "sample": {}}).json()

    assert made == {"processed": {"n": 4}, "failure": "", "logs": []}
    assert failed["processed"] is None
    assert failed["failure"].startswith("Line 1")
    assert not ProcessorVersion.objects.exists()


def test_the_defaults_of_new_runs_are_written_and_read(call, project, short):  # noqa: F811
    written = {"limit_usd": 2.5, "limit_minutes": 10.0, "evaluators": [short.pk]}

    assert call("get", "run-defaults/").json() == {"limit_usd": None, "limit_minutes": None, "evaluators": []}
    assert call("put", "run-defaults/", written).json() == written
    assert call("get", "run-defaults/").json() == written
    assert call("put", "run-defaults/", written | {"evaluators": [10**6]}).status_code == 400
    assert RunDefaults.objects.get(project=project).limit_s == 600
