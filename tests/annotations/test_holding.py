"""Who gets which item: nobody gets what somebody else holds, and what is not graded comes back."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotations.answers import Answer
from annotations.grading import Subject, skip, submit
from annotations.holding import at_hand, keep_draft
from annotations.models import GradeState, Item, Order, Reservation
from evalstudio.projects.models import User

pytestmark = pytest.mark.django_db
GOOD = Answer(GradeState.GRADED, "Good", 1.0)


def grade(item, person, answer=GOOD):
    subject = Subject.of(item)
    submit(subject, person, {version.pk: answer for version in subject.versions})


def test_two_people_never_get_the_same_item_of_one_grader(make_queue, people):
    queue = make_queue(5)
    rita, ravi, rosa = people
    held = {person: {seat.item_id for seat in at_hand(queue, person)} for person in people}
    assert len(held[rita] | held[ravi] | held[rosa]) == 5
    assert [len(held[person]) for person in people] == [2, 2, 1]


def test_an_item_that_wants_two_graders_goes_to_two_people_and_never_twice_to_one(make_queue, people):
    queue = make_queue(1, graders=2)
    rita, ravi, rosa = people
    assert len(at_hand(queue, rita)) == 1
    assert len(at_hand(queue, ravi)) == 1
    assert at_hand(queue, rosa) == []


def test_the_same_person_asking_again_gets_the_same_items(make_queue, people):
    queue = make_queue(5)
    first = [seat.pk for seat in at_hand(queue, people[0])]
    assert [seat.pk for seat in at_hand(queue, people[0])] == first


def test_what_was_held_too_long_goes_to_somebody_else_and_a_late_grade_is_kept(make_queue, people):
    queue = make_queue(1)
    rita, ravi, _ = people
    at_hand(queue, rita)
    Reservation.objects.update(held_until=timezone.now() - timedelta(seconds=1))
    (seat,) = at_hand(queue, ravi)
    item = Item.objects.get(pk=seat.item_id)
    grade(item, ravi)
    grade(item, rita, Answer(GradeState.GRADED, "Bad", 0.0))
    assert {one.person for one in item.grades.all()} == {rita, ravi}


def test_a_draft_is_a_sign_of_life_and_only_for_who_holds_the_item(make_queue, people):
    queue = make_queue(1)
    rita, ravi, _ = people
    (seat,) = at_hand(queue, rita)
    Reservation.objects.update(held_until=timezone.now() + timedelta(seconds=1))
    assert keep_draft(seat.item, rita, {"comment": "Half of it"})
    assert not keep_draft(seat.item, ravi, {"comment": "Mine"})
    seat.refresh_from_db()
    assert seat.held_until > timezone.now() + timedelta(minutes=10)
    assert seat.draft == {"comment": "Half of it"}


def test_asking_for_items_is_a_sign_of_life_of_those_in_hand(make_queue, people):
    queue = make_queue(2)
    at_hand(queue, people[0])
    Reservation.objects.update(held_until=timezone.now() + timedelta(minutes=5))
    at_hand(queue, people[0])
    assert all(seat.held_until > timezone.now() + timedelta(minutes=10) for seat in Reservation.objects.all())


def test_a_skipped_item_goes_to_somebody_else_and_not_back(make_queue, people):
    queue = make_queue(1)
    rita, ravi, _ = people
    (seat,) = at_hand(queue, rita)
    skip(seat.item, rita, "I do not read German.")
    assert at_hand(queue, rita) == []
    assert [one.item_id for one in at_hand(queue, ravi)] == [seat.item_id]


def test_a_closed_queue_gives_nothing(make_queue, people):
    queue = make_queue(2)
    queue.closed_at = timezone.now()
    assert at_hand(queue, people[0]) == []


def test_items_come_in_the_order_of_the_queue(make_queue, people):
    queue = make_queue(4, order=Order.OLDEST)
    came = []
    while seats := at_hand(queue, people[0], 1):
        came.append(seats[0].item.output_id)
        grade(seats[0].item, people[0])
    assert came == sorted(came)
    assert len(came) == 4


@pytest.mark.django_db(transaction=True)
def test_fifty_people_at_once_lose_nothing_and_double_nothing(make_queue):
    queue = make_queue(200)
    people = [User.objects.create_user(f"person-{number}") for number in range(50)]

    def work(person):
        done = 0
        try:
            while seats := at_hand(queue, person, 1):
                grade(Item.objects.get(pk=seats[0].item_id), person)
                done += 1
        finally:
            connection.close()
        return done

    with ThreadPoolExecutor(50) as pool:
        counts = list(pool.map(work, people))
    assert sum(counts) == 200
    assert queue.items.filter(state=1).count() == 200
    assert Reservation.objects.filter(queue=queue, is_done=1).count() == 200
    version = queue.versions.get()
    assert version.grades.values("output").distinct().count() == version.grades.count() == 200
