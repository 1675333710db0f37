"""Grading in a real browser: by keyboard alone, without page loads, through reloads and lost connections."""

import re
import time
from contextlib import nullcontext

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import expect

from annotations.holding import at_hand
from annotations.models import Grade, Queue, Reservation
from annotations.stale import ask_anew
from evaluators.core import Status
from experiments.models import Evaluation, OutputBody
from tests.annotations.conftest import SIDES
from tests.annotations.test_grading import BAD
from tests.annotations.test_holding import grade
from tests.browser_fixtures import axe_findings, overflow, sign_in

pytestmark = pytest.mark.browser


@pytest.fixture
def open_queue(page, live_server, people):
    def open_it(queue, width=1440):
        sign_in(page, live_server, people[0])
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(f"{live_server.url}/p/support/review/queues/{queue.pk}/grade/")
        return page

    return open_it


ALL_SENT = """async () => {
  const waits = () => Object.entries(localStorage).some(([key, value]) => key.startsWith("grades-") && value !== "[]");
  for (let looks = 0; waits() && looks < 200; looks++) await new Promise((later) => setTimeout(later, 100));
}"""


def done(page):
    return page.locator("#g-progress b")


def test_a_hundred_items_by_keyboard_alone_without_a_page_load(open_queue, make_queue):
    queue = make_queue(100)
    page = open_queue(queue)
    page.evaluate("window.stillHere = true")
    for number in range(100):
        item = page.locator("#g-stage [data-item]")
        before = item.get_attribute("data-item")
        page.keyboard.press("1" if number % 3 else "2")
        page.keyboard.press("Enter")
        if number < 99:
            expect(item).not_to_have_attribute("data-item", before)
    expect(page.get_by_text("Nothing left for you here")).to_be_visible()
    expect(done(page)).to_have_text("100")
    assert page.evaluate("window.stillHere")
    assert Grade.objects.filter(is_current=True, state=0).count() == 100
    assert Evaluation.objects.filter(state=Status.SCORED, score=0.0).count() == 34


def test_undo_takes_back_the_last_grade_even_when_that_has_not_arrived_yet(interception, open_queue, make_queue):
    page = open_queue(make_queue(3))
    item = page.locator("#g-stage [data-item]")
    first = item.get_attribute("data-item")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(done(page)).to_have_text("1")
    page.route("**/items/*/grade/", lambda route: (time.sleep(0.5), route.continue_()))
    second = item.get_attribute("data-item")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.keyboard.press("u")
    expect(item).to_have_attribute("data-item", second)
    expect(page.locator("#g-stage").get_by_label("Bad")).to_be_checked()
    assert [str(grade.item_id) for grade in Grade.objects.filter(is_current=True)] == [first]


def test_a_pair_is_graded_by_its_letters_with_the_other_keys_at_hand(
    open_queue, make_queue, make_human, make_experiment
):
    queue = make_queue(
        versions=[make_human(scoring=SIDES, runs_on="comparison")],
        baseline=make_experiment(3),
        experiment=make_experiment(3, "another system"),
    )
    page = open_queue(queue)
    item = page.locator("#g-stage [data-item]")
    first = item.get_attribute("data-item")
    page.keyboard.press("j")
    expect(item).not_to_have_attribute("data-item", first)
    page.keyboard.press("j")
    expect(item).to_have_attribute("data-item", first)
    page.keyboard.press("b")
    expect(page.locator("#g-stage").get_by_label("Second")).to_be_checked()
    page.keyboard.press("c")
    page.keyboard.type("B is shorter")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(done(page)).to_have_text("1")
    assert Grade.objects.get().comment == "B is shorter"
    page.keyboard.press("k")
    expect(item).to_have_attribute("data-item", first)
    expect(page.locator("#g-stage").get_by_label("Second")).to_be_checked()
    page.keyboard.press("e")
    page.keyboard.press("Enter")
    expect(page.locator("#g-stage .tag-people")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator("#g-stage").get_by_label("Equal")).to_be_checked()
    with page.expect_response("**/grade/"):
        page.keyboard.press("0")
    assert list(Grade.objects.filter(is_current=True).values_list("state", flat=True)) == [1]


