"""Making an evaluator in the browser: describe, test, mend, save, come back, save again."""

import json
import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from evaluators.kinds import KINDS
from evaluators.models import Draft, Evaluator, Scale
from evaluators.starters import STARTERS
from experiments.models import Case, CaseSpan, Dataset, DatasetVersion, Experiment, Output, OutputBody, System
from tests.browser_fixtures import axe_findings, overflow, sign_in
from tests.evaluators.editor_forms import SAMPLE, rehearsal

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SLOW_MS = 20_000  # the sandbox is built once for each process


@pytest.fixture
def connection(project):
    return rehearsal(project)


@pytest.fixture
def visit(page, live_server, alice, project, connection):
    """Open a page of the project as alice."""
    sign_in(page, live_server, alice)

    def go(name, *args, query=""):
        page.goto(live_server.url + reverse(name, args=[project.slug, *args]) + query)
        return page

    return go


@pytest.fixture
def cases(project, alice):
    """Three cases, and what a system answered to each."""
    dataset = Dataset.objects.create(project=project, name="Support answers", latest_version=1)
    version = DatasetVersion.objects.create(dataset=dataset, number=1, n_cases=3)
    system = System.objects.create(project=project, name="Bot")
    experiment = Experiment.objects.create(project=project, system=system, dataset_version=version, source="file")
    for number in range(3):
        content = {"inputs": {"question": f"Question {number}?"}, "expected_outputs": {"value": f"Answer {number}"}}
        case = Case.objects.create(dataset=dataset, key=f"case-{number}", content_hash=str(number), **content)
        CaseSpan.objects.create(dataset=dataset, case=case, key=case.key, position=number, added_in=1)
        output = Output.objects.create(experiment=experiment, case=case, content_hash="x")
        OutputBody.objects.create(output=output, outputs={"value": f"Answer {number}"})
    return experiment


def write(page, field, text):
    """Replace what stands in a code editor, as somebody who types would."""
    editor = page.locator(f"#{field} + .code-editor .cm-content")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.insert_text(text)


def paste(page, sample):
    page.get_by_text("Pasted JSON").click()
    write(page, "id_pasted_sample", json.dumps(sample))


def run_test(page):
    with page.expect_response(re.compile("/evaluators/bench/"), timeout=SLOW_MS):
        page.get_by_role("button", name="Run test").click()


def fill_options(page, *rows):
    for index, (label, percentage) in enumerate(rows):
        page.locator("[name=option_label]").nth(index).fill(label)
        page.locator("[name=option_percentage]").nth(index).fill(percentage)


def test_a_judge_from_the_blank_to_its_second_version(visit, page):
    visit("evaluator-new")
    page.get_by_role("link", name="AI judge", exact=True).click()
    page.get_by_label("Name").fill("Right answer")
    write(page, "id_prompt", "Is this right?\n{{ outputs.value }}\nThe truth:\n{{ expectedOutput.value }}")
    fill_options(page, ("Right", "100"), ("Wrong", "0"))
    page.get_by_label("Passes at, %").fill("50")
    paste(page, SAMPLE)
    page.get_by_role("button", name="Save as v1").click()
    page.get_by_text("Nothing was saved.").wait_for()

    run_test(page)
    page.get_by_text("Nothing was saved.").wait_for(state="detached")
    fault = page.locator("#fault-prompt .err")
    fault.wait_for()
    expect(fault).to_contain_text("Line 4")
    expect(page.locator(".cm-bad-line")).to_have_text("{{ expectedOutput.value }}")
    page.get_by_role("button", name="expectedOutputs", exact=True).click()
    page.locator(".cm-bad-line").wait_for(state="detached")

    page.keyboard.press("Control+Enter")
    page.locator(".verdictbox").wait_for()
    expect(page.locator(".vb-n")).to_have_text("100\u00a0%")
    expect(page.locator(".vb-l")).to_have_text("Right")
    expect(page.locator("#fault-prompt .err")).to_have_count(0)
    expect(page.locator(".part.o-output code")).to_have_text("outputs.value")
    page.get_by_role("tab", name="Raw reply").click()
    assert '"label"' in page.get_by_role("region", name="Raw reply 1 of the model").inner_text()

    page.keyboard.press("Control+s")
    page.get_by_text("Saved v1 of Right answer.").wait_for()
    page.get_by_role("link", name="Edit E").click()
    page.get_by_label("Reasoning guide").fill("Compare the days.")
    page.get_by_text("Guide differs from v1. Draft kept at").wait_for()

    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.get_by_label("Reasoning guide")).to_have_value("Compare the days.")
    expect(page.get_by_text("Unsaved edits", exact=True)).to_be_visible()
    page.get_by_label("Note for v2").fill("Say how to reason")
    page.get_by_role("button", name="Save as v2").click()
    page.get_by_text("Saved v2 of Right answer.").wait_for()
    version = Evaluator.objects.get().published_version
    assert (version.number, version.note, version.config["guide"]) == (2, "Say how to reason", "Compare the days.")


