"""The gallery of starting points: groups, search, a look before choosing, blanks."""

import pytest
from django.urls import reverse

from evaluators.core import COMPARISON
from evaluators.gallery import BLANKS, groups
from evaluators.kinds import KINDS
from evaluators.models import Draft
from evaluators.starters import STARTERS


@pytest.fixture
def gallery(as_alice, project):
    return lambda query="": as_alice.get(reverse("evaluator-new", args=[project.slug]) + query).content.decode()


def titles(words=""):
    return [card.title for group in groups(words) for card in group.cards]


def test_every_starting_point_and_a_blank_of_every_kind_are_there_once():
    blanks = groups()[0]
    assert blanks.title == BLANKS
    assert {card.kind.key for card in blanks.cards} == set(KINDS)
    shown = [card.starter.key for group in groups() for card in group.cards if card.starter]
    assert sorted(shown) == sorted(STARTERS)


def test_comparative_ones_are_a_group_and_blanks_of_their_own():
    by_title = {group.title: [card.title for card in group.cards] for group in groups()}
    assert {"Pairwise preference", "Shorter output"} <= set(by_title["Comparative"])
    assert {"Comparative AI judge", "Comparative heuristic"} <= set(by_title[BLANKS])
    assert "Pairwise preference" not in by_title["AI judge"]


def test_a_search_holds_every_word_and_looks_through_titles_summaries_kinds_and_keys():
    assert "Factual consistency" in titles("FACTS style")
    assert titles("pairwise") == ["Pairwise preference"]
    assert {"Sentiment", "Grammar"} <= set(titles("ai judge"))
    assert titles("is json") != titles()
    assert titles("nothing has this word") == []


def test_the_page_searches_without_javascript_and_says_when_nothing_is_found(gallery):
    page = gallery("?q=pairwise")
    assert "Pairwise preference" in page
    assert "Sentiment" not in page
    assert "No starting point has these words" in gallery("?q=zebra")


def test_a_search_with_htmx_brings_the_cards_alone(as_alice, project):
    reply = as_alice.get(reverse("evaluator-new", args=[project.slug]) + "?q=json", HTTP_HX_REQUEST="true")
    assert "<html" not in reply.content.decode()
    assert "Valid JSON" in reply.content.decode()


@pytest.mark.parametrize("key", STARTERS)
def test_every_starting_point_can_be_looked_at_before_it_is_chosen(as_alice, gallery, project, key):
    starter = STARTERS[key]
    shown = as_alice.get(reverse("evaluator-preview", args=[project.slug, key]))
    page = shown.content.decode()
    assert starter.title in page
    assert "What it needs" in page
    assert f"?start={key}" in page
    assert 'id="peek" aria-label="A starting point">' in gallery(f"?peek={key}"), "without JavaScript it is in the page"


def test_the_look_shows_prompt_scale_and_what_is_read(as_alice, project):
    page = as_alice.get(reverse("evaluator-preview", args=[project.slug, "factual_consistency"])).content.decode()
    for words in (
        "Compare the facts",
        "<code>expectedOutputs.value</code>",
        "A connection to a model",
        "Adds facts; nothing contradicts",
    ):
        assert words in page
    code = as_alice.get(reverse("evaluator-preview", args=[project.slug, "shorter_output"])).content.decode()
    for words in ("function evaluate", "<code>comparison.outputs.value</code>", "Two results of the same cases"):
        assert words in code


def test_an_unknown_starting_point_is_not_found(as_alice, project):
    assert as_alice.get(reverse("evaluator-preview", args=[project.slug, "horoscope"])).status_code == 404


@pytest.mark.parametrize("kind", [key for key, kind in KINDS.items() if kind.can_compare])
def test_a_comparative_blank_opens_the_editor_on_a_comparison(as_alice, project, kind):
    address = reverse("evaluator-new", args=[project.slug, kind]) + f"?runs_on={COMPARISON}"
    page = as_alice.get(address, follow=True)
    assert page.status_code == 200
    assert page.context["typed"]["runs_on"] == COMPARISON
    assert page.context["differs"] == []


def test_an_untouched_comparative_blank_leaves_no_draft(as_alice, project):
    opened = as_alice.get(reverse("evaluator-new", args=[project.slug, "judge"]) + "?runs_on=comparison", follow=True)
    typed = opened.context["typed"]
    fields = {name: values if len(values) > 1 else values[0] for name, values in typed.lists() if values}
    place = {"kind": "judge", "draft": "k9", "evaluator": "", "start": COMPARISON}
    as_alice.post(reverse("evaluator-draft", args=[project.slug]), fields | place)
    assert not Draft.objects.exists()


def test_kinds_that_judge_one_result_have_no_comparative_blank(as_alice, project):
    address = reverse("evaluator-new", args=[project.slug, "classification"]) + "?runs_on=comparison"
    assert as_alice.get(address, follow=True).context["place"].starter is None


def test_a_viewer_may_not_begin_one(client, bob, project):
    client.force_login(bob)
    assert client.get(reverse("evaluator-new", args=[project.slug])).status_code == 403
    assert client.get(reverse("evaluator-preview", args=[project.slug, "grammar"])).status_code == 403