def grade_some(page, n):
    """Give the first choice to the next n items; their ids."""
    seen = []
    while len(seen) < n:
        seen.append(page.locator("#g-stage [data-item]").get_attribute("data-item"))
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        expect(done(page)).to_have_text(str(len(seen)))
    return seen


def test_who_looks_back_returns_to_where_they_were(open_queue, make_queue):
    page = open_queue(make_queue(5))
    item = page.locator("#g-stage [data-item]")
    seen = grade_some(page, 2)
    here = item.get_attribute("data-item")
    for _ in range(2):
        page.keyboard.press("k")
        expect(item).to_have_attribute("data-item", seen[1])
        page.keyboard.press("j")
        expect(item).to_have_attribute("data-item", here)
    for before in (seen[1], seen[0]):
        page.keyboard.press("k")
        expect(item).to_have_attribute("data-item", before)
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(item).to_have_attribute("data-item", here)
    page.keyboard.press("k")
    expect(item).to_have_attribute("data-item", seen[1])
    page.keyboard.press("j")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(done(page)).to_have_text("3")
    assert item.get_attribute("data-item") not in (*seen, here)
    assert Grade.objects.filter(is_current=True, item=seen[0]).get().label == "Bad"


def test_who_reloads_walks_back_to_what_they_graded_before(open_queue, make_queue):
    page = open_queue(make_queue(4))
    item = page.locator("#g-stage [data-item]")
    seen = grade_some(page, 3)
    page.reload()
    for before in reversed(seen):
        page.keyboard.press("k")
        expect(item).to_have_attribute("data-item", before)


def test_numbers_are_typed_without_reaching_for_their_field(open_queue, make_queue, make_human):
    page = open_queue(make_queue(3, versions=[make_human(scoring={"type": "percentage"})]))
    for text in ("0,25", "1"):
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    expect(done(page)).to_have_text("2")
    page.keyboard.press("u")
    expect(page.locator("#g-stage input[type=text]")).to_have_value("1")
    page.keyboard.type("0.5")
    page.keyboard.press("Enter")
    expect(done(page)).to_have_text("2")
    page.keyboard.press("n")
    expect(done(page)).to_have_text("3")
    told = Grade.objects.filter(is_current=True).order_by("pk").values_list("state", "value")
    assert list(told) == [(0, 0.25), (0, 0.5), (1, None)]


def test_a_draft_survives_a_reload(open_queue, make_queue):
    page = open_queue(make_queue(3))
    page.keyboard.press("2")
    with page.expect_response(lambda reply: "thought" in (reply.request.post_data or "")):
        page.locator("#g-stage textarea").fill("Half a thought")
    expect(page.locator("#g-stage [data-kept]")).to_have_text("Draft kept")
    page.evaluate("localStorage.clear()")  # as on another device: the server has it as well
    page.reload()
    expect(page.locator("#g-stage textarea")).to_have_value("Half a thought")
    expect(page.locator("#g-stage").get_by_label("Bad")).to_be_checked()


def test_grades_wait_on_the_device_while_the_connection_is_lost(open_queue, make_queue, context, troubles):
    page = open_queue(make_queue(4))
    context.set_offline(True)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#g-offline")).to_contain_text("1 grade waits")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator("#g-offline")).to_contain_text("2 grades wait")
    assert Grade.objects.count() == 0
    context.set_offline(False)
    expect(page.locator("#g-offline")).to_be_hidden()
    expect(done(page)).to_have_text("2")
    assert sorted(Grade.objects.values_list("label", flat=True)) == ["Bad", "Good"]
    troubles[:] = [one for one in troubles if "ERR_INTERNET_DISCONNECTED" not in one]


