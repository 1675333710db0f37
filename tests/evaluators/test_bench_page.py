"""The test bench runs unsaved edits on one sample and shows everything that came of it."""

import json

import pytest
from django.urls import reverse

from evalstudio.calls.models import Call, Connection
from evaluators.models import Evaluator
from tests.evaluators.editor_forms import SAMPLE, heuristic_fields, judge_fields, on_pasted, rehearsal

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def bench(as_alice, project):
    """Run the bench as alice: (the status, the fragment)."""

    def run(fields, **more):
        reply = as_alice.post(reverse("evaluator-bench", args=[project.slug]), fields, **HTMX, **more)
        return reply.status_code, reply.content.decode()

    return run


@pytest.fixture
def served(project, chat_server):
    """A connection to a real server that answers as a judge."""
    chat_server.reply = json.dumps({"reason": "The days agree.", "label": "Right"})
    return Connection.objects.create(
        project=project,
        name="Local",
        base_url=chat_server.url,
        model="tiny",
        usd_per_million_in=1,
        usd_per_million_out=2,
    )


pytestmark = pytest.mark.django_db(transaction=True)  # the chat client reads connections in a thread of its own


def test_it_shows_score_label_reason_and_what_it_took(bench, served):
    status, page = bench(on_pasted(judge_fields(served)))
    assert status == 200
    assert "100\u00a0%" in page
    assert '<span class="vb-l">Right</span>' in page
    assert "The days agree." in page
    assert "passes at 50\u00a0%" in page
    assert "1 call<" in page
    assert "tokens in" in page
    assert "not from cache" in page


def test_the_message_is_shown_in_parts_by_origin(bench, served):
    _, page = bench(on_pasted(judge_fields(served)))
    assert '<div class="part o-output"><b>Output <br><code>outputs.value</code></b>' in page
    assert '<div class="part o-case"><b>Case <br><code>inputs.question</code></b>' in page
    assert "<b>Reply rules" in page


def test_the_same_test_again_costs_nothing(bench, served, chat_server):
    bench(on_pasted(judge_fields(served)))
    _, page = bench(on_pasted(judge_fields(served)))
    assert chat_server.calls == 1
    assert ">from cache<" in page
    assert "0 calls" in page
    assert Call.objects.get().reusable


def test_a_reply_that_cannot_be_read_is_unscored_and_every_reply_is_shown(bench, served, chat_server):
    chat_server.reply = "Perhaps."
    status, page = bench(on_pasted(judge_fields(served)))
    assert status == 200
    assert "no score" in page
    assert "unparsed" in page
    assert "Raw replies" in page
    assert "Asked again, 2" in page
    assert not Call.objects.exists()


def test_a_server_that_cannot_be_reached_is_said_so(bench, project):
    gone = Connection.objects.create(project=project, name="Gone", base_url="http://127.0.0.1:9/v1", model="tiny")
    status, page = bench(on_pasted(judge_fields(gone)))
    assert status == 200
    assert "unreachable" in page


def test_the_rehearsal_is_marked_as_no_language_model(bench, project):
    _, page = bench(on_pasted(judge_fields(rehearsal(project))))
    assert "rehearsal, no language model" in page


def test_nothing_is_saved(bench, served):
    bench(on_pasted(judge_fields(served)))
    assert not Evaluator.objects.exists()


def test_a_name_is_not_needed_for_a_test(bench, served):
    assert bench(on_pasted(judge_fields(served, name="")))[0] == 200


def test_a_fault_in_the_form_shows_beside_its_field_and_asks_nobody(bench, served, chat_server):
    status, page = bench(on_pasted(judge_fields(served, prompt="{{ outpust.value }}")))
    assert status == 422
    assert 'id="fault-prompt" hx-swap-oob="true"' in page
    assert 'data-fix-to="outputs"' in page
    assert chat_server.calls == 0


def test_faults_that_are_mended_are_taken_away(bench, served):
    _, page = bench(on_pasted(judge_fields(served)))
    assert '<div class="faults" id="fault-prompt" hx-swap-oob="true"></div>' in page


def test_a_bad_sample_says_where(bench, served):
    status, page = bench(on_pasted(judge_fields(served), '{"inputs": {}\n"outputs"'))
    assert status == 422
    assert "Line 2, column 1" in page