def test_a_heuristic_shows_the_line_of_a_syntax_error_and_its_console(visit, page):
    visit("evaluator-new", "heuristic")
    page.get_by_label("Name").fill("Short")
    paste(page, SAMPLE)
    write(page, "id_code", "function evaluate({ outputs }) {\n  return outputs.value.length < ;\n}")
    run_test(page)
    page.locator("#fault-code .err").wait_for()
    assert page.locator("#fault-code .err").inner_text().startswith("Line 2")
    expect(page.locator(".cm-bad-line")).to_contain_text("return")

    write(page, "id_code", "function evaluate({ outputs }) {\n  console.log('length', 42);\n  return 0.25;\n}")
    run_test(page)
    page.locator(".verdictbox").wait_for()
    expect(page.locator(".vb-n")).to_have_text("25\u00a0%")
    assert page.get_by_role("region", name="Console lines").inner_text().strip() == "length 42"
    expect(page.locator("#fault-code .err")).to_have_count(0)
    page.get_by_role("button", name="Save as v1").click()
    page.get_by_text("Saved v1 of Short.").wait_for()


def test_a_refused_save_keeps_everything_and_leads_to_the_fault(visit, page):
    visit("evaluator-new", "heuristic")
    page.get_by_label("Passes at, %").fill("lots")
    page.get_by_role("button", name="Save as v1").click()
    page.get_by_text("Nothing was saved.").wait_for()
    expect(page.locator("#fault-name")).to_have_text("Give it a name.")
    expect(page.get_by_label("Passes at, %")).to_have_value("lots")
    expect(page.get_by_label("Passes at, %")).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#id_name")).to_be_focused()


def test_leaving_with_unsaved_edits_warns(visit, page):
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    visit("evaluator-new", "heuristic")
    page.get_by_label("Name").fill("Short")
    page.get_by_role("link", name="Evaluators").first.click()
    page.get_by_role("heading", name="Evaluators").wait_for()
    assert asked == ["beforeunload"]


def test_the_editor_completes_the_paths_of_the_chosen_case(visit, page, cases):
    visit("evaluator-new", "judge")
    page.locator("#pick-case").wait_for()
    write(page, "id_prompt", "Judge ")
    page.keyboard.type("{{ ")
    offered = page.locator(".cm-tooltip-autocomplete li")
    offered.first.wait_for()
    words = offered.all_inner_texts()
    assert any("outputs.value" in word and "Answer 0" in word for word in words)
    assert not any("steps" in word for word in words)
    page.keyboard.type("outputs.v")
    page.get_by_role("option", name=re.compile("^outputs.value")).wait_for()
    page.wait_for_timeout(150)  # a completion takes no key for a moment after it opens
    page.keyboard.press("Enter")
    expect(page.locator("#id_prompt")).to_have_value("Judge {{ outputs.value }}")


def test_any_case_can_be_picked_and_its_output_too(visit, page, cases):
    visit("evaluator-new", "heuristic")
    page.locator("#pick-case").wait_for()
    page.get_by_role("button", name="Next case").click()
    page.locator("#pick-case option:checked", has_text="case-1").wait_for(state="attached")
    write(page, "id_code", "function evaluate(all) { console.log(JSON.stringify(all.outputs)); return 1; }")
    run_test(page)
    page.get_by_text('{"value":"Answer 1"}').wait_for()

    page.get_by_label("Find a case by its key").fill("case-2")
    page.locator("#pick-case option:checked", has_text="case-2").wait_for(state="attached")
    page.get_by_label("Outputs of").select_option("pasted")
    page.get_by_label("Output", exact=True).fill("My own answer")
    run_test(page)
    page.get_by_text('{"value":"My own answer"}').wait_for()


