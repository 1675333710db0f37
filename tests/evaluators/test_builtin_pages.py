"""The editor, the bench and the page of a built-in evaluator, and its run from start to figure."""

import json

import pytest
from django.urls import reverse

from evaluators import catalogue
from evaluators.core import Status
from evaluators.kinds import get_kind
from evaluators.models import Evaluator
from experiments.ledger.start import start
from experiments.ledger.turn import work
from experiments.models import Evaluation, RunState
from tests.evaluators.editor_forms import SAMPLE, on_pasted
from tests.experiments.judged import add_case, add_output, experiment_of

pytestmark = pytest.mark.django_db
HTMX = {"HTTP_HX_REQUEST": "true"}
BUILTIN = get_kind("builtin")


def fields(entry, **more):
    start = BUILTIN.form.typed(BUILTIN.start(catalogue.get(entry)))
    page = {
        "name": "A check",
        "note": "",
        "base": "",
        "evaluator": "",
        "kind": "builtin",
        "draft": "b1",
        "start": entry,
    }
    return page | start | more


@pytest.fixture
def new(as_alice, project):
    """The page of a new built-in evaluator, opened or posted: (status, page)."""
    address = reverse("evaluator-new", args=[project.slug, "builtin"])

    def visit(start="", posted=None, **more):
        query = f"?start={start}&draft=b1" if start else "?draft=b1"
        reply = as_alice.post(address + query, posted, **more) if posted else as_alice.get(address + query)
        return reply.status_code, reply.content.decode()

    return visit


def test_without_an_entry_every_one_is_offered_as_a_link(new):
    status, page = new()
    assert status == 200
    for entry in catalogue.entries():
        assert f'<a href="?start={entry.key}">{entry.title}</a>' in page
        assert entry.summary in page


@pytest.mark.parametrize("entry", catalogue.entries(), ids=[entry.key for entry in catalogue.entries()])
def test_the_form_has_a_labelled_field_for_every_parameter_and_input(new, entry):
    status, page = new(entry.key)
    assert status == 200
    for parameter in entry.parameters:
        assert f'name="parameter_{parameter.name}"' in page
        assert f'id="fault-parameter_{parameter.name}"' in page
        assert parameter.title in page
    for one in entry.inputs:
        assert f'<label class="lab" for="id_input_{one.key}">{one.title}' in page
        assert f'placeholder="{one.path}"' in page
    assert ("Model that judges" in page) is entry.asks


def test_it_is_saved_shown_and_edited_again(new, as_alice, project):
    typed = fields("contains_all", parameter_keywords="refund\r\n7 days", input_text="outputs.answer", threshold="100")
    status, _ = new("contains_all", typed)
    assert status == 302
    evaluator = Evaluator.objects.get(project=project)
    config = evaluator.published_version.config
    assert config["parameters"] == {"keywords": ["refund", "7 days"], "case_sensitive": True}
    assert (config["mapping"], config["threshold"]) == ({"text": "outputs.answer"}, 1.0)
    shown = as_alice.get(reverse("evaluator-page", args=[project.slug, evaluator.pk])).content.decode()
    assert "refund\n7 days" in shown
    assert "<code>outputs.answer</code>" in shown
    edit = as_alice.get(reverse("evaluator-edit", args=[project.slug, evaluator.pk])).content.decode()
    assert "refund\n7 days</textarea>" in edit
    assert "data-dirty hidden" in edit, "nothing differs from what is saved"


@pytest.mark.parametrize("more", [{}, HTMX])
def test_what_is_wrong_stands_beside_its_field_and_nothing_typed_is_lost(new, more):
    typed = fields("length_between", parameter_min_length="9", parameter_max_length="5", input_text="output.value")
    status, page = new("length_between", typed, **more)
    assert status == 422
    assert "The greatest length must not be below the least." in page
    assert 'data-error-for="id_parameter_max_length"' in page
    assert 'data-fix-to="outputs"' in page
    if not more:
        assert 'value="9"' in page
        assert 'value="output.value"' in page
    assert not Evaluator.objects.exists()