def test_a_path_the_case_lacks_is_unscored_and_named(bench, served):
    status, page = bench(on_pasted(judge_fields(served), {"inputs": {}, "outputs": {"value": "x"}}))
    assert status == 200
    assert "inputs.question" in page
    assert "missing" in page


def test_the_chosen_case_comes_as_json_and_its_outputs_may_be_pasted(bench, served):
    sample = json.dumps({**SAMPLE, "outputs": None})
    chosen = {"sample_from": "case", "sample": sample, "sample_outputs": "Within a week."}
    _, page = bench(judge_fields(served) | chosen)
    assert "Within a week." in page


def test_data_is_escaped_wherever_it_stands(bench, served, chat_server):
    nasty = "<script>alert(1)</script>"
    chat_server.reply = json.dumps({"reason": nasty, "label": "Right"})
    _, page = bench(on_pasted(judge_fields(served), {**SAMPLE, "outputs": {"value": nasty}}))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_a_heuristic_shows_its_console_lines(bench):
    status, page = bench(on_pasted(heuristic_fields()))
    assert status == 200
    assert "words 7" in page
    assert "Rendered message" not in page


def test_a_syntax_error_of_a_heuristic_shows_its_line(bench):
    status, page = bench(on_pasted(heuristic_fields(code="function evaluate() {\n  return 1 +;\n}")))
    assert status == 422
    assert 'data-error-for="id_code" data-line="2"' in page


def test_a_thrown_error_is_failed_with_its_message(bench):
    status, page = bench(on_pasted(heuristic_fields(code="function evaluate() { throw new Error('too odd'); }")))
    assert status == 200
    assert "too odd" in page
    assert "thrown" in page


def test_a_value_outside_the_scale_is_unscored(bench):
    _, page = bench(on_pasted(heuristic_fields(code="function evaluate() { return 7; }")))
    assert "off scale" in page


def test_without_javascript_the_whole_editor_comes_back_with_the_result(as_alice, project, served):
    fields = judge_fields(served) | {"pasted_sample": json.dumps(SAMPLE)}
    page = as_alice.post(reverse("evaluator-bench", args=[project.slug]), fields).content.decode()
    assert "The days agree." in page
    assert "Is this right?" in page
    assert "</html>" in page


def test_a_viewer_may_not_run_it_and_a_stranger_finds_nothing(client, bob, charlie, project, served):
    for person, status in ((bob, 403), (charlie, 404)):
        client.force_login(person)
        reply = client.post(reverse("evaluator-bench", args=[project.slug]), on_pasted(judge_fields(served)))
        assert reply.status_code == status


def test_a_connection_of_another_project_is_refused(bench, alice):
    from evalstudio.projects.models import Project

    other = rehearsal(Project.start("Other", alice))
    status, page = bench(on_pasted(judge_fields(other)))
    assert status == 422
    assert 'data-error-for="id_model"' in page


def test_the_paths_of_a_pasted_sample_are_those_that_exist(as_alice, project):
    url = reverse("evaluator-paths", args=[project.slug])
    paths = as_alice.post(url, {"pasted_sample": json.dumps(SAMPLE)}).json()
    assert {"path": "inputs.question", "preview": "When do I get my money back?"} in paths
    assert [each["path"] for each in paths if each["path"].startswith("steps")] == []
    assert as_alice.post(url, {"pasted_sample": "{"}).json() == []


# Comparisons

PAIR = {**SAMPLE, "comparison": {"outputs": {"value": "Whenever."}}}
BOTH = "{{ inputs.question }} {{ outputs.value }} {{ comparison.outputs.value }}"


def comparing(connection, **more):
    options = {"option_label": ["Compared", "Baseline"], "option_description": ["", ""]}
    return judge_fields(connection, runs_on="comparison", prompt=BOTH, **options) | more


