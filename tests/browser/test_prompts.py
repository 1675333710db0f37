"""A prompt is run in the browser: written, previewed, tried on a case, started, judged as the answers come."""

from __future__ import annotations

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from evaluators.publishing import publish
from experiments.ledger.turn import work
from experiments.models import Output, Purpose, Run
from tests.browser.test_evaluator_editor import write
from tests.browser.test_trials import looked_at
from tests.browser_fixtures import sign_in
from tests.experiments.conftest import connection, make_version, small_kinds  # noqa: F401
from tests.experiments.prompted import questions  # noqa: F401

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def new(page, live_server, alice, project, connection, questions, chat_server):  # noqa: F811
    """The page on which a prompt is written, over a data set of six questions."""
    chat_server.reply = lambda body: f"You said: {body['messages'][-1]['content']}"
    questions(6)
    sign_in(page, live_server, alice)
    page.goto(live_server.url + reverse("experiment-list", args=[project.slug]))
    page.get_by_role("link", name="Run a prompt").click()
    page.get_by_role("heading", name="What is sent").wait_for()
    return page


def test_it_is_written_previewed_tried_and_run(new, alice, make_version, small_kinds, chat_server):  # noqa: F811
    publish(make_version("length"), alice)
    new.reload()
    new.get_by_label("Name", exact=True).fill("Parrot")
    assert looked_at(new) == []
    write(new, "id_user_message", "Say in {{ metadata.language }}: {{ inputs.question }}")
    new.locator("#prompt-preview").get_by_text("Say in").wait_for()
    new.get_by_label("Case", exact=True).fill("3")
    new.locator("#prompt-preview").get_by_text("question 2").wait_for()
    new.get_by_text("Start asks 6 times: 6 cases.").wait_for()
    new.get_by_role("button", name="Try on this case").click()
    new.get_by_role("region", name="Answer").get_by_text("You said: Say in English: question 2").wait_for()
    assert chat_server.calls == 1
    assert looked_at(new) == []
    new.get_by_label("length [] v1").check()
    new.get_by_role("button", name="Start").click()
    new.get_by_role("heading", name="Answers of tiny 0 of 6").wait_for()
    new.get_by_role("link", name="Why are 6 pending?").wait_for()
    assert looked_at(new) == []
    work("net")
    work("cpu")
    new.get_by_role("heading", name="Answers of tiny 6 of 6").wait_for()
    new.get_by_role("link", name="case-3").first.wait_for()
    assert Output.objects.count() == 6
    judged = Run.objects.get(purpose=Purpose.RESULTS)
    assert judged.evaluation_set.filter(score__isnull=False).count() == 6
    new.get_by_role("link", name="Run again…").click()
    expect(new.get_by_label("Name", exact=True)).to_have_value("Parrot")
    assert "metadata.language" in new.locator("#id_user_message").input_value()


def test_answers_that_nobody_judges_appear_as_they_come(new):
    new.get_by_label("Name", exact=True).fill("Parrot")
    write(new, "id_user_message", "Say: {{ inputs.question }}")
    new.get_by_role("button", name="Start").click()
    new.get_by_role("heading", name="Answers of tiny 0 of 6").wait_for()
    work("net")
    new.get_by_role("heading", name="Answers of tiny 6 of 6").wait_for()
    new.get_by_role("link", name="case-3").first.wait_for()


def test_what_is_wrong_stands_beside_the_prompt_while_it_is_written(new):
    write(new, "id_user_message", "Say {{ expectedOutputs.value }}")
    new.locator("#fault-user_message").get_by_text("is not there when this prompt is sent").wait_for()
    new.get_by_role("button", name="Start").click()
    new.get_by_text("This field is required.").wait_for()
    assert "expectedOutputs" in new.locator("#id_user_message").input_value()
    assert looked_at(new) == []