def test_options_are_added_lettered_and_removed_in_place(visit, page):
    visit("evaluator-new", "judge")
    fill_options(page, ("Right", "100"), ("Wrong", "0"))
    page.get_by_role("button", name="Add option").click()
    page.get_by_label("Label of option C").fill("Unsure")
    page.get_by_role("button", name="Remove option A").click()
    expect(page.get_by_label("Label of option B")).to_have_value("Unsure")
    expect(page.locator("[data-option]")).to_have_count(2)
    page.get_by_text("Number", exact=True).click()
    expect(page.get_by_label("Label of option A")).to_be_hidden()


def test_another_model_of_a_connection_is_typed_and_kept(visit, page, connection):
    visit("evaluator-new", "judge", query="?start=factual_consistency")
    page.get_by_label("Model", exact=True).select_option(label="Another model on Rehearsal …")
    page.get_by_label("Name of the model on Rehearsal").fill("rehearsal-2")
    page.get_by_text("Draft kept").wait_for()
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.get_by_label("Model", exact=True)).to_have_value(f"{connection.pk}:rehearsal-2")


def second_result(experiment):
    """What another system answered to the same cases."""
    system = System.objects.create(project=experiment.project, name="Other bot")
    second = Experiment.objects.create(
        project=experiment.project, system=system, dataset_version=experiment.dataset_version, source="file"
    )
    for case in Case.objects.filter(dataset=experiment.dataset_version.dataset):
        output = Output.objects.create(experiment=second, case=case, content_hash="y")
        OutputBody.objects.create(output=output, outputs={"value": f"Something else {case.key}"})
    return second


def open_step(page, name):
    page.get_by_role("tab", name=re.compile(name)).click()


