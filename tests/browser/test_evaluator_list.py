"""The list of evaluators, the gallery and scales in the browser, by keyboard."""

import re

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from evaluators.kinds import KINDS
from evaluators.models import Evaluator, Scale
from evaluators.starters import STARTERS
from tests.browser_fixtures import axe_findings, overflow, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LONG = "An evaluator whose name goes on for as long as it may, since somebody wanted to say everything there is in it"


@pytest.fixture
def visit(page, live_server, alice, project):
    """Open a page of the project as alice."""
    sign_in(page, live_server, alice)

    def go(name, *args, query=""):
        page.goto(live_server.url + reverse(name, args=[project.slug, *args]) + query)
        return page

    return go


def make(project, author, name, key):
    starter = STARTERS[key]
    evaluator = Evaluator.objects.create(project=project, name=name, kind=starter.kind)
    schema = KINDS[starter.kind].schema
    evaluator.revise(starter.config, schema=schema, author=author, note=starter.summary)
    return evaluator


@pytest.fixture
def evaluators(project, alice):
    return [
        make(project, alice, "Beta", "shorter_output"),
        make(project, alice, LONG, "factual_consistency"),
        make(project, alice, "Gamma", "valid_json"),
    ]


def first_names(page):
    return [text.split("\n")[0][:5] for text in page.locator("tbody th a").all_inner_texts()]


def test_the_list_is_sorted_and_searched_by_keyboard(visit, page, evaluators):
    visit("evaluator-list")
    head = page.locator("#sort-name")
    head.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"sort=name"))
    page.locator("th[aria-sort=ascending] #sort-name").wait_for()
    assert first_names(page) == ["An ev", "Beta", "Gamma"]
    expect(page.locator("#sort-name"), "the focus stays on the head").to_be_focused()
    page.keyboard.press("Enter")
    page.locator("th[aria-sort=descending] #sort-name").wait_for()
    assert first_names(page) == ["Gamma", "Beta", "An ev"]
    page.locator("h1").click()
    page.keyboard.press("/")
    page.keyboard.type("be")
    page.wait_for_url(re.compile(r"q=be"))
    page.locator("#evaluators tbody tr").nth(1).wait_for(state="detached")
    assert first_names(page) == ["Beta"]
    expect(page).to_have_url(re.compile("sort=-name"))
    page.locator("h1").click()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(rf"/evaluators/{evaluators[0].pk}/$"))


def test_archiving_can_be_undone_from_the_toast(visit, page, evaluators):
    visit("evaluator-list")
    page.get_by_role("button", name="Archive Gamma").click()
    page.get_by_text("Gamma is archived.").wait_for()
    expect(page.get_by_role("link", name="Gamma", exact=True)).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("Gamma is back in the list.").wait_for()
    expect(page.get_by_role("link", name="Gamma", exact=True)).to_have_count(1)


def test_the_gallery_is_searched_as_one_types_looked_at_and_chosen_by_keyboard(visit, page):
    visit("evaluator-new")
    page.keyboard.press("/")
    page.keyboard.type("pairwise")
    page.wait_for_url(re.compile("q=pairwise"))
    page.get_by_role("link", name="Sentiment").wait_for(state="detached")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Preview of Pairwise preference"
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What it needs").wait_for()
    expect(page.locator("#peek").get_by_text("comparison.outputs.value").first).to_be_visible()
    assert axe_findings(page) == []
    page.keyboard.press("Escape")
    page.locator("#peek").wait_for(state="hidden")
    assert page.evaluate("document.activeElement.textContent") == "Preview of Pairwise preference"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/evaluators/new/judge/\?start=comparative_judge"))


def test_what_is_typed_the_moment_a_page_has_loaded_counts(visit, page):
    page.add_init_script("const own = setTimeout; setTimeout = (act, ms = 0) => own(act, ms + 1000)")  # a busy computer
    visit("evaluator-new")
    page.keyboard.press("/")
    page.keyboard.type("pairwise")
    page.wait_for_url(re.compile("q=pairwise"))


def test_a_comparative_blank_opens_on_two_results(visit, page):
    visit("evaluator-new")
    page.get_by_role("link", name="Comparative heuristic").click()
    page.wait_for_url(re.compile(r"/evaluators/new/heuristic/"))
    assert (
        page.locator("[name=runs_on]:checked, select[name=runs_on], input[type=hidden][name=runs_on]").first.evaluate(
            "field => field.value"
        )
        == "comparison"
    )


def test_a_scale_is_made_and_changed(visit, page, project):
    visit("scale-new")
    page.get_by_label("Name").fill("Helpfulness")
    for index, (label, percentage) in enumerate([("LOW", "0"), ("MEDIUM", "50"), ("HIGH", "much")]):
        if index == 2:
            page.get_by_role("button", name="Add option").click()
        page.locator("[name=option_label]").nth(index).fill(label)
        page.locator("[name=option_percentage]").nth(index).fill(percentage)
    page.get_by_role("button", name="Save scale").last.click()
    page.get_by_text("Not saved.").wait_for()
    assert axe_findings(page) == []
    page.locator("[name=option_percentage]").nth(2).fill("100")
    page.get_by_role("button", name="Save scale").last.click()
    page.get_by_text("Helpfulness is saved.").wait_for()
    assert [option["label"] for option in Scale.objects.get().scoring["options"]] == ["LOW", "MEDIUM", "HIGH"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_are_accessible_and_fit_the_smallest_window(visit, page, project, alice, evaluators, theme):
    page.emulate_media(color_scheme=theme)
    scale = Scale.objects.create(
        project=project, name="Stars " + "and more " * 8, scoring={"type": "percentage", "low": 1, "high": 5}
    )
    evaluators[2].archive(alice)
    places = [
        ("evaluator-list", [], ""),
        ("evaluator-list", [], "?show=archived"),
        ("evaluator-list", [], "?q=zebra"),
        ("evaluator-new", [], ""),
        ("evaluator-new", [], "?peek=keyword_block_list"),
        ("evaluator-run", [evaluators[0].pk], ""),
        ("scale-list", [], ""),
        ("scale-new", [], ""),
        ("scale-edit", [scale.pk], ""),
    ]
    for width in (320, 1440):
        page.set_viewport_size({"width": width, "height": 800})
        for name, args, query in places:
            visit(name, *args, query=query)
            assert overflow(page) <= 0, (name, query, width)
            assert axe_findings(page) == [], (name, query, width)
