"""A processor in the browser: written, tried on a case, saved, read by an evaluator, changed, judged again."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from evaluators.kinds import get_kind
from evaluators.models import Evaluator, ProcessorVersion
from experiments.ledger.start import start
from experiments.ledger.turn import work
from experiments.models import Run
from tests.browser_fixtures import axe_findings, overflow, sign_in
from tests.experiments.judged import experiment_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SLOW_MS = 20_000  # the sandbox is built once for each process
CODE = "function process({ outputs }) { return { words: outputs.value.split(' ').length }; }"
OTHER = "function process({ outputs }) { return { words: 2 * outputs.value.split(' ').length }; }"
READS = "function evaluate({ processed }) { return processed.words / 10; }"


@pytest.fixture
def visit(page, live_server, alice, project):
    """Open the page of the processor as alice."""
    sign_in(page, live_server, alice)

    def go(width=1440, scheme="light"):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(live_server.url + reverse("processor-page", args=[project.slug]))
        return page

    return go


def type_code(page, code):
    page.locator("#id_code + .code-editor .cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(code)


def reading(project):
    kind = get_kind("heuristic")
    evaluator = Evaluator.objects.create(project=project, name="Reads words", kind="heuristic")
    return evaluator.revise(kind.blank() | {"code": READS}, schema=kind.schema, author=None)


def test_it_is_written_tried_on_a_case_and_saved(visit, project):
    experiment_of(project, 2)
    page = visit()
    type_code(page, CODE)
    page.locator("#pick-case").wait_for()

    page.get_by_role("button", name=re.compile("^Run")).click()
    page.locator("#try-result").get_by_text("processed.words").wait_for(timeout=SLOW_MS)
    assert not ProcessorVersion.objects.exists()
    assert axe_findings(page) == []

    page.keyboard.press("ControlOrMeta+s")
    page.get_by_text("The processor is saved as v1.").wait_for()
    assert ProcessorVersion.objects.get().code == CODE


def test_what_is_wrong_is_marked_in_the_code_and_goes_away_when_it_is_right(visit, project):
    experiment_of(project, 2)
    page = visit()
    type_code(page, "function process() {\n  return {;\n}")
    page.locator("#pick-case").wait_for()

    page.get_by_role("button", name=re.compile("^Run")).click()
    page.locator(".cm-bad-line").wait_for(timeout=SLOW_MS)
    expect(page.locator("#fault-code")).to_contain_text("Line 2")

    type_code(page, "function process() { throw new Error('no table here'); }")
    page.get_by_role("button", name=re.compile("^Run")).click()
    page.locator("#try-result").get_by_text("no table here").wait_for()
    expect(page.locator("#fault-code")).to_have_text("")


def test_a_changed_one_offers_the_results_that_read_it(visit, project, alice):
    ProcessorVersion.objects.create(project=project, number=1, code=CODE)
    start(reading(project), experiment_of(project, 3), alice)
    work("cpu")
    ProcessorVersion.objects.create(project=project, number=2, code=OTHER)
    page = visit()

    page.locator("#processor-runs").get_by_text("read the processor v1").wait_for()
    page.get_by_role("button", name="Judge again").click()
    page.get_by_text("1 result will be judged again.").wait_for()
    assert Run.objects.get(is_current=True).processor == 2

    page.locator(".ev-versions").get_by_role("link", name="v2").click()
    page.get_by_role("heading", name="From v1 to v2").wait_for()
    expect(page.locator(".textdiff ins")).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_used_by_everybody_on_every_screen(visit, project, alice, scheme):
    ProcessorVersion.objects.create(project=project, number=1, code=CODE, note="Count the words " * 15)
    start(reading(project), experiment_of(project, 3), alice)
    ProcessorVersion.objects.create(project=project, number=2, code="// " + "long " * 200 + "\n" + OTHER)
    for width in (320, 1440):
        page = visit(width, scheme)
        page.locator("#processor-runs").wait_for()
        page.locator("#pick-case").wait_for()
        assert overflow(page) <= 0
        assert axe_findings(page) == []
