"""Where people differ, one person decides, and sees what they said; and grades given beside a result."""

import re

import pytest
from django.urls import reverse

from annotations.answers import field_of
from annotations.grading import Answer, Subject, submit
from annotations.models import Grade, GradeState, Item, ItemState, Rule
from evalstudio.projects.membership import remove
from evalstudio.projects.models import Membership, Role
from evaluators.core import Status
from experiments.models import Evaluation, OutputBody
from tests.annotations.conftest import SIDES

pytestmark = pytest.mark.django_db


def say(item, person, label, value, comment=""):
    subject = Subject.of(item)
    answer = Answer(GradeState.GRADED, label, value, comment)
    submit(subject, person, {version.pk: answer for version in subject.versions})


def disputed(queue, people):
    """An item that two people graded differently."""
    item = queue.items.order_by("place").first()
    say(item, people[0], "Good", 1.0, "It names the date.")
    say(item, people[1], "Bad", 0.0, "The date is wrong.")
    return Item.objects.get(pk=item.pk)


@pytest.fixture
def queue(make_queue):
    return make_queue(2, graders=2, rule=Rule.ADJUDICATION)


def address(project, name, pk):
    return reverse(name, args=[project.slug, pk])


def test_differing_grades_wait_for_a_decision_and_the_queue_says_so(as_alice, project, queue, people):
    item = disputed(queue, people)
    assert item.state == ItemState.DISPUTED
    assert set(Evaluation.objects.values_list("state", flat=True)) == {Status.AWAITING}
    page = as_alice.get(queue.get_absolute_url()).content.decode()
    assert "They disagree" in page
    assert address(project, "item-decide", item.pk) in page
    assert "Decide 1 in Week 47" in as_alice.get(reverse("home-review", args=[project.slug])).content.decode()


def test_whoever_decides_sees_the_grades_and_the_comments(as_alice, project, queue, people):
    page = as_alice.get(address(project, "item-decide", disputed(queue, people).pk)).content.decode()
    for said in ("It names the date.", "The date is wrong.", "rita", "ravi", "question"):
        assert said in page


def test_numbers_are_told_as_the_scale_has_them_and_steps_are_at_hand(
    as_alice, project, make_queue, make_human, people
):
    version = make_human("How good", {"type": "percentage", "low": 1.0, "high": 5.0})
    queue = make_queue(1, graders=2, versions=[version], rule=Rule.ADJUDICATION)
    item = queue.items.get()
    OutputBody.objects.update(steps=[{"name": "look it up", "output": "nothing"}])
    say(item, people[0], "", 0.375)
    say(item, people[1], "", 1.0)
    grade = Grade.objects.first()
    for name, pk in (("item-decide", item.pk), ("grades-beside", grade.pk)):
        page = as_alice.get(address(project, name, pk)).content.decode()
        assert "<b>2.5</b>" in page
        assert "<b>5</b>" in page
        assert "look it up" in page
    page = as_alice.get(address(project, "evaluator-agreement", version.evaluator_id)).content.decode()
    assert re.search(r"rita</span> 2\.5\b", page)


def test_a_decision_settles_the_row_and_leads_on(as_alice, project, queue, people):
    item, version = disputed(queue, people), queue.versions.get()
    reply = as_alice.post(address(project, "item-decide", item.pk), {field_of(version): "Bad", "comment": "See § 3"})
    assert reply.url == queue.get_absolute_url()
    row = Evaluation.objects.get(output=item.output)
    assert (row.state, row.score) == (Status.SCORED, 0.0)
    assert row.body.reason == "See § 3"
    assert Item.objects.get(pk=item.pk).state == ItemState.DONE
    assert Grade.objects.filter(is_current=True, output=item.output).count() == 3, "theirs stay"


def test_nothing_chosen_is_said_and_decides_nothing(as_alice, project, queue, people):
    item = disputed(queue, people)
    reply = as_alice.post(address(project, "item-decide", item.pk), {"comment": "Hm"})
    assert reply.status_code == 422
    assert "Hm" in reply.content.decode()
    assert Item.objects.get(pk=item.pk).state == ItemState.DISPUTED


def test_a_queue_leads_to_what_is_to_be_decided_until_nothing_is(as_alice, project, queue, people):
    item = disputed(queue, people)
    first = as_alice.get(address(project, "queue-decide", queue.pk))
    assert first.url == address(project, "item-decide", item.pk)
    as_alice.post(first.url, {field_of(queue.versions.get()): "Good"})
    assert as_alice.get(address(project, "queue-decide", queue.pk)).url == queue.get_absolute_url()


@pytest.mark.parametrize(("rule", "score", "seats"), [(Rule.MEAN, 0.5, 2), (Rule.MAJORITY, None, 3)])
def test_what_waits_for_a_decision_is_settled_by_a_rule_without_one(
    as_alice, project, queue, people, rule, score, seats
):
    item = disputed(queue, people)
    said = {"name": queue.name, "instructions": "", "rule": rule}
    assert as_alice.post(address(project, "queue-edit", queue.pk), said).status_code == 302
    item.refresh_from_db()
    assert item.state == (ItemState.OPEN if score is None else ItemState.DONE)
    assert Evaluation.objects.get(output=item.output_id).score == score
    assert item.reservations.count() == seats, "a tie asks one more person"
    assert "to decide" not in as_alice.get(queue.get_absolute_url()).content.decode()


