"""Grades under older instructions: shown wherever one stands, and asked for again without losing them."""

import csv
import io
import json
import re

import pytest
from django.urls import reverse

from annotations.grading import skip
from annotations.holding import at_hand, keep_draft
from annotations.models import Grade, Item, Queue, Reservation, Rule
from annotations.stale import ask_anew, give_up, stale_grades
from evalstudio.projects.models import AuditEntry, Membership
from evaluators.core import Status
from experiments.models import Evaluation
from tests.annotations.test_grading import BAD, GOOD
from tests.annotations.test_holding import grade

pytestmark = pytest.mark.django_db


@pytest.fixture
def changed(make_queue, people):
    """Three items, two of which Rita graded before the instructions changed."""
    queue = make_queue(3, instructions="Read.")
    for seat in at_hand(queue, people[0]):
        grade(seat.item, people[0], BAD)
    queue.instructions = "Read twice."
    queue.instructions_version = 2
    queue.save()
    return Queue.objects.select_related("project").get(pk=queue.pk)


def again(item):
    return Item.objects.select_related("queue", "output__experiment", "baseline_output__experiment").get(pk=item)


def address(queue, name, *args):
    return reverse(name, args=[queue.project.slug, *args])


def test_the_page_of_the_queue_says_how_many_and_an_editor_asks_again(as_alice, changed):
    page = as_alice.get(changed.get_absolute_url()).content.decode()
    assert re.search(r'<b class="num">2</b> grades were given under older instructions', page)
    assert "Ask again for 2" in page
    reply = as_alice.post(address(changed, "queue-ask-anew", changed.pk), follow=True)
    page = reply.content.decode()
    assert "2 grades asked for again" in page
    assert "<b>0</b> of 3 graded" in page
    assert "They are asked for again already" in page
    assert "Ask again for" not in page
    assert AuditEntry.objects.filter(act="asked for stale grades again in").exists()


def test_nobody_but_an_editor_asks_again(client, changed, people):
    client.force_login(people[0])
    assert client.post(address(changed, "queue-ask-anew", changed.pk)).status_code == 403
    assert Reservation.objects.filter(is_done=1).count() == 2


def test_the_same_person_gets_the_items_back_with_what_they_said(client, changed, alice, people):
    assert ask_anew(changed, alice) == 2
    client.force_login(people[0])
    page = client.get(address(changed, "queue-grade", changed.pk)).content.decode()
    assert page.count("The instructions have changed since you graded this.") == 2
    assert len(re.findall(r'value="Bad"[^>]* checked', page)) == 2
    assert page.count("Wrong amount.") == 2


def test_a_seat_that_is_asked_for_again_waits_for_its_person_as_long_as_it_takes(changed, alice, people):
    ask_anew(changed, alice)
    mine = at_hand(changed, people[0])
    keep_draft(mine[0].item, people[0], {"comment": "Hm"})
    Reservation.objects.filter(held_until__isnull=False).update(held_until="2020-01-01T00:00Z")
    others = at_hand(changed, people[1])
    assert len(others) == 1
    assert not {seat.item_id for seat in others} & {seat.item_id for seat in mine}
    assert Reservation.objects.get(pk=mine[0].pk).draft == {"comment": "Hm"}


def test_old_grades_count_until_they_are_replaced(changed, alice, people):
    ask_anew(changed, alice)
    assert Evaluation.objects.filter(state=Status.SCORED, score=0.0).count() == 2
    seat = at_hand(changed, people[0])[0]
    grade(again(seat.item_id), people[0], GOOD)
    assert sorted(Evaluation.objects.filter(state=Status.SCORED).values_list("score", flat=True)) == [0.0, 1.0]
    assert stale_grades(changed).count() == 1
    assert Grade.objects.filter(is_current=False, label="Bad").count() == 1
    assert Reservation.objects.get(pk=seat.pk).is_done


def test_the_same_answer_under_new_instructions_is_a_new_grade(changed, alice, people):
    ask_anew(changed, alice)
    seat = at_hand(changed, people[0])[0]
    grade(again(seat.item_id), people[0], BAD)
    told = Grade.objects.filter(item=seat.item_id).order_by("pk").values_list("is_current", "instructions_version")
    assert list(told) == [(False, 1), (True, 2)]