def test_two_tabs_of_one_person_do_no_harm(open_queue, make_queue, context):
    queue = make_queue(4)
    one = open_queue(queue)
    other = context.new_page()
    other.goto(one.url)
    for tab in (one, other, one, other):
        tab.keyboard.press("1")
        tab.keyboard.press("Enter")
        expect(tab.locator("[aria-busy]")).to_have_count(0)
    other.evaluate(ALL_SENT)
    expect(done(other)).to_have_text(re.compile("[234]"))
    assert Grade.objects.filter(is_current=True).count() == Reservation.objects.filter(is_done=1).count()


def test_two_tabs_that_send_what_waits_at_once_lose_none_of_it(interception, open_queue, make_queue, context, troubles):
    """Both tabs have the first grade under way; the first tab loses its connection before the second one."""
    queue = make_queue(6)
    one = open_queue(queue)
    held = []
    one.route("**/items/*/grade/", lambda route: route.abort() if held else held.append(route))
    for key in "12":
        with one.expect_request("**/items/*/grade/") if key == "1" else nullcontext():
            one.keyboard.press(key)
            one.keyboard.press("Enter")
    other = context.new_page()
    others = []
    other.route("**/items/*/grade/", lambda route: route.continue_() if others else others.append(route))
    with other.expect_request("**/items/*/grade/"):
        other.goto(one.url)
    held[0].continue_()
    expect(one.locator("#g-offline")).to_contain_text("1 grade waits")
    others[0].continue_()
    expect(other.locator("#g-progress b")).to_have_text("2")
    assert sorted(Grade.objects.values_list("label", flat=True)) == ["Bad", "Good"]
    other.close()
    troubles[:] = [each for each in troubles if "ERR_FAILED" not in each]


def test_who_was_signed_out_keeps_their_grades_until_they_sign_in_again(
    open_queue, make_queue, context, live_server, people, troubles
):
    page = open_queue(make_queue(3))
    context.clear_cookies()  # of the session, and of the token that the page has
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.locator("#g-offline")).to_contain_text("Sign in again and reload it: 1 grade is kept on this device.")
    sign_in(page, live_server, people[0])
    page.reload()
    expect(done(page)).to_have_text("1")
    assert Grade.objects.get().label == "Bad"
    troubles[:] = [one for one in troubles if "403" not in one]


def test_a_draft_of_somebody_who_is_signed_out_is_kept_on_the_device(open_queue, make_queue):
    page = open_queue(make_queue(2))
    Session.objects.all().delete()
    page.locator("#g-stage textarea").fill("Half a thought")
    expect(page.locator("#g-stage [data-kept]")).to_have_text("Draft kept on this device")


def test_what_waits_on_a_device_is_never_somebody_elses(
    interception, open_queue, make_queue, live_server, people, troubles
):
    page = open_queue(make_queue(4))
    page.locator("#g-stage textarea").fill("Between us")
    expect(page.locator("#g-stage [data-kept]")).to_have_text("Draft kept")
    Reservation.objects.update(person=None, held_until=None, draft=None)  # as when their time has run out
    page.route("**/items/*/grade/", lambda route: route.abort())
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator("#g-offline")).to_contain_text("1 grade waits")
    sign_in(page, live_server, people[1])
    page.reload()
    page.unroute_all()
    expect(page.locator("#g-stage textarea")).to_have_value("")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(done(page)).to_have_text("1")
    assert [(grade.person, grade.label) for grade in Grade.objects.select_related("person")] == [(people[1], "Bad")]
    sign_in(page, live_server, people[0])
    with page.expect_response("**/items/*/grade/"):
        page.reload()
    assert Grade.objects.get(person=people[0]).label == "Good"
    troubles[:] = [one for one in troubles if "ERR_FAILED" not in one]


def test_a_device_without_room_loses_no_grade(open_queue, make_queue, page):
    page.add_init_script("Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }")
    open_queue(make_queue(2))
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(done(page)).to_have_text("1")
    assert Grade.objects.get().label == "Good"