def test_the_two_steps_are_walked_by_keyboard_and_stand_in_the_address(visit, page, cases):
    visit("evaluator-new", "judge", query="?start=factual_consistency")
    page.get_by_role("tab", name="1 Describe").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="2 Mapping")).to_have_attribute("aria-selected", "true")
    expect(page).to_have_url(re.compile("#mapping$"))
    expect(page.get_by_label("Name", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Add variable").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.name") == "variable_name"
    page.keyboard.type("Ground_Truth")
    page.keyboard.press("Tab")
    page.keyboard.type("expectedOutputs.valu")
    page.get_by_text("1 variable differs from the starting point. Draft kept at").wait_for()

    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    expect(page.get_by_label("Name of variable 1")).to_have_value("Ground_Truth")
    page.get_by_role("button", name="expectedOutputs.value", exact=True).click()
    expect(page.get_by_label("Path of variable 1")).to_have_value("expectedOutputs.value")
    page.locator(".reach-lacking", has_text="expectedOutputs").wait_for(state="detached")
    page.get_by_role("button", name="Remove variable 1").click()
    expect(page.get_by_label("Name of variable 1")).to_have_count(0)
    open_step(page, "Describe")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Factual consistency")
    page.get_by_text("Nothing differs from the starting point.", exact=True).wait_for()
    assert page.get_by_text("Unsaved edits", exact=True).is_hidden()


def test_paths_of_the_mapping_are_completed_from_the_chosen_case(visit, page, cases):
    visit("evaluator-new", "judge", query="#mapping")
    page.locator("#case-path-list option[value='outputs.value']").wait_for(state="attached")
    page.get_by_role("button", name="Add image").click()
    expect(page.get_by_label("Path of image 1")).to_have_attribute("list", "case-path-list")


def test_a_fault_in_the_hidden_step_opens_it_and_is_counted_on_its_tab(visit, page, cases):
    visit("evaluator-new", "judge", query="?start=factual_consistency#mapping")
    page.get_by_role("button", name="Add variable").click()
    page.get_by_label("Name of variable 1").fill("Truth")
    page.get_by_label("Path of variable 1").fill("expectedOutput.value")
    open_step(page, "Describe")
    page.get_by_role("button", name="Save as v1").click()
    page.get_by_text("Nothing was saved.").wait_for()
    page.get_by_role("tab", name="2 Mapping 1").wait_for()
    expect(page).to_have_url(re.compile("#mapping$"))
    expect(page.locator("[id='id_variable_path.0']")).to_be_focused()
    page.get_by_role("button", name="expectedOutputs", exact=True).click()
    page.get_by_role("button", name="Save as v1").click()
    page.get_by_text("Saved v1 of Factual consistency.").wait_for()


def test_a_comparison_is_described_tested_in_both_orders_and_saved(visit, page, cases):
    second_result(cases)
    visit("evaluator-new", "judge")
    page.get_by_label("Name", exact=True).fill("Which is better")
    expect(page.get_by_text("Ask in both orders")).to_be_hidden()
    page.get_by_text("A comparison of two").click()
    page.get_by_text("Baseline output", exact=False).first.wait_for()
    expect(page.locator(".case-side")).to_have_text(["Answer 0", "Something else case-0"])
    expect(page.get_by_text("Ask in both orders")).to_be_visible()
    write(
        page,
        "id_prompt",
        "Which is right?\n{{ outputs.value }}\n{{ comparison.outputs.value }}\nThe truth:\n{{ expectedOutputs.value }}",
    )
    fill_options(page, ("Compared", "100"), ("Baseline", "0"))
    run_test(page)
    page.locator(".verdictbox").wait_for()
    expect(page.locator(".verdictbox")).to_contain_text("2 calls")
    page.get_by_role("tab", name="Exchanged").click()
    expect(page.locator("#tested-exchanged .part", has_text="comparison.outputs")).to_contain_text("Baseline output")
    assert looked_at(page) == []
    page.get_by_role("button", name="Save as v1").click()
    page.get_by_text("Saved v1 of Which is better.").wait_for()
    assert Evaluator.objects.get().versions.get().config["runs_on"] == "comparison"


def test_both_results_of_a_comparison_can_be_changed(visit, page, cases):
    second_result(cases)
    visit("evaluator-new", "heuristic")
    page.get_by_text("A comparison of two").click()
    page.get_by_label("Compared result").select_option("pasted")
    page.get_by_label("Compared output", exact=True).fill("My own")
    code = "function evaluate({ outputs, comparison }) { console.log(comparison.outputs.value); return 1; }"
    write(page, "id_code", code)
    run_test(page)
    page.get_by_role("region", name="Console lines").get_by_text("My own").wait_for()


def test_a_shared_scale_takes_the_place_of_own_options(visit, page, project):
    options = [{"label": "HIGH", "percentage": 100, "description": ""}, {"label": "LOW", "percentage": 0}]
    Scale.objects.create(project=project, name="Accuracy", scoring={"type": "enum", "options": options})
    visit("evaluator-new", "heuristic")
    page.get_by_label("Scale of the project").select_option(label="Accuracy")
    expect(page.get_by_text("HIGH", exact=True)).to_be_visible()
    expect(page.get_by_label("Lowest")).to_be_hidden()
    page.get_by_label("Scale of the project").select_option(label="its own")
    expect(page.get_by_text("HIGH", exact=True)).to_be_hidden()
    expect(page.get_by_label("Lowest")).to_be_visible()


def test_undoing_every_edit_takes_the_note_of_the_draft_and_the_warning_away(visit, page):
    asked = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    visit("evaluator-new", "heuristic")
    page.get_by_label("Name", exact=True).fill("Short")
    page.get_by_text("Draft kept at").wait_for()
    page.get_by_label("Name", exact=True).fill("")
    page.get_by_text("Nothing differs from the blank.", exact=True).wait_for()
    page.get_by_role("link", name="Evaluators").first.click()
    page.get_by_role("heading", name="Evaluators", exact=True).wait_for()
    assert asked == []


def test_two_tabs_of_one_person_do_not_replace_each_others_edits_unseen(visit, page, troubles):
    visit("evaluator-new", "heuristic")
    other = page.context.new_page()
    other.goto(page.url)
    page.get_by_label("Name", exact=True).fill("First")
    page.get_by_text("Draft kept at").wait_for()
    other.get_by_label("Name", exact=True).fill("Second")
    other.get_by_text("Another tab of yours kept edits of this").wait_for()
    other.get_by_label("Name", exact=True).fill("Second, and meant so")
    other.get_by_text("Draft kept at").wait_for()
    assert Draft.objects.get().typed_name == "Second, and meant so"


def test_without_javascript_both_steps_stand_on_the_page_and_rows_can_be_added(
    browser, live_server, alice, project, connection
):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server, alice)
    page.goto(live_server.url + reverse("evaluator-new", args=[project.slug, "judge"]))
    page.get_by_label("Name", exact=True).fill("Right answer")
    page.get_by_role("button", name="Add variable").click()
    page.get_by_label("Name of variable 1").fill("Truth")
    page.get_by_role("button", name="Add image").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Right answer")
    expect(page.get_by_label("Name of variable 1")).to_have_value("Truth")
    expect(page.get_by_label("Path of image 1")).to_be_visible()
    context.close()


