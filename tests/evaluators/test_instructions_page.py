"""Instructions as a reviewer will read them, while they are typed and without JavaScript."""

import pytest
from django.urls import reverse

from evaluators.kinds.human import MOST_INSTRUCTIONS

pytestmark = pytest.mark.django_db


def shown(client, project, text, **headers):
    response = client.post(
        reverse("evaluator-instructions", args=[project.slug]), {"instructions": text}, headers=headers
    )
    assert response.status_code == 200
    return response.content.decode()


def test_htmx_gets_the_instructions_alone(as_alice, project):
    html = shown(as_alice, project, "Check **money**", **{"HX-Request": "true"})
    assert html.strip() == "<p>Check <strong>money</strong></p>"


def test_without_javascript_there_is_a_page_of_its_own(as_alice, project):
    html = shown(as_alice, project, "# Is it solved?")
    assert "<h2>Is it solved?</h2>" in html
    assert "Nothing is saved by looking." in html


def test_nothing_typed_says_what_may_be_typed(as_alice, project):
    assert "Headings, lists, links" in shown(as_alice, project, " \n", **{"HX-Request": "true"})


def test_hostile_text_stays_text(as_alice, project):
    html = shown(as_alice, project, "<script>alert(1)</script>", **{"HX-Request": "true"})
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_no_more_is_drawn_than_may_be_saved(as_alice, project):
    html = shown(as_alice, project, "x" * (MOST_INSTRUCTIONS + 1000), **{"HX-Request": "true"})
    assert html.count("x") == MOST_INSTRUCTIONS


def test_it_is_never_only_looked_at(as_alice, project):
    assert as_alice.get(reverse("evaluator-instructions", args=[project.slug])).status_code == 405
