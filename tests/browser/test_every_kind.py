"""Every kind of evaluator on its whole way: made, tried, saved, changed, tried against itself, published."""

import re
from dataclasses import dataclass

import pytest
from django.urls import reverse

from evaluators.kinds import KINDS
from evaluators.models import Evaluator, PublishingRule
from experiments.ledger.turn import work
from experiments.models import Purpose, Run
from tests.browser_fixtures import axe_findings, sign_in
from tests.experiments.judged import experiment_of, rehearsal_of

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SLOW_MS = 20_000  # the sandbox is built once for each process


@dataclass(frozen=True)
class Way:
    """A kind with its starting point, the lane its runs take, and the field that its second version changes."""

    kind: str
    start: str
    lane: str
    field: str
    text: str
    compares: bool = False


WAYS = [
    Way("judge", "factual_consistency", "net", "#id_guide", "Look at amounts first."),
    Way("judge", "comparative_judge", "net", "#id_guide", "Look at amounts first.", compares=True),
    Way("heuristic", "shorter_than_expected", "cpu", "#id_threshold", "40"),
    Way("heuristic", "shorter_output", "cpu", "#id_threshold", "40", compares=True),
    Way("human", "grade_the_answer", "people", "#id_instructions", "Read it twice."),
    Way("classification", "yes_or_no", "cpu", "#id_label_map", "Answer => true"),
    Way("external", "", "outside", "#id_threshold", "40"),
    Way("builtin", "length_less_than", "cpu", "#id_parameter_max_length", "5"),
]


def test_every_kind_has_a_way():
    assert {way.kind for way in WAYS} == set(KINDS)


@pytest.mark.parametrize("way", WAYS, ids=[way.start or way.kind for way in WAYS])
def test_it_is_made_tried_saved_changed_compared_and_published(page, live_server, alice, project, way):
    PublishingRule.objects.create(project=project, least_cases=0)
    rehearsal_of(project)
    experiment_of(project, 6, system="older")
    experiment_of(project, 6, system="newer")
    sign_in(page, live_server, alice)
    page.goto(
        live_server.url
        + reverse("evaluator-new", args=[project.slug, way.kind])
        + (f"?start={way.start}" if way.start else "")
    )
    page.locator("#id_name").fill("Walked")
    tried(page, way)
    page.get_by_role("button", name="Save as v1").click()
    page.get_by_text("Saved v1 of Walked, not published.").wait_for()
    published(page, 1)

    page.get_by_role("link", name="Edit", exact=False).first.click()
    page.locator("#bench-picker select").first.wait_for()
    changed(page, way)
    tried(page, way)
    page.get_by_role("button", name="Save as v2").click()
    page.get_by_text("Saved v2 of Walked, not published.").wait_for()
    assert axe_findings(page) == []

    evaluator = Evaluator.objects.get(name="Walked")
    what_would_change(page, live_server, evaluator, way)
    page.goto(live_server.url + evaluator.get_absolute_url())
    published(page, 2)
    evaluator.refresh_from_db()
    assert evaluator.published_version.number == 2


def tried(page, way):
    """Run the test bench on the first case and read what it says."""
    page.locator("#bench-picker select").first.wait_for()
    page.get_by_role("button", name=re.compile("Run test|Show the form|Preview")).click()
    if way.lane == "people":
        page.locator("#bench-result").get_by_text("Helpful", exact=True).wait_for()
    elif way.lane == "outside":
        page.locator("#bench-result").get_by_text("another program makes these scores").wait_for()
    else:
        page.locator("#bench-result .verdictbox").wait_for(timeout=SLOW_MS)
    assert axe_findings(page) == []


def changed(page, way):
    field = page.locator(way.field)
    if not field.is_visible():
        page.locator(f"details:has({way.field}) > summary").first.click()
    field.fill(way.text)


def what_would_change(page, live_server, evaluator, way):
    """Both versions over the same outputs; people cannot be asked twice for nothing."""
    page.goto(live_server.url + reverse("evaluator-change", args=[evaluator.project.slug, evaluator.pk]))
    if way.lane in ("people", "outside"):
        page.get_by_text(re.compile("[Pp]eople|program")).first.wait_for()
        assert not Run.objects.exists()
        return
    page.get_by_role("button", name="Try both versions").click()
    page.get_by_text(re.compile("Under way|How far they came|v1 and v2 on")).first.wait_for()
    work(way.lane)
    page.get_by_role("heading", name=re.compile("^v1 and v2 on")).wait_for(timeout=SLOW_MS)
    runs = Run.objects.filter(purpose=Purpose.TRIAL)
    assert {run.version.number for run in runs} == {1, 2}
    assert all((run.baseline is not None) == way.compares for run in runs)


def published(page, number):
    page.get_by_role("button", name=f"Publish v{number}").first.click()
    page.get_by_role("heading", name=f"v{number} is published").wait_for()