def test_only_the_chosen_person_decides(client, as_alice, project, queue, people):
    item = disputed(queue, people)
    queue.adjudicator = people[2]
    queue.save()
    assert as_alice.get(address(project, "item-decide", item.pk)).status_code == 403
    client.force_login(people[2])
    assert client.get(address(project, "item-decide", item.pk)).status_code == 200
    assert "decide/" in client.get(reverse("queue-list", args=[project.slug])).content.decode()


def test_an_editor_decides_once_the_chosen_person_is_gone(as_alice, alice, project, queue, people):
    item = disputed(queue, people)
    queue.adjudicator = people[2]
    queue.save()
    remove(Membership.objects.get(user=people[2]), alice)
    assert as_alice.get(address(project, "item-decide", item.pk)).status_code == 200
    for page in (queue.get_absolute_url(), reverse("queue-list", args=[project.slug])):
        assert "decide/" in as_alice.get(page).content.decode()
    assert "Decide 1 in" in as_alice.get(reverse("home-review", args=[project.slug])).content.decode()


def test_the_sides_of_a_pair_are_told_as_if_they_were_not_exchanged(
    as_alice, project, people, make_queue, make_human, make_experiment
):
    experiment, baseline = make_experiment(1), make_experiment(1, "another")
    version = make_human("Better", SIDES, "comparison")
    make_queue(versions=[version], experiment=experiment, baseline=baseline, graders=2, rule=Rule.ADJUDICATION)
    Item.objects.update(is_flipped=True)
    item = Item.objects.get()
    say(item, people[0], "First", 0.0)
    say(item, people[1], "Second", 1.0)
    as_alice.post(address(project, "item-decide", item.pk), {field_of(version): "Second"})
    assert Evaluation.objects.get(run__version=version).score == 1.0


# --- Beside a result --------------------------------------------------------------------------------------------------
def test_a_grade_beside_a_result_is_a_result(as_alice, alice, project, make_experiment, make_human):
    version, output = make_human(), make_experiment(1).output_set.get()
    place = address(project, "grade-here", output.pk)
    assert "Helpful" in as_alice.get(place).content.decode()
    reply = as_alice.post(place, {"version": version.pk, field_of(version): "Good", "comment": "Fine"})
    assert "Kept by Helpful" in reply.content.decode()
    grade = Grade.objects.get()
    assert (grade.person, grade.item, grade.value, grade.comment) == (alice, None, 1.0, "Fine")
    assert Evaluation.objects.get(run__version=version).score == 1.0
    as_alice.post(place, {"version": version.pk, field_of(version): "Bad"})
    assert Evaluation.objects.get(run__version=version).score == 0.0
    assert Grade.objects.count() == 2


def test_it_counts_for_a_queue_that_wants_two_people_but_settles_nothing_alone(as_alice, project, people, make_queue):
    queue = make_queue(1, graders=2)
    item, version = queue.items.get(), queue.versions.get()
    as_alice.post(address(project, "grade-here", item.output_id), {"version": version.pk, field_of(version): "Good"})
    assert Evaluation.objects.get().state == Status.AWAITING
    say(item, people[0], "Good", 1.0)
    assert Evaluation.objects.get().state == Status.SCORED


def test_a_pair_is_graded_beside_its_comparison(as_alice, project, make_experiment, make_human):
    experiment, baseline = make_experiment(2), make_experiment(2, "another")
    version, output = make_human("Better", SIDES, "comparison"), experiment.output_set.first()
    place, other = address(project, "grade-here", output.pk), baseline.output_set.get(case=output.case_id)
    assert "A is another, B is system" in as_alice.get(place, {"baseline": other.pk}).content.decode()
    said = {"version": version.pk, "baseline": other.pk, field_of(version): "Second"}
    assert as_alice.post(place, said).status_code == 200
    assert Evaluation.objects.get(run__version=version, output=output).score == 1.0


def test_nothing_chosen_beside_a_result_is_said_and_the_comment_stays(as_alice, project, make_experiment, make_human):
    version, output = make_human(), make_experiment(1).output_set.get()
    reply = as_alice.post(address(project, "grade-here", output.pk), {"version": version.pk, "comment": "Well"})
    assert reply.status_code == 422
    assert "Well" in reply.content.decode()
    assert not Grade.objects.exists()


def test_reviewers_and_viewers_do_not_grade_what_they_look_at(client, project, people, bob, make_experiment):
    output = make_experiment(1).output_set.get()
    for person in (people[0], bob):
        client.force_login(person)
        assert client.get(address(project, "grade-here", output.pk)).status_code == 403
    assert Membership.objects.get(user=bob).role == Role.VIEWER


def test_a_project_in_which_nobody_grades_shows_no_panel(as_alice, project, make_experiment):
    output = make_experiment(1).output_set.get()
    reply = as_alice.get(address(project, "grade-here", output.pk), headers={"HX-Request": "true"})
    assert reply.content == b""
