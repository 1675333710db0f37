"""Human evaluators and classifications in the browser: writing them, testing them, reading the confusion matrix."""

import json

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from evaluators.models import Evaluator
from experiments.ledger.start import start
from experiments.ledger.turn import work
from experiments.models import RunState
from tests.browser_fixtures import axe_findings, overflow, sign_in
from tests.experiments.judged import add_case, add_output, experiment_of
from tests.experiments.test_confusion import LABELS, classification
from tests.experiments.test_human_runs import human_version

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
WIDTHS = (320, 768, 1440)
SAMPLE = {
    "inputs": {"question": "When do I get my money back?"},
    "expectedOutputs": {"value": "Within 7 working days."},
    "outputs": {"value": "Refunds take 5 to 7 working days.", "language": "en"},
}
PAIRS = [
    *(("billing", "billing"),) * 12,
    *(("billing", "contract"),) * 3,
    ("billing", "refunds of all kinds"),
    *(("contract", "contract"),) * 9,
    *(("contract", "billing"),) * 2,
    *(("a very long label that somebody gave", "contract"),) * 2,
    *(("a very long label that somebody gave",) * 2,) * 5,
]


@pytest.fixture
def visit(page, live_server, alice):
    """Open an address as alice."""
    sign_in(page, live_server, alice)

    def go(address: str):
        page.goto(live_server.url + address)
        return page

    return go


@pytest.fixture
def run(project):
    """A finished classification of outputs with these labels."""
    experiment = experiment_of(project, 0)
    for number, (expected, predicted) in enumerate(PAIRS):
        case = add_case(
            experiment.dataset_version.dataset, f"case-{number:02}", number, expected_outputs={"value": expected}
        )
        add_output(experiment, case, {"outputs": {"value": predicted}})
    labels = [*LABELS["labels"], "a very long label that somebody gave"]
    found = start(classification(project, mode="multiclass", labels=labels), experiment)
    work("cpu")
    found.refresh_from_db()
    assert found.state == RunState.FINISHED
    return found


def editor_of(project, key, start_from=""):
    query = f"?start={start_from}" if start_from else ""
    return reverse("evaluator-new", args=[project.slug, key]) + query


def put_a_sample(page, sample=SAMPLE):
    page.get_by_text("Pasted JSON").click()
    page.evaluate(
        """(text) => { const field = document.getElementById("id_pasted_sample");
           field.value = text; field.dispatchEvent(new Event("input", {bubbles: true})); }""",
        json.dumps(sample),
    )


def is_sound(page, width) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    assert axe_findings(page) == []
    assert overflow(page) == 0


# --- People -----------------------------------------------------------------------------------------------------------
def test_instructions_are_drawn_while_they_are_typed(visit, project):
    page = visit(editor_of(project, "human"))
    page.get_by_label("Instructions", exact=True).fill(
        "# Is it solved?\n\n- Check **money**\n\n<script>alert(1)</script>"
    )
    page.locator("#instructions-shown strong", has_text="money").wait_for()
    expect(page.locator("#instructions-shown h2")).to_have_text("Is it solved?")
    expect(page.locator("#instructions-shown script")).to_have_count(0)


def test_a_human_evaluator_is_written_looked_at_and_saved(visit, project):
    page = visit(editor_of(project, "human", "grade_the_answer"))
    put_a_sample(page)
    page.get_by_role("button", name="Preview").click()
    preview = page.get_by_role("group", name="What a reviewer will see")
    preview.wait_for()
    expect(preview).to_contain_text("Refunds take 5 to 7 working days.")
    preview.get_by_role("radio", name="Partly helpful").check()
    expect(page.locator("[data-dirty]"), "looking at the preview is no edit").to_be_hidden()
    page.get_by_role("button", name="Save as v1").click()
    page.get_by_text("Saved v1 of Grade the answer.").wait_for()
    stored = Evaluator.objects.get().versions.get().config
    assert [option["label"] for option in stored["scoring"]["options"]] == [
        "Helpful",
        "Partly helpful",
        "Not helpful",
    ]
    expect(page.locator(".read h2, .instr h2").first).to_have_text("Does the answer help?")


def test_two_outputs_stand_side_by_side_for_a_pair(visit, project):
    page = visit(editor_of(project, "human", "choose_the_better_answer"))
    put_a_sample(page, SAMPLE | {"comparison": {"outputs": {"value": "You will be refunded."}}})
    page.get_by_role("button", name="Preview").click()
    preview = page.get_by_role("group", name="What a reviewer will see")
    preview.wait_for()
    expect(preview.get_by_role("region", name="B Here the compared result")).to_contain_text("You will be refunded.")
    expect(preview.locator(".grades kbd")).to_have_text(["A", "E", "B"])
    is_sound(page, 320)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_editor_of_people_is_accessible_and_fits(visit, project, width, scheme):
    page = visit(editor_of(project, "human", "grade_the_answer"))
    page.emulate_media(color_scheme=scheme)
    put_a_sample(page)
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("group", name="What a reviewer will see").wait_for()
    is_sound(page, width)


def test_a_run_that_awaits_people_does_not_ask_again_and_again(visit, project):
    run = start(human_version(project), experiment_of(project, 5))
    page = visit(run.get_absolute_url())
    page.get_by_text("Awaits people").wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_timeout(5500)  # longer than any page waits before it asks again
    assert asked == []
    is_sound(page, 320)


# --- Classes ----------------------------------------------------------------------------------------------------------
def test_a_classification_is_written_tested_and_saved(visit, project):
    page = visit(editor_of(project, "classification"))
    page.get_by_label("Name", exact=True).fill("Language")
    expect(page.get_by_label("Declared labels")).to_be_hidden()
    page.get_by_text("Several labels").click()
    page.get_by_label("Declared labels").fill("en\nde\nfr")
    page.get_by_text("2 Mapping").click()
    page.get_by_label("Predicted label").fill("outputs.language")
    page.get_by_label("Expected label").fill("expectedOutputs.language")
    put_a_sample(page, SAMPLE | {"expectedOutputs": {"language": "de"}})
    page.get_by_role("button", name="Run test").click()
    page.locator("#bench-result").get_by_text("en", exact=True).first.wait_for()
    page.get_by_role("button", name="Save as v1").click()
    page.get_by_text("Saved v1 of Language.").wait_for()
    config = Evaluator.objects.get().versions.get().config
    assert (config["labels"], config["predicted"]) == (["en", "de", "fr"], "outputs.language")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_confusion_matrix_is_accessible_and_fits(visit, run, width, scheme):
    page = visit(f"{run.get_absolute_url()}classes/")
    page.emulate_media(color_scheme=scheme)
    page.get_by_role("table", name="Confusion matrix").wait_for()
    is_sound(page, width)


def test_a_cell_opens_its_cases(visit, run):
    page = visit(f"{run.get_absolute_url()}classes/")
    page.get_by_role("link", name="3 19 % of billing called contract").click()
    page.get_by_role("link", name="billing called contract 3").wait_for()
    expect(page.locator("tr[data-row]")).to_have_count(3)
    assert axe_findings(page) == []


def test_the_results_lead_to_the_matrix(visit, run):
    page = visit(run.experiment.get_absolute_url())
    page.get_by_role("link", name="Classes and curves").click()
    page.get_by_role("heading", name="Confusion matrix").wait_for()