def test_hostile_settings_are_shown_as_text(new, as_alice, project):
    evil = "<script>alert(1)</script>\"'{{ 7 }}"
    status, page = new("contains", fields("contains", parameter_keyword=evil, input_text="=" + evil, threshold="x"))
    assert status == 422
    assert "<script>alert" not in page
    assert new("contains", fields("contains", parameter_keyword=evil, name="Evil"))[0] == 302
    shown = as_alice.get(reverse("evaluator-page", args=[project.slug, Evaluator.objects.get().pk])).content.decode()
    assert "<script>alert" not in shown
    assert "&lt;script&gt;" in shown


def test_a_viewer_makes_none_and_a_stranger_sees_none(client, project, bob, charlie):
    address = reverse("evaluator-new", args=[project.slug, "builtin"])
    client.force_login(bob)
    assert client.post(address + "?draft=b1", fields("is_json")).status_code == 403
    client.force_login(charlie)
    assert client.get(address).status_code == 404


@pytest.mark.django_db(transaction=True)
def test_the_bench_scores_unsaved_settings_and_tells_the_detail(as_alice, project):
    address = reverse("evaluator-bench", args=[project.slug])
    typed = on_pasted(fields("contains_all", parameter_keywords="working days\nbank"), SAMPLE)
    page = as_alice.post(address, typed, **HTMX).content.decode()
    assert "Missing: “bank”." in page
    assert "0\u00a0%" in page
    lacking = as_alice.post(address, on_pasted(fields("is_json"), {"inputs": {}}), **HTMX).content.decode()
    assert "The case has no outputs.value." in lacking
    nothing = as_alice.post(address, on_pasted(fields("is_json") | {"entry": ""}), **HTMX)
    assert nothing.status_code == 422


@pytest.mark.django_db(transaction=True)
def test_a_run_scores_every_output_with_all_measures(project, alice):
    experiment = experiment_of(project, 3)
    extra = add_case(experiment.dataset_version.dataset, "case-leak", 3)
    add_output(experiment, extra, {"outputs": {"value": "Ask jo@corp.org", "contexts": ["nothing"]}})
    empty = add_case(experiment.dataset_version.dataset, "case-empty", 4)
    add_output(experiment, empty, {"outputs": {"other": 1}})
    evaluator = Evaluator.objects.create(project=project, name="Leaks", kind="builtin")
    version = evaluator.revise(BUILTIN.start(catalogue.get("pii_leakage")), schema=1, author=alice)
    run = start(version, experiment, alice)
    work("cpu")
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    rows = {row.output.case.key: row for row in Evaluation.objects.select_related("output__case", "body")}
    assert rows["case-000"].score == 1
    leak = rows["case-leak"]
    assert (leak.state, leak.score, leak.passed) == (Status.SCORED, 0, False)
    assert leak.body.measures == {
        "pass_rate": 0,
        "failure_rate": 1,
        "retrieval_failure_rate": 0,
        "generation_failure_rate": 1,
        "parse_failure_rate": 0,
    }
    assert leak.body.reason == "Answer: email j••••••••g"
    assert (rows["case-empty"].state, rows["case-empty"].why) == (Status.UNSCORED, "missing")


def test_the_api_makes_one_from_its_configuration(as_alice, project):
    address = f"/api/projects/{project.slug}/evaluators/"
    config = {"entry": "regex_match", "parameters": {"pattern": "a+"}}
    made = as_alice.post(address, {"name": "As", "kind": "builtin", "config": config}, content_type="application/json")
    assert made.status_code == 201, made.content
    stored = Evaluator.objects.get(project=project).published_version.config
    assert stored["parameters"] == {"pattern": "a+", "full_match": False}
    assert stored["threshold"] == 0.5
    for wrong in ({"pattern": "("}, {"pattern": 3}, {"colour": "red"}):
        body = {"name": "Bs", "kind": "builtin", "config": {"entry": "regex_match", "parameters": wrong}}
        refused = as_alice.post(address, body, content_type="application/json")
        assert refused.status_code == 400, json.dumps(wrong)