def test_a_version_saved_meanwhile_is_shown_and_can_be_followed(visit, page, project, alice):
    evaluator = Evaluator.objects.create(project=project, name="Short", kind="heuristic")
    evaluator.revise(KINDS["heuristic"].blank(), schema=1, author=alice)
    visit("evaluator-edit", evaluator.pk)
    evaluator.revise(KINDS["heuristic"].blank() | {"seed": 7}, schema=1, author=alice)
    page.get_by_label("Passes at, %").fill("30")
    page.get_by_role("button", name="Save as v2").click()
    page.get_by_text("v2 was saved while you were editing").wait_for()
    expect(page.get_by_label("Passes at, %")).to_have_value("30")
    page.get_by_role("button", name="Save mine as v3").click()
    page.get_by_text("Saved v3 of Short.").wait_for()


def test_the_list_is_searched_as_one_types(visit, page, project, alice):
    for name in ("Short", "Right answer"):
        evaluator = Evaluator.objects.create(project=project, name=name, kind="heuristic")
        evaluator.revise(KINDS["heuristic"].blank(), schema=1, author=alice)
    visit("evaluator-list")
    page.keyboard.press("/")
    page.keyboard.type("right")
    page.get_by_role("link", name="Short", exact=True).wait_for(state="detached")
    expect(page.get_by_role("link", name="Right answer", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?q=right"))


def looked_at(page):
    """Trouble at three widths and in both themes."""
    found = []
    page.emulate_media(reduced_motion="reduce")  # so that no colour is looked at on its way to another
    for width, themes in ((320, ["light"]), (768, []), (1440, ["light", "dark"])):
        page.set_viewport_size({"width": width, "height": 900})
        if overflow(page) > 0:
            found.append(f"wider than {width}")
        for theme in themes:
            page.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
            found += [f"{width} {theme} {finding}" for finding in axe_findings(page)]
    return found


def test_every_page_of_evaluators_is_fit_for_everyone(visit, page, project, alice, connection, cases):
    starter = STARTERS["factual_consistency"]
    evaluator = Evaluator.objects.create(project=project, name="Facts", kind=starter.kind)
    config = starter.config | {"connection_id": connection.pk, "model": "rehearsal"}
    evaluator.revise(config, schema=1, author=alice, note="First")
    for name, args in (("evaluator-list", ()), ("evaluator-new", ()), ("evaluator-page", (evaluator.pk,))):
        visit(name, *args)
        assert (name, looked_at(page)) == (name, [])
    visit("evaluator-edit", evaluator.pk)
    page.locator("#pick-case").wait_for()
    run_test(page)
    page.locator(".verdictbox").wait_for()
    assert looked_at(page) == []
    page.locator("[name=option_percentage]").first.fill("all")
    run_test(page)
    page.get_by_text("Not tested.").wait_for()
    assert looked_at(page) == []
    open_step(page, "Mapping")
    page.get_by_role("button", name="Add variable").click()
    page.get_by_label("Path of variable 1").fill("inputs.nowhere")
    page.locator(".reach-lacking").wait_for()
    assert looked_at(page) == []
