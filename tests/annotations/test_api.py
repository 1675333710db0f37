"""Human review over REST: make a queue, take, grade, skip, read what was said."""

import pytest
from django.urls import reverse

from annotations.models import Grade, Item, Queue
from evaluators.core import Status
from experiments.models import Evaluation

pytestmark = pytest.mark.django_db


@pytest.fixture
def send(client, project):
    def go(person, method, path, body=None):
        client.force_login(person)
        place = f"/api/projects/{project.slug}/{path}"
        options = {"content_type": "application/json", "data": body} if body is not None else {}
        return getattr(client, method)(place, **options)

    return go


def test_a_queue_is_made_graded_and_read(send, alice, people, make_experiment, make_human):
    version, experiment = make_human(), make_experiment(2)
    made = send(alice, "post", "queues/", {"name": "Nightly", "experiment": experiment.pk, "versions": [version.pk]})
    assert made.status_code == 201, made.json()
    queue = made.json()
    assert (queue["progress"]["turns"], queue["rule"], queue["is_blind"]) == (2, "majority", True)
    for label, score in (("Good", 1.0), ("Bad", 0.0)):
        item = send(people[0], "post", f"queues/{queue['id']}/next/").json()
        assert item["questions"][0]["options"] == ["Good", "Bad"]
        assert item == send(people[0], "post", f"queues/{queue['id']}/next/").json(), "the same until it is graded"
        said = {"grades": {str(version.pk): label}, "comment": "So", "seconds": 3}
        assert send(people[0], "post", f"items/{item['id']}/grade/", said).status_code == 204
        assert Evaluation.objects.get(output__case__inputs=item["inputs"]).score == score
    assert send(people[0], "post", f"queues/{queue['id']}/next/").status_code == 204
    assert send(people[0], "get", f"queues/{queue['id']}/").json()["progress"]["mine"] == 2
    listed = send(alice, "get", f"grades/?queue={queue['id']}&current=true").json()["results"]
    assert [(grade["label"], grade["person"], grade["said"]) for grade in listed] == [
        ("Good", "rita", "graded"),
        ("Bad", "rita", "graded"),
    ]


def test_an_item_says_nothing_of_systems(send, people, make_queue):
    queue = make_queue(1)
    item = send(people[0], "post", f"queues/{queue.pk}/next/").content.decode()
    assert "system" not in item


def test_what_is_wrong_is_said_by_version(send, people, make_queue):
    queue = make_queue(1)
    item = send(people[0], "post", f"queues/{queue.pk}/next/").json()
    version = queue.versions.get()
    reply = send(people[0], "post", f"items/{item['id']}/grade/", {"grades": {str(version.pk): "Great"}})
    assert reply.status_code == 400
    assert "none of the options" in reply.content.decode()
    assert not Grade.objects.exists()


def test_skipping_leaves_an_item_to_others(send, people, make_queue):
    queue = make_queue(1)
    item = send(people[0], "post", f"queues/{queue.pk}/next/").json()
    send(people[0], "post", f"items/{item['id']}/grade/", {"do": "skip", "reason": "German"})
    assert send(people[0], "post", f"queues/{queue.pk}/next/").status_code == 204
    assert send(people[1], "post", f"queues/{queue.pk}/next/").json()["id"] == item["id"]


def test_what_cannot_be_judged_is_settled_without_a_score(send, people, make_queue):
    queue = make_queue(1)
    item = send(people[0], "post", f"queues/{queue.pk}/next/").json()
    send(people[0], "post", f"items/{item['id']}/grade/", {"do": "cannot", "comment": "Cut off"})
    row = Evaluation.objects.get()
    assert (row.state, row.why, row.body.reason) == (Status.UNSCORED, "cannot judge", "Cut off")


def test_nobody_grades_what_they_were_not_given(send, people, make_queue):
    queue = make_queue(1)
    version, item = queue.versions.get(), Item.objects.get()
    reply = send(people[0], "post", f"items/{item.pk}/grade/", {"grades": {str(version.pk): "Good"}})
    assert reply.status_code == 403
    queue.reviewers.add(people[1])
    assert send(people[0], "post", f"queues/{queue.pk}/next/").status_code == 404


def test_reviewers_do_not_read_what_others_said(send, people, make_queue):
    make_queue(1)
    assert send(people[0], "get", "grades/").status_code == 403


def test_grades_given_under_other_instructions_are_stale(send, alice, people, make_queue):
    queue = make_queue(1)
    item = send(people[0], "post", f"queues/{queue.pk}/next/").json()
    send(people[0], "post", f"items/{item['id']}/grade/", {"grades": {str(queue.versions.get().pk): "Good"}})
    assert not send(alice, "get", "grades/").json()["results"][0]["is_stale"]
    Queue.objects.update(instructions_version=2)
    assert send(alice, "get", "grades/").json()["results"][0]["is_stale"]


def test_unknown_people_results_and_evaluators_are_named(send, alice, make_experiment, make_human):
    said = {"name": "Q", "experiment": make_experiment(1).pk, "versions": [make_human().pk]}
    for wrong, field in (
        ({"reviewers": ["zoe"]}, "reviewers"),
        ({"adjudicator": "zoe"}, "adjudicator"),
        ({"experiment": 999}, "experiment"),
        ({"versions": [999]}, "versions"),
        ({"graders": 99}, "graders"),
    ):
        reply = send(alice, "post", "queues/", said | wrong)
        assert reply.status_code == 400, wrong
        assert field in reply.content.decode()
    assert not Queue.objects.exists()


def test_the_reference_names_every_operation(client, alice):
    client.force_login(alice)
    schema = client.get(reverse("api-schema")).content.decode()
    for operation in ("queues_list", "queues_create", "queues_read", "queues_next", "items_grade", "grades_list"):
        assert operation in schema


def test_numbers_beyond_every_database_are_refused(send, alice, people, make_experiment, make_human, make_queue):
    said = {"name": "Q", "experiment": make_experiment(1).pk, "versions": [make_human("Other").pk]}
    for wrong in (
        {"versions": [10**20]},
        {"experiment": 10**20},
        {"baseline": 10**20},
        {"by": 10**20, "show": "below"},
    ):
        assert send(alice, "post", "queues/", said | wrong).status_code in (201, 400), wrong
        Queue.objects.all().delete()
    queue = make_queue(1)
    item = send(people[0], "post", f"queues/{queue.pk}/next/").json()
    for body in (
        {"grades": {"9" * 30: "Good"}},
        {"grades": {str(queue.versions.get().pk): 10**400}},
        {"seconds": 1e308},
    ):
        assert send(people[0], "post", f"items/{item['id']}/grade/", body).status_code == 400, body