def test_what_is_asked_again_is_submitted_by_enter_or_changed_by_a_digit(open_queue, make_queue, people, alice):
    queue = make_queue(2, instructions="Read.")
    for seat in at_hand(queue, people[0]):
        grade(seat.item, people[0], BAD)
    Queue.objects.filter(pk=queue.pk).update(instructions="Read twice.", instructions_version=2)
    ask_anew(Queue.objects.select_related("project").get(pk=queue.pk), alice)
    page = open_queue(queue)
    expect(page.locator("#g-stage").get_by_text("The instructions have changed since you graded this.")).to_be_visible()
    expect(page.locator("#g-stage").get_by_label("Bad")).to_be_checked()
    expect(page.locator("#g-stage textarea")).to_have_value("Wrong amount.")
    page.keyboard.press("Enter")
    expect(done(page)).to_have_text("1")
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing left for you here")).to_be_visible()
    expect(done(page)).to_have_text("2")
    told = Grade.objects.filter(is_current=True).order_by("pk").values_list("label", "instructions_version")
    assert list(told) == [("Bad", 2), ("Good", 2)]


def test_without_javascript_an_item_is_graded_by_its_form(client, make_queue, people):
    queue = make_queue(2)
    client.force_login(people[0])
    page = f"/p/support/review/queues/{queue.pk}/grade/"
    item = int(re.search(r'data-item="(\d+)"', client.get(page).content.decode()).group(1))
    version = queue.versions.get()
    refused = client.post(f"/p/support/review/items/{item}/grade/", {"comment": "Why not"})
    assert refused.status_code == 422
    assert "Why not" in refused.content.decode()
    taken = client.post(f"/p/support/review/items/{item}/grade/", {f"grade-{version.pk}": "Good"})
    assert taken.url == page
    assert Grade.objects.get().label == "Good"


def test_text_that_no_database_holds_is_kept_without_what_it_cannot_hold(client, make_queue, people):
    queue = make_queue(2)
    client.force_login(people[0])
    version, (first, second) = queue.versions.get(), queue.items.order_by("place")
    client.get(f"/p/support/review/queues/{queue.pk}/grade/")
    places = [f"/p/support/review/items/{item.pk}" for item in (first, second)]
    client.post(f"{places[0]}/draft/", {"comment": "so\0 far"})
    assert first.reservations.get().draft == {"comment": "so\ufffd far"}
    client.post(f"{places[0]}/grade/", {f"grade-{version.pk}": "Good", "comment": "fi\0ne"})
    client.post(f"{places[1]}/grade/", {"do": "skip", "reason": "not\0 mine"})
    assert list(Grade.objects.order_by("pk").values_list("comment", flat=True)) == ["fi\ufffdne", "not\ufffd mine"]


@pytest.mark.parametrize("width", [320, 1440])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screen_passes_axe_and_fits(open_queue, make_queue, width, theme):
    page = open_queue(make_queue(2), width)
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    assert axe_findings(page) == []
    assert overflow(page) == 0


def test_a_long_name_ends_within_a_narrow_screen(open_queue, make_queue):
    page = open_queue(make_queue(1, name="What a queue may be called at length " * 3), 320)
    box = page.locator("h1").bounding_box()
    assert box["x"] + box["width"] <= 320


def test_tool_calls_of_both_sides_have_names_of_their_own(open_queue, make_queue, make_human, make_experiment):
    queue = make_queue(
        versions=[make_human(scoring=SIDES, runs_on="comparison")],
        baseline=make_experiment(2),
        experiment=make_experiment(2, "another system"),
    )
    call = {"name": "refund", "arguments": {"order": 7, "note": "x" * 400}}
    OutputBody.objects.update(outputs={"value": "Done.", "toolCalls": [call, call]})
    page = open_queue(queue)
    expect(page.get_by_role("group", name="refund of answer A")).to_have_count(2)
    expect(page.get_by_role("group", name="refund of answer B")).to_have_count(2)
    assert axe_findings(page) == []