def test_a_comparison_is_asked_in_both_orders_and_a_verdict_that_changes_is_said_in_words(bench, served, chat_server):
    chat_server.reply = json.dumps({"reason": "It came first.", "label": "Baseline"})
    status, page = bench(on_pasted(comparing(served), PAIR))
    assert status == 200
    assert chat_server.calls == 2
    assert "The verdict changes with the order." in page
    assert "50\u00a0%" in page
    assert "<h3>In the order given</h3>" in page
    assert "<h3>Outputs exchanged</h3>" in page
    assert "Baseline output <br><code>outputs.value</code>" in page
    assert "Baseline output <br><code>comparison.outputs.value</code>" in page


def test_in_one_order_it_is_asked_once(bench, served, chat_server):
    chat_server.reply = json.dumps({"reason": "", "label": "Compared"})
    fields = comparing(served)
    del fields["both_orders"]
    _, page = bench(on_pasted(fields, PAIR))
    assert chat_server.calls == 1
    assert "order" not in page.partition("Rendered message")[0]
    assert "tested-exchanged" not in page


def test_a_comparison_without_a_second_output_says_what_to_do(bench, served, chat_server):
    status, page = bench(on_pasted(comparing(served)))
    assert status == 422
    assert "A comparison needs a second output." in page
    assert chat_server.calls == 0


def test_both_outputs_may_be_pasted_beside_a_chosen_case(bench, served):
    sample = json.dumps({**SAMPLE, "outputs": None})
    chosen = {"sample_from": "case", "sample": sample, "sample_outputs": "Soon.", "sample_comparison": "Later."}
    _, page = bench(comparing(served) | chosen)
    assert "Soon." in page
    assert "Later." in page


def test_an_evaluator_of_one_result_never_sees_a_second_one(bench):
    code = "function evaluate({ comparison = 'none' }) { console.log(comparison); return 1; }"
    _, page = bench(on_pasted(heuristic_fields(code=code), PAIR))
    assert ">none\n</pre>" in page


def test_a_comparing_heuristic_sees_both(bench):
    code = (
        "function evaluate({ outputs, comparison }) {"
        " return outputs.value.length > comparison.outputs.value.length ? 1 : 0; }"
    )
    _, page = bench(on_pasted(heuristic_fields(code=code, runs_on="comparison"), PAIR))
    assert "100\u00a0%" in page


# What else it shows


def test_variables_are_parts_of_the_message_with_the_path_they_come_from(bench, served):
    more = {"variable_name": ["Ground_Truth"], "variable_path": ["expectedOutputs.value"]}
    _, page = bench(on_pasted(judge_fields(served, prompt="{{ Ground_Truth }} {{ outputs.value }}", **more)))
    assert "<b>Case <br><code>expectedOutputs.value</code></b><p>Within 7 working days" in page


def test_pictures_of_the_sample_are_shown_and_other_texts_are_not(bench):
    picture = "data:image/png;base64,iVBORw0KGgo="
    outputs = {"value": "A cat", "image": picture, "script": "data:text/html,<script>alert(1)</script>"}
    _, page = bench(on_pasted(heuristic_fields(), {"outputs": outputs}))
    assert f'<img src="{picture}" alt="Picture at outputs.image' in page
    assert page.count("<img") == 1
    assert "<script>alert" not in page


def test_what_people_grade_is_shown_as_they_will_see_it_and_nothing_runs(bench):
    fields = judge_fields_of_people()
    status, page = bench(on_pasted(fields))
    assert status == 200
    assert "People grade this; nothing runs." in page
    assert "Is it polite?" in page
    assert "verdictbox" not in page


def judge_fields_of_people():
    fields = heuristic_fields(kind="human", instructions="Is it polite?", scoring="enum")
    return fields | {"option_label": ["Yes", "No"], "option_percentage": ["100", "0"], "option_description": ["", ""]}


def test_a_classification_shows_what_was_expected_and_what_it_read(bench):
    fields = {"kind": "classification", "draft": "k", "mode": "multiclass", "labels": "yes\nno", "average": "macro"}
    fields |= {"predicted": "outputs.value", "expected": "expectedOutputs.value"}
    sample = {"outputs": {"value": "yes"}, "expectedOutputs": {"value": "no"}}
    _, page = bench(on_pasted(fields, sample))
    assert '<span class="vb-l">yes</span><span class="t12 muted">expected no</span>' in page
    assert "<dt><code>expectedOutputs.value</code></dt><dd>no</dd>" in page
