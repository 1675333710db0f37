"""From a result to a golden case, through a gate that is closed, to a version that is published."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from evaluators.models import Evaluator, GoldenCase, Publication, PublishingRule
from experiments.ledger.start import start
from experiments.ledger.turn import work
from tests.browser_fixtures import axe_findings, overflow
from tests.evaluators.golden_stage import ALWAYS, SHORT, four_cases, heuristic_config, version_of
from tests.experiments.judged import experiment_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SLOW_MS = 20_000  # the sandbox is built once for each process


@pytest.fixture
def careless(project):
    """A judged experiment, and an evaluator under a gate whose only version lets everything pass."""
    PublishingRule.objects.create(project=project, least_cases=2, min_sensitivity=0.9, min_specificity=0.9)
    version = version_of(project, "Brevity", heuristic_config(ALWAYS))
    experiment = experiment_of(project, 3)
    start(version, experiment)
    work("cpu")
    return version.evaluator


def open_case(visit, evaluator, key):
    page = visit(evaluator.versions.first().runs.get().experiment.get_absolute_url())
    page.get_by_role("link", name=re.compile(key)).first.click()
    page.locator("#peek h2", has_text=key).wait_for()
    return page


def test_a_result_becomes_a_golden_case_and_the_gate_opens_for_a_version_that_holds(visit, page, careless, project):
    open_case(visit, careless, "case-000")
    expect(page.get_by_text("unpublished").first).to_be_visible()
    page.get_by_role("button", name="Keep as golden case").click()
    page.get_by_role("status").get_by_text("it must be passes").wait_for()
    page.get_by_text("It should be otherwise").click()
    page.get_by_label("does not pass").check()
    page.get_by_role("button", name="Change", exact=True).click()
    page.get_by_role("status").get_by_text("it must be does not pass").wait_for()
    assert GoldenCase.objects.get().must == {"passed": False}
    assert axe_findings(page) == []

    visit(reverse("golden-new", args=[project.slug, careless.pk]))
    page.locator("#id_sample + .code-editor .cm-content").click()
    page.keyboard.insert_text('{"outputs": {"value": "brief"}}')
    page.get_by_label("passes", exact=True).check()
    page.get_by_role("button", name="Keep it").click()
    page.get_by_role("heading", name="brief").wait_for()

    visit(careless.get_absolute_url())
    page.get_by_role("button", name="Publish v1").click()
    page.get_by_text("Not published.").wait_for()
    expect(page.get_by_text("v1 has judged 0 of 2 golden cases.").first).to_be_visible()
    page.get_by_role("button", name="Judge 2").click()
    page.get_by_text("Specificity is 0").first.wait_for(timeout=SLOW_MS)
    page.get_by_role("button", name="Publish v1").click()
    page.get_by_role("alert").get_by_text("Specificity is 0").wait_for()
    assert not Publication.objects.exists()

    visit(reverse("evaluator-edit", args=[project.slug, careless.pk]))
    page.locator("#id_code + .code-editor .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(SHORT)
    page.get_by_role("button", name="Judge with unsaved edits").click()
    page.get_by_text("does not pass, as it must be").wait_for(timeout=SLOW_MS)
    assert not careless.versions.filter(number=2).exists()
    page.get_by_role("button", name="Save as v2").click()
    page.get_by_text("Saved v2 of Brevity, not published.").wait_for()
    page.get_by_role("button", name="Judge 2").first.click()
    page.get_by_role("heading", name="v2 may be published").wait_for(timeout=SLOW_MS)
    page.get_by_role("button", name="Publish v2").click()
    page.get_by_role("heading", name="v2 is published").wait_for()
    assert Evaluator.objects.get().published_version.number == 2
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("heading", name="From v1 to v2").wait_for()
    expect(page).to_have_url(re.compile(r"\?version=2&against=1$"))
    assert axe_findings(page) == []


@pytest.mark.parametrize("width", [320, 768, 1440])
def test_the_pages_fit_every_screen(visit, page, project, width):
    evaluator = version_of(project, "Brevity", heuristic_config()).evaluator
    version_of(project, "Brevity", heuristic_config(ALWAYS, threshold=0.7))
    four_cases(evaluator)
    page.set_viewport_size({"width": width, "height": 900})
    addresses = [
        evaluator.get_absolute_url(),
        f"{evaluator.get_absolute_url()}?version=2&against=1",
        reverse("evaluator-golden", args=[project.slug, evaluator.pk]),
        reverse("golden-new", args=[project.slug, evaluator.pk]),
        reverse("golden-case", args=[project.slug, GoldenCase.objects.first().pk]),
        reverse("publishing-rule", args=[project.slug]),
        reverse("evaluator-import", args=[project.slug]),
    ]
    for address in addresses:
        visit(address)
        assert overflow(page) == 0, address
        assert axe_findings(page) == [], address


def test_an_evaluator_moves_by_file(visit, page, project, tmp_path):
    evaluator = version_of(project, "Brevity", heuristic_config()).evaluator
    four_cases(evaluator)
    visit(evaluator.get_absolute_url())
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name == "brevity.evaluator.json"
    visit(reverse("evaluator-import", args=[project.slug]))
    page.set_input_files("#id_file", file)
    page.get_by_text("1 version, 4 golden cases").wait_for()
    assert axe_findings(page) == []
    page.get_by_label("Name here").fill("Brevity")
    page.get_by_role("button", name="Import").click()
    page.get_by_text("“Brevity 2” is free.").wait_for()
    page.get_by_label("Name here").fill("Brevity at home")
    page.get_by_role("button", name="Import").click()
    page.get_by_role("heading", name="Brevity at home").wait_for()
    assert Evaluator.objects.get(name="Brevity at home").golden_cases.count() == 4
