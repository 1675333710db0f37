"""A person curates a dataset in a real browser: finds, edits, commits, looks back; with keys and without scripts."""

import re

import pytest
from playwright.sync_api import expect

from experiments.datasets.committing import Edit, commit
from experiments.datasets.contents import Content
from experiments.models import Case, Dataset, Output
from tests.browser_fixtures import axe_findings, overflow, sign_in
from tests.experiments.curated import asking, case_id, questions
from tests.experiments.importing import bring, jsonl

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG = "It was promised twice, and nothing has come. " * 8
ROWS = [
    {
        "id": f"refund-{n:02}",
        "inputs": {"question": f"Question {n}? {LONG}", "limit": n, "history": [{"role": "user", "content": "Hi"}]},
        "expectedOutputs": {"value": f"Answer {n}."},
        "metadata": {"source": "mail", "tags": ["gold"] if n % 2 else ["hard", "new"]},
        "outputs": {"value": f"Said {n}."},
    }
    for n in range(30)
]


@pytest.fixture
def dataset(project) -> Dataset:
    return bring(project, jsonl(*ROWS), system="bot").dataset


@pytest.fixture
def studio(page, live_server, alice, project):
    sign_in(page, live_server, alice)
    page.emulate_media(reduced_motion="reduce")

    def go(path):
        page.goto(f"{live_server.url}/p/{project.slug}/{path}")
        return page

    return go


def findings(page):
    found = []
    for width, theme in ((320, "light"), (1440, "dark"), (1440, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        found += [f"{width}: {overflow(page)} px too wide"] if overflow(page) else []
        found += [f"{width} {theme}: {finding}" for finding in axe_findings(page)]
    return found


def test_a_case_is_found_edited_and_committed(studio, dataset, bob):
    page = studio(f"datasets/{dataset.pk}/")
    assert findings(page) == []
    page.get_by_role("combobox", name="Tag").select_option("gold")
    page.get_by_text("15 of 30 cases.").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("REFUND-07 promised")
    page.get_by_text("1 of 30 cases.").wait_for()
    expect(page).to_have_url(re.compile("tag=gold"))
    page.locator("[data-row] a").click()
    page.get_by_role("heading", name="refund-07").wait_for()
    page.keyboard.press("e")
    page.get_by_role("heading", name="refund-07", level=1).wait_for()
    assert findings(page) == []

    page.get_by_label("question").fill("What about the seventh?")
    page.get_by_label("limit").fill("{")
    page.keyboard.press("Control+s")
    page.get_by_text("This is no JSON. Line 1, column 2").wait_for()
    expect(page.get_by_label("question")).to_have_value("What about the seventh?")
    assert findings(page) == []
    page.get_by_label("limit").fill("70")
    page.get_by_role("button", name="Add to my changes").last.click()
    page.get_by_role("heading", name="Your changes").wait_for()
    assert findings(page) == []

    commit(dataset, [Edit("refund-07", asking("Bob's seventh"), case_id(dataset, "refund-07"))], bob)
    page.get_by_label("Note").fill("Sharper")
    page.keyboard.press("Control+s")
    page.get_by_text("1 case was changed by somebody else meanwhile").wait_for()
    expect(page.get_by_label("Note")).to_have_value("Sharper")
    assert findings(page) == []
    page.get_by_role("button", name="Keep mine").click()
    page.get_by_role("button", name="Commit 1 change as v3").click()
    page.get_by_text("Committed as version 3").wait_for()
    assert Case.objects.get(pk=case_id(dataset, "refund-07")).inputs["limit"] == 70


def test_cases_are_selected_compared_and_restored(studio, dataset):
    page = studio(f"datasets/{dataset.pk}/")
    page.get_by_label("Select refund-00").check()
    page.get_by_label("Select refund-03").check()
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("2 cases will go, once you commit.").wait_for()
    page.keyboard.press("c")
    page.get_by_role("button", name="Commit 2 changes as v2").click()
    page.get_by_role("link", name="Versions").click()
    page.get_by_role("heading", name="Versions").wait_for()
    assert findings(page) == []
    page.get_by_role("link", name="Changes in version 2").click()
    page.get_by_text("2 removed").wait_for()
    assert findings(page) == []
    page.go_back()
    page.get_by_role("button", name="Restore version 1").click()
    page.get_by_role("dialog").get_by_role("button", name="Restore").click()
    page.get_by_text("Version 3 has the cases of version 1 again.").wait_for()
    assert len(questions(dataset)) == 30


def test_schema_splits_and_duplicates_are_looked_after(studio, dataset, alice):
    twin = Content(ROWS[0]["inputs"], ROWS[0]["expectedOutputs"])
    commit(dataset, [Edit("twin", twin, None), Edit("odd", Content({"question": 5}), None)], alice)
    page = studio(f"datasets/{dataset.pk}/schema/")
    page.get_by_role("link", name="Infer it from the cases").click()
    page.get_by_text("Nothing is saved yet.").wait_for()
    assert findings(page) == []
    schema = page.get_by_label("Inputs")
    schema.fill(schema.input_value().replace('"type": "integer"', '"type": "string"'))
    page.get_by_role("button", name="Save schema").click()
    page.get_by_text("cases of version 2 break the schema").wait_for()
    assert findings(page) == []
    page.get_by_label("Inputs").fill("")
    page.get_by_role("button", name="Save schema").click()
    page.get_by_role("link", name="Splits").click()
    page.get_by_role("button", name="Commit as v3").click()
    page.get_by_text("Committed as questions v3.").wait_for()
    page.get_by_role("link", name="Duplicates").click()
    page.get_by_role("button", name="Remove 1 extra case").wait_for()
    assert findings(page) == []
    page.get_by_role("button", name="Remove 1 extra case").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    page.get_by_text("Committed as version 4: Removed 1 repeated case.").wait_for()
    page = studio(f"datasets/{dataset.pk}/splits/")
    assert findings(page) == []


def test_an_output_is_added_from_the_panel_of_its_result(studio, dataset):
    output = Output.objects.select_related("case").first()
    page = studio(f"experiments/{output.experiment_id}/?peek={output.pk}")
    page.get_by_role("link", name="Add to a dataset").click()
    page.get_by_role("textbox", name="Key").fill("kept")
    assert axe_findings(page) == []
    page.get_by_role("button", name="Add the case").click()
    page.get_by_text("“kept” is in version 2 of questions.").wait_for()
    assert Case.objects.get(key="kept").expected_outputs == {"value": "Said 0."}


def test_without_javascript_cases_are_edited_and_committed_all_the_same(browser, live_server, alice, project, dataset):
    page = browser.new_context(java_script_enabled=False).new_page()
    sign_in(page, live_server, alice)
    page.goto(f"{live_server.url}/p/{project.slug}/datasets/{dataset.pk}/")
    page.locator("[data-row] a").first.click()
    page.get_by_role("link", name="Edit").click()
    page.get_by_label("question").fill("Plain?")
    page.get_by_role("button", name="Add to my changes").last.click()
    page.get_by_role("button", name="Commit 1 change as v2").click()
    page.get_by_text("Committed as version 2: Edited 1 case.").wait_for()
    assert questions(dataset)["refund-00"] == "Plain?"
    page.context.close()
