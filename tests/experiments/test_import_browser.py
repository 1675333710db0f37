"""Importing and browsing cases as a person does it, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from experiments.datasets.importing import running
from experiments.models import Import, ImportState
from tests.browser_fixtures import axe_findings, overflow, sign_in
from tests.experiments.importing import bring, cases_of, jsonl

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

ROWS = [
    {
        "id": f"case-{n:02}",
        "inputs": {"question": f"Question {n}? " + "It goes on for a while, as questions do. " * 5},
        "outputs": {"value": f"Answer {n}."},
        "metadata": {"tier": "gold"},
    }
    for n in range(40)
]


@pytest.fixture
def studio(page, live_server, alice, project):
    """studio(path) opens a page of the project as alice."""
    sign_in(page, live_server, alice)
    page.emulate_media(reduced_motion="reduce")

    def go(path):
        page.goto(f"{live_server.url}/p/{project.slug}/{path}")
        return page

    return go


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(jsonl(*ROWS) + '{"id": "case-01"}\n')
    return path


def findings(page):
    """What axe finds, and what sticks out, at every width and in both themes."""
    found = []
    for width, theme in ((320, "light"), (768, "dark"), (1440, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        found += [f"{width}: {overflow(page)} px too wide"] if overflow(page) else []
        found += [f"{width} {theme}: {finding}" for finding in axe_findings(page)]
    return found


def carry_out():
    job = Import.objects.latest("pk")
    assert job.state == ImportState.WAITING
    assert running.run(job.pk)
    return job


def test_a_file_is_chosen_mapped_and_imported(studio, file):
    page = studio("datasets/")
    page.get_by_role("link", name="Import cases").click()
    assert findings(page) == []
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_label("Dataset").fill("questions")
    page.get_by_role("button", name="Look at the file").click()

    forecast = page.locator("#forecast")
    forecast.get_by_text("Adds 40 cases to “questions” as version 1.").wait_for()
    expect(forecast).to_contain_text("Line 41, id: An earlier row has the key “case-01” already.")
    assert findings(page) == []
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_text("Name the system that made the outputs.").wait_for()
    page.get_by_label("outputs.value becomes").select_option("Expected output")
    forecast.get_by_text("as version 1. 1 row cannot go in.").wait_for()
    page.get_by_label("outputs.value becomes").select_option("Output")
    page.get_by_label("System").fill("bot")
    forecast.get_by_text("Makes an experiment of “bot” with 40 outputs.").wait_for()
    page.get_by_role("button", name="Import", exact=True).click()

    page.get_by_role("heading", name="Waiting for a worker").wait_for()
    assert findings(page) == []
    job = carry_out()
    page.get_by_text("Added 40 cases to “questions” as version 1. Made an experiment of “bot”").wait_for()
    expect(page.get_by_role("cell", name="An earlier row has the key “case-01” already.")).to_be_visible()
    assert findings(page) == []
    assert len(cases_of(Import.objects.get(pk=job.pk).dataset)) == 40
    page.get_by_role("link", name="Open the experiment").click()
    page.get_by_role("heading", name="bot", exact=True).wait_for()


def test_cases_are_found_and_read(studio, project):
    dataset = bring(project, jsonl(*ROWS), system="bot").dataset
    bring(project, jsonl({"id": "case-00", "metadata": {"tier": "tin"}}))
    page = studio(f"datasets/{dataset.pk}/")
    assert findings(page) == []
    page.keyboard.press("/")
    page.keyboard.type("case-3")
    page.wait_for_url("**q=case-3**")
    page.wait_for_function("document.querySelectorAll('#cases [data-row]').length == 10")
    page.locator("[data-row] a").nth(2).click()
    peek = page.get_by_role("complementary", name="One case")
    peek.get_by_role("heading", name="case-32").wait_for()
    expect(peek).to_contain_text("Answer 32.")
    expect(page).to_have_url(re.compile("peek="))
    page.set_viewport_size({"width": 1440, "height": 900})
    assert axe_findings(page) == []
    page.get_by_role("link", name="Next case").click()
    peek.get_by_role("heading", name="case-33").wait_for()
    page.keyboard.press("Escape")
    peek.wait_for(state="hidden")

    page = studio(f"datasets/{dataset.pk}/")
    page.get_by_text("Version 2", exact=True).last.click()
    page.get_by_role("link", name="v1 40 cases").click()
    page.get_by_text("This is version 1 as it was, to read.").wait_for()
    expect(page.locator("[data-row]").first.get_by_text("gold")).to_be_visible()


def test_without_javascript_a_file_goes_in_all_the_same(browser, live_server, alice, project, file):
    page = browser.new_context(java_script_enabled=False).new_page()
    sign_in(page, live_server, alice)
    page.goto(f"{live_server.url}/p/{project.slug}/datasets/import/")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_label("Dataset").fill("questions")
    page.get_by_role("button", name="Look at the file").click()
    page.get_by_label("System").fill("bot")
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("heading", name="Waiting for a worker").wait_for()
    carry_out()
    page.get_by_role("link", name="See how far it is now").click()
    page.get_by_text("Added 40 cases to “questions” as version 1.").wait_for()
    page.get_by_role("link", name="Open the dataset").click()
    page.locator("[data-row] a").first.click()
    page.get_by_role("heading", name="case-00").wait_for()
    page.context.close()
