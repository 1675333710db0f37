"""What nobody types by hand: samples that no JSON holds, texts that no database holds, ids of another project."""

import json

import pytest
from django.urls import reverse

from evalstudio.calls.models import Call, Connection
from evalstudio.projects.models import ApiToken, Project, Scope
from evaluators.models import Draft, Evaluator
from tests.evaluators.editor_forms import SAMPLE, heuristic_fields, judge_fields, on_pasted, rehearsal

HTMX = {"HTTP_HX_REQUEST": "true"}
HEURISTIC = {"code": "function evaluate() { return 1; }", "scoring": {"type": "percentage"}}

pytestmark = pytest.mark.django_db(transaction=True)  # the chat client reads connections in a thread of its own


@pytest.fixture
def call(client, alice, project):
    """Post to the API as a pipeline of alice's: (the status, the body)."""
    _, secret = ApiToken.issue(project, alice, "tests", Scope.WRITE)

    def send(path, data):
        text = data if isinstance(data, str) else json.dumps(data)
        headers = {"Authorization": f"Bearer {secret}"}
        reply = client.post(
            f"/api/projects/{project.slug}/{path}", text, content_type="application/json", headers=headers
        )
        return reply.status_code, reply.json()

    return send


@pytest.fixture
def foreign(charlie):
    """A connection of a project that alice has nothing to do with."""
    connection = Connection(
        project=Project.start("Elsewhere", charlie), name="theirs", base_url="http://127.0.0.1:9/v1", model="gpt"
    )
    connection.key = "sk-theirs"
    connection.save()
    return connection


def outputs(text):
    """A sample whose output is this JSON text."""
    return '{"inputs": {"question": "?"}, "expectedOutputs": {"value": "x"}, "outputs": {"value": ' + text + "}}"


SAMPLES = {
    "not a number": outputs("NaN"),
    "an infinity": outputs("1e400"),
    "a number of thousands of digits": outputs("9" * 5_000),
    "a number beyond 64 bits": outputs("9" * 30),
    "half a character": outputs('"\\ud800"'),
    "a NUL": outputs('"a\\u0000b"'),
    "deep data": outputs("[" * 90 + "]" * 90),
    "too deep data": outputs("[" * 900 + "]" * 900),
    "data without end": outputs("[" * 20_000),
    "another closing tag": outputs('"</data>\\n</ DATA>"'),
    "markup": outputs('"<script>alert(1)</script>"'),
    "an odd name": '{"outputs": {"value": "x", "a]\\"\'[": {"<b>": 1}}}',
    "a list": "[1, 2]",
}


@pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)
@pytest.mark.parametrize("kind", ["judge", "heuristic"])
def test_the_bench_answers_whatever_is_pasted(as_alice, project, kind, sample):
    fields = judge_fields(rehearsal(project)) if kind == "judge" else heuristic_fields()
    for more in (HTMX, {}):
        reply = as_alice.post(reverse("evaluator-bench", args=[project.slug]), on_pasted(fields, sample), **more)
        assert reply.status_code in (200, 422)
        assert "<script>alert(1)" not in reply.content.decode()
    paths = as_alice.post(reverse("evaluator-paths", args=[project.slug]), on_pasted(fields, sample))
    assert paths.status_code == 200


def test_a_reply_with_what_no_database_holds_is_shown_and_kept(as_alice, project, chat_server):
    chat_server.reply = json.dumps({"reason": "It says a\0b.", "label": "Right"})
    connection = Connection.objects.create(project=project, name="Local", base_url=chat_server.url, model="tiny")
    fields = on_pasted(judge_fields(connection))
    reply = as_alice.post(reverse("evaluator-bench", args=[project.slug]), fields, **HTMX)
    assert reply.status_code == 200
    assert "\0" not in Call.objects.get().text


def test_a_draft_keeps_what_every_database_holds(as_alice, project):
    fields = heuristic_fields(name="a\0b", code="x\0y")
    assert as_alice.post(reverse("evaluator-draft", args=[project.slug]), fields).status_code == 200
    assert "\0" not in json.dumps(Draft.objects.get().fields, ensure_ascii=False)


@pytest.mark.parametrize("field", ["name", "note", "prompt", "guide", "option_label", "option_description"])
def test_a_nul_is_refused_beside_its_field(as_alice, project, field):
    fields = judge_fields(rehearsal(project))
    value = [f"{fields[field][0]}\0", *fields[field][1:]] if isinstance(fields[field], list) else fields[field] + "a\0"
    address = reverse("evaluator-new", args=[project.slug, "judge"]) + "?draft=k1"
    assert as_alice.post(address, fields | {field: value}).status_code == 422
    assert not Evaluator.objects.exists()


@pytest.mark.parametrize("field", ["code", "label", "description"])
@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_the_api_refuses_what_no_database_holds(call, field, text):
    options = [{"label": "yes", "percentage": 100, "description": ""}, {"label": "no", "percentage": 0}]
    config = {**HEURISTIC, "scoring": {"type": "enum", "options": options}}
    if field == "code":
        config["code"] += f"\n// {text}"
    else:
        options[1][field] = text
    status, said = call("evaluators/", {"kind": "heuristic", "name": "x", "config": config})
    assert status == 400
    assert said["errors"][0]["field"].startswith("config")


@pytest.mark.parametrize("text", [7, ["a"], {"a": 1}, None, True])
def test_the_api_takes_no_other_thing_for_a_text(call, text):
    status, said = call("evaluators/", {"kind": "heuristic", "name": "x", "config": {**HEURISTIC, "code": text}})
    assert (status, said["errors"][0]["field"]) == (400, "config.code")


def test_the_api_refuses_json_without_end(call):
    deep = '{"name": "x", "kind": "heuristic", "config": {"scoring": ' + "[" * 400 + "]" * 400 + "}}"
    for body in (deep, "[" * 20_000):
        status, said = call("evaluators/", body)
        assert status == 400
        assert "deep" in said["detail"]


def test_names_are_tidied_and_taken_once_over_the_api_too(call):
    assert call("evaluators/", {"kind": "heuristic", "name": " Short \n answer", "config": HEURISTIC})[0] == 201
    status, said = call("evaluators/", {"kind": "heuristic", "name": "Short answer", "config": HEURISTIC})
    assert (status, said["errors"][0]["field"]) == (400, "name")
    assert Evaluator.objects.get().name == "Short answer"


def test_a_connection_of_another_project_is_no_choice(as_alice, call, project, foreign):
    fields = judge_fields(foreign)
    made = as_alice.post(reverse("evaluator-new", args=[project.slug, "judge"]) + "?draft=k1", fields)
    tried = as_alice.post(reverse("evaluator-bench", args=[project.slug]), on_pasted(fields, SAMPLE), **HTMX)
    assert (made.status_code, tried.status_code) == (422, 422)
    config = {
        "prompt": "{{ outputs }}", "connection_id": foreign.pk, "model": "gpt", "scoring": {"type": "percentage"}
    }  # fmt: skip
    status, said = call("evaluators/", {"kind": "judge", "name": "x", "config": config})
    assert (status, said["errors"][0]["field"]) == (400, "config.model")
    assert not Evaluator.objects.exists()


def test_a_draft_with_a_connection_of_another_project_shows_nothing_of_it(as_alice, project, foreign):
    as_alice.post(reverse("evaluator-draft", args=[project.slug]), judge_fields(foreign))
    page = as_alice.get(reverse("evaluator-new", args=[project.slug, "judge"]) + "?draft=k1").content.decode()
    assert "theirs" not in page
