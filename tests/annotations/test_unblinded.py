"""A queue that is not blind shows systems, judges' verdicts and colleagues' grades; a blind one none of them."""

import pytest
from django.urls import reverse

from annotations.models import Item
from annotations.screen import with_all
from annotations.unblinded import shown_with
from tests.annotations.conftest import SIDES
from tests.annotations.test_grading import BAD, GOOD, Answer, GradeState
from tests.annotations.test_holding import grade

pytestmark = pytest.mark.django_db


@pytest.fixture
def screen(client, project, people):
    def show(queue, person=0):
        client.force_login(people[person])
        return client.get(reverse("queue-grade", args=[project.slug, queue.pk])).content.decode()

    return show


def whole(item):
    return with_all(Item.objects).get(pk=item.pk)


def first_of(queue):
    return whole(queue.items.order_by("place").first())


def test_the_screen_shows_system_verdicts_and_colleagues(screen, make_queue, make_experiment, judged, people):
    experiment = make_experiment(1, "Model Seven")
    judged(experiment, [1], name="Strict judge", reason="It names the date.")
    queue = make_queue(experiment=experiment, graders=2, is_blind=False)
    grade(first_of(queue), people[1], BAD)
    page = screen(queue)
    for said in ("Answer of Model Seven", "Strict judge", "It names the date.", "ravi", "Wrong amount.", "not blind"):
        assert said in page


def test_a_blind_queue_shows_none_of_it(screen, make_queue, make_experiment, judged, people):
    experiment = make_experiment(1, "Model Seven")
    judged(experiment, [1], name="Strict judge", reason="It names the date.")
    queue = make_queue(experiment=experiment, graders=2)
    grade(first_of(queue), people[1], BAD)
    page = screen(queue)
    for hidden in ("Model Seven", "Strict judge", "It names the date.", "ravi", "Wrong amount."):
        assert hidden not in page
    assert shown_with(first_of(queue), people[0]) is None


@pytest.mark.parametrize("is_flipped", [False, True])
def test_a_pair_is_shown_by_its_true_names(screen, make_queue, make_human, make_experiment, judged, people, is_flipped):
    baseline, experiment = make_experiment(1, "Old"), make_experiment(1, "New")
    judged(experiment, [0.75], name="Preference", baseline=baseline, reason="Shorter.")
    judged(baseline, [0], name="Helpful enough")
    version = make_human(scoring=SIDES, runs_on="comparison")
    queue = make_queue(versions=[version], baseline=baseline, experiment=experiment, graders=2, is_blind=False)
    queue.items.update(is_flipped=is_flipped)
    grade(first_of(queue), people[1], Answer(GradeState.GRADED, "Second", 1.0))
    shown = shown_with(first_of(queue), people[0])
    assert shown.systems == (["New", "Old"] if is_flipped else ["Old", "New"])
    alone, together = shown.verdicts
    assert (alone.of, alone.cell.score, together.of, together.cell.score) == ("Old", 0.0, "New", 0.75)
    assert [one.answer for one in shown.colleagues] == ["First" if is_flipped else "Second"]
    page = screen(queue)
    assert "New is better" in page
    assert "A is New, B is Old" in page if is_flipped else "A is Old, B is New" in page


def test_own_grades_and_skips_are_not_what_colleagues_said(make_queue, people):
    queue = make_queue(1, graders=3, is_blind=False)
    grade(first_of(queue), people[0], GOOD)
    grade(first_of(queue), people[1], Answer(GradeState.SKIPPED, comment="Another language"))
    assert shown_with(first_of(queue), people[0]).colleagues == []


def test_what_is_shown_takes_three_queries_whatever_there_is(
    make_queue, make_experiment, judged, people, django_assert_num_queries
):
    experiment = make_experiment(1)
    queue = make_queue(experiment=experiment, graders=3, is_blind=False)
    item = first_of(queue)
    with django_assert_num_queries(3):
        shown_with(item, people[0])
    for number in range(4):
        judged(experiment, [1], name=f"Judge {number}", reason="Why not.")
    for person in people[1:]:
        grade(item, person, BAD)
    with django_assert_num_queries(3):
        shown = shown_with(item, people[0])
    assert (len(shown.verdicts), len(shown.colleagues)) == (4, 2)


def test_the_api_tells_it_with_the_next_item(client, make_queue, make_experiment, judged, people):
    experiment = make_experiment(1, "Model Seven")
    judged(experiment, [1], name="Strict judge", reason="It names the date.")
    client.force_login(people[0])
    blind = make_queue(experiment=experiment, name="Blind")
    told = client.post(f"/api/projects/support/queues/{blind.pk}/next/").json()
    assert told["shown"] is None
    blind.is_blind = False
    blind.save()
    shown = client.post(f"/api/projects/support/queues/{blind.pk}/next/").json()["shown"]
    assert shown["systems"] == ["Model Seven"]
    (verdict,) = shown["verdicts"]
    assert (verdict["evaluator"], verdict["score"], verdict["label"]) == ("Strict judge", 1.0, "Good")
    assert verdict["reason"] == "It names the date."


def test_an_item_is_not_shown_through_another_queue(client, project, make_queue, make_experiment, people):
    experiment = make_experiment(1)
    blind = make_queue(experiment=experiment, name="Blind")
    grade(first_of(blind), people[0], GOOD)
    open_one = make_queue(versions=blind.asked, experiment=experiment, name="Open", is_blind=False)
    client.force_login(people[0])
    place = reverse("queue-grade", args=[project.slug, open_one.pk])
    assert client.get(place, {"item": first_of(blind).pk}).status_code == 404
    assert client.get(place, {"item": first_of(open_one).pk}).status_code == 200
