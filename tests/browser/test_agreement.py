"""The page of people's agreement, and a disagreement with its grades, as a person sees and tests them."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from annotations.models import Grade
from tests.annotations.conftest import make_experiment, make_human, make_queue, people  # noqa: F401
from tests.annotations.test_agreement import grades_by
from tests.browser_fixtures import axe_findings, overflow, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def evaluator(make_queue, people):  # noqa: F811
    """Sixty items that three people graded, who differ on some."""
    queue = make_queue(60, graders=3)
    for person, words in zip(people, ("ggggb" * 12, "gggbb" * 12, "gggbbggggb" * 6), strict=True):
        grades_by(queue, person, words)
    return queue.versions.get().evaluator


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (320, "dark")])
def test_agreement_is_drawn_and_a_disagreement_opens(page, live_server, alice, project, evaluator, width, scheme):
    sign_in(page, live_server, alice)
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.goto(live_server.url + reverse("evaluator-agreement", args=[project.slug, evaluator.pk]))
    for title in ("Each two people", "Over time"):
        chart = page.locator("[data-chart]", has_text=title)
        chart.scroll_into_view_if_needed()
        chart.locator("xpath=self::*[@data-drawn]").wait_for(timeout=20_000)
    expect(page.get_by_role("heading", name="Krippendorff’s alpha")).to_be_visible()
    assert axe_findings(page) == []
    assert overflow(page) == 0
    page.get_by_role("region", name="Disagreements").get_by_role("link").first.click()
    page.get_by_role("heading", name="What they said").wait_for()
    expect(page.get_by_role("listitem").filter(has_text="Bad")).not_to_have_count(0)
    assert axe_findings(page) == []
    assert overflow(page) == 0
    page.get_by_label("What must come").select_option("Good")
    page.get_by_role("button", name="Keep").click()
    page.get_by_text("It tells who gets it right").wait_for()
    assert Grade.objects.filter(item__known__isnull=False).count() == 3


def test_the_page_of_a_human_evaluator_shows_the_figures(page, live_server, alice, project, evaluator):
    sign_in(page, live_server, alice)
    page.goto(live_server.url + evaluator.get_absolute_url())
    section = page.get_by_role("region", name="Agreement of people")
    section.get_by_role("heading", name="Krippendorff’s alpha").wait_for()
    expect(section.locator("[data-chart]")).to_have_count(0)
    assert axe_findings(page) == []