def test_who_skips_it_now_gives_it_to_somebody_else(changed, alice, people):
    ask_anew(changed, alice)
    seat = at_hand(changed, people[0])[0]
    skip(again(seat.item_id), people[0], "Another language")
    row = Evaluation.objects.get(output=seat.item.output_id)
    assert row.state == Status.AWAITING
    assert seat.item_id in {each.item_id for each in at_hand(changed, people[1], 3)}


def test_people_who_grade_there_no_more_are_not_asked(as_alice, changed, alice, people):
    Membership.objects.filter(user=people[0]).delete()
    assert ask_anew(changed, alice) == 0
    page = as_alice.get(changed.get_absolute_url()).content.decode()
    assert "their people grade here no more" in page


@pytest.mark.parametrize("way", ["left the project", "grades there no more"])
def test_what_is_asked_again_of_somebody_who_has_gone_is_given_up(as_alice, changed, alice, people, way):
    ask_anew(changed, alice)
    assert give_up() == 0, "Rita is still there"
    if way == "left the project":
        Membership.objects.filter(user=people[0]).delete()
    else:
        changed.reviewers.set(people[1:])
    assert give_up() == 2
    page = as_alice.get(changed.get_absolute_url()).content.decode()
    assert "<b>2</b> of 3 graded" in page
    assert "their people grade here no more" in page
    assert Evaluation.objects.filter(state=Status.SCORED, score=0.0).count() == 2, "what she said counts"


def test_a_split_that_waited_for_somebody_who_has_gone_goes_to_another_person(make_queue, alice, people):
    queue = make_queue(1, graders=2, instructions="Read.")
    item = queue.items.get()
    grade(again(item.pk), people[0], GOOD)
    grade(again(item.pk), people[1], GOOD)
    Queue.objects.update(instructions_version=2)
    ask_anew(Queue.objects.select_related("project").get(), alice)
    grade(again(item.pk), people[1], BAD)
    Membership.objects.filter(user=people[0]).delete()
    assert at_hand(queue, people[2]) == []
    assert give_up() == 1
    assert [seat.item_id for seat in at_hand(queue, people[2])] == [item.pk]


def test_a_decision_goes_with_the_stale_grades_that_it_was_about(make_queue, alice, people):
    from annotations.grading import Subject, submit

    queue = make_queue(1, graders=2, rule=Rule.ADJUDICATION, instructions="Read.")
    item = again(queue.items.get().pk)
    grade(item, people[0], GOOD)
    grade(item, people[1], BAD)
    subject = Subject.of(again(item.pk))
    submit(subject, alice, {version.pk: BAD for version in subject.versions}, is_decision=True)
    assert Evaluation.objects.get().score == 0.0
    Queue.objects.update(instructions_version=2)
    ask_anew(Queue.objects.select_related("project").get(), alice)
    for person in people[:2]:
        grade(again(item.pk), person, GOOD)
    assert Evaluation.objects.get().score == 1.0


def test_single_grades_and_exports_say_that_they_are_stale(as_alice, changed, people):
    (first, _) = Grade.objects.order_by("pk")
    assert "older instructions" in as_alice.get(address(changed, "grades-beside", first.pk)).content.decode()
    reply = as_alice.get(address(changed, "grades-export", changed.pk, "csv"))
    rows = csv.DictReader(io.StringIO(b"".join(reply.streaming_content).decode()))
    assert [row["is_stale"] for row in rows] == ["True", "True"]
    reply = as_alice.get(address(changed, "grades-export", changed.pk, "json"))
    (task, _) = json.loads(b"".join(reply.streaming_content))
    assert task["annotations"][0]["result"][0]["meta"] == {"text": ["given under older instructions"]}
    version = changed.versions.get()
    grade(again(Grade.objects.first().item_id), people[0], GOOD)
    reply = as_alice.get(address(changed, "evaluator-grades", version.evaluator_id, "jsonl"))
    lines = [json.loads(line) for line in b"".join(reply.streaming_content).decode().splitlines()]
    assert sorted(line["is_stale"] for line in lines if line["is_current"]) == [False, True]


def test_a_program_asks_again_as_well(as_alice, changed):
    place = f"/api/projects/support/queues/{changed.pk}/ask-anew/"
    assert as_alice.post(place).json() == {"opened": 2, "stale": 2}
    assert as_alice.post(place).json() == {"opened": 0, "stale": 2}
