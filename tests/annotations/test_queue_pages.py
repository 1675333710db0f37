"""Pages of queues: the list, making one of a result or a part of it, changing it, how far it is."""

import pytest
from django.urls import reverse

from annotations.forms import NewQueueForm
from annotations.grading import Answer, Subject, submit
from annotations.models import GradeState, Item, Queue
from evalstudio.projects.models import AuditEntry
from evaluators.core import Status
from experiments.ledger.start import start
from experiments.models import Evaluation, Run, RunState
from tests.annotations.conftest import SIDES

pytestmark = pytest.mark.django_db


def address(project, name="queue-list", *args):
    return reverse(name, args=[project.slug, *args])


def typed(version, **more):
    said = {"name": "Week 47", "versions": version.pk, "graders": 1, "order": "random", "rule": "majority"}
    return said | {"repeated": "", "is_blind": "on", "instructions": ""} | more


def say(queue, person, label="Good", item=None, seconds=4.0):
    item = item or queue.items.order_by("place").first()
    version = queue.versions.first()
    answer = Answer(GradeState.GRADED, label, 1.0 if label == "Good" else 0.0, f"{label} it is")
    submit(Subject.of(item), person, {version.pk: answer}, seconds=seconds)


# --- The list ---------------------------------------------------------------------------------------------------------
def test_a_project_without_queues_says_what_a_queue_is_for(as_alice, project):
    page = as_alice.get(address(project)).content.decode()
    assert "Nobody grades yet" in page
    assert address(project, "queue-new") in page


def test_the_list_says_of_each_queue_what_is_graded_and_how_long_the_rest_takes(as_alice, alice, project, make_queue):
    queue = make_queue(3)
    say(queue, alice, seconds=20.0)
    page = as_alice.get(address(project)).content.decode()
    assert "<b>1</b> of 3 graded, 1 of them yours" in page
    assert "20.0\N{NO-BREAK SPACE}s" in page
    assert "40.0\N{NO-BREAK SPACE}s" in page
    assert address(project, "queue-grade", queue.pk) in page


def test_closed_queues_stand_apart(as_alice, project, make_queue):
    queue = make_queue(1)
    as_alice.post(address(project, "queue-close", queue.pk))
    assert "Week 47" not in as_alice.get(address(project)).content.decode()
    assert "Week 47" in as_alice.get(address(project), {"show": "closed"}).content.decode()
    as_alice.post(address(project, "queue-reopen", queue.pk))
    assert "Week 47" in as_alice.get(address(project)).content.decode()


def test_a_reviewer_sees_the_queues_for_everybody_and_their_own_but_no_other(
    client, project, make_queue, make_human, people
):
    version = make_human()
    make_queue(1, versions=[version], name="For all")
    make_queue(1, versions=[version], name="For Rita").reviewers.add(people[0])
    make_queue(1, versions=[version], name="For Ravi").reviewers.add(people[1])
    client.force_login(people[0])
    page = client.get(address(project)).content.decode()
    assert ("For all" in page, "For Rita" in page, "For Ravi" in page) == (True, True, False)
    assert "assistant" not in page


def test_a_list_of_many_queues_takes_as_many_queries_as_one(
    as_alice, project, make_queue, make_human, make_experiment, django_assert_max_num_queries
):
    version, experiment = make_human(), make_experiment(2)
    for number in range(12):
        make_queue(name=f"Queue {number}", versions=[version], experiment=experiment)
    with django_assert_max_num_queries(15):
        assert as_alice.get(address(project)).status_code == 200


# --- Making one -------------------------------------------------------------------------------------------------------
def test_without_a_result_the_page_asks_what_to_grade(as_alice, project, make_experiment):
    experiment = make_experiment(2)
    page = as_alice.get(address(project, "queue-new")).content.decode()
    assert f"?experiment={experiment.pk}" in page
    assert "?by_rule=1" in page


def test_a_queue_of_a_result_has_an_item_for_every_output_and_starts_the_run(
    as_alice, project, make_experiment, make_human
):
    experiment, version = make_experiment(5), make_human()
    reply = as_alice.post(address(project, "queue-new"), typed(version, experiment=experiment.pk, graders=2))
    queue = Queue.objects.get()
    assert reply.url == queue.get_absolute_url()
    assert queue.items.count() == 5
    run = Run.objects.get(version=version)
    assert (run.lane, run.state) == ("people", RunState.ACTIVE)
    assert Evaluation.objects.filter(run=run, state=Status.AWAITING).count() == 5
    assert AuditEntry.objects.filter(act="made", subject="queue Week 47").exists()
    assert "0</b> of 10 graded" in as_alice.get(reply.url).content.decode()


def test_a_queue_of_a_pair_has_its_pairs(as_alice, project, make_experiment, make_human):
    experiment, baseline = make_experiment(4), make_experiment(4, "another")
    version = make_human("Better", SIDES, "comparison")
    said = typed(version, experiment=experiment.pk, baseline=baseline.pk)
    as_alice.post(address(project, "queue-new"), said)
    assert Item.objects.filter(output__experiment=experiment, baseline_output__experiment=baseline).count() == 4


def test_a_queue_of_a_filter_has_what_the_filter_keeps(as_alice, project, make_experiment, make_human, alice):
    experiment, version = make_experiment(6), make_human()
    judged = start(make_human("Judge"), experiment, alice)
    for number, row in enumerate(Evaluation.objects.filter(run=judged).order_by("pk")):
        Evaluation.objects.filter(pk=row.pk).update(
            state=Status.SCORED, score=number / 5, passed=number > 3, settled_at=experiment.created_at
        )
    Run.objects.filter(pk=judged.pk).update(revision=9)
    said = {"experiment": experiment.pk, "by": judged.pk, "show": "below"}
    page = as_alice.get(address(project, "queue-new"), said).content.decode()
    assert '<b class="num">4</b> outputs' in page
    assert "not on the good side of the threshold by Judge v1" in page
    as_alice.post(address(project, "queue-new"), typed(version, **said))
    scores = Evaluation.objects.filter(run=judged, output__in=Item.objects.values("output")).values_list("passed")
    assert set(scores) == {(False,)}
    assert Item.objects.count() == 4


def test_words_find_cases_by_key(as_alice, project, make_experiment, make_human):
    experiment, version = make_experiment(12), make_human()
    as_alice.post(address(project, "queue-new"), typed(version, experiment=experiment.pk, q="case-1"))
    assert sorted(Item.objects.values_list("output__case__key", flat=True)) == ["case-1", "case-10", "case-11"]


def test_a_queue_of_a_slice_has_its_cases(as_alice, project, make_experiment, make_human):
    experiment, version = make_experiment(6), make_human()
    experiment.dataset_version.dataset.case_set.filter(key__in=["case-1", "case-4"]).update(split="test")
    said = {"experiment": experiment.pk, "split": "test"}
    assert "in split test" in as_alice.get(address(project, "queue-new"), said).content.decode()
    as_alice.post(address(project, "queue-new"), typed(version, **said))
    assert sorted(Item.objects.values_list("output__case__key", flat=True)) == ["case-1", "case-4"]


def test_what_is_typed_wrong_is_said_beside_its_field_and_nothing_is_lost(
    as_alice, project, make_experiment, make_human, make_queue
):
    make_queue(1)
    experiment = make_experiment(2)
    said = typed(make_human("Other"), experiment=experiment.pk, graders=0, instructions="Read **twice**")
    said.pop("versions")
    reply = as_alice.post(address(project, "queue-new"), said)
    page = reply.content.decode()
    assert reply.status_code == 422
    assert "There is a queue “Week 47” already." in page
    assert "Choose at least one human evaluator." in page
    assert "Give a whole number from 1 to 20." in page
    assert "Read **twice**" in page
    assert Queue.objects.count() == 1


def test_only_evaluators_that_fit_are_offered(project, make_human):
    one, two = make_human(), make_human("Better", SIDES, "comparison")
    single = NewQueueForm(project=project, compares=False).fields["versions"].queryset
    paired = NewQueueForm(project=project, compares=True).fields["versions"].queryset
    assert (list(single), list(paired)) == ([one], [two])


def test_hidden_repeats_are_asked_for_by_a_share(as_alice, project, make_experiment, make_human):
    said = typed(make_human(), experiment=make_experiment(10).pk, repeated=20)
    as_alice.post(address(project, "queue-new"), said)
    assert Item.objects.filter(repeats__isnull=False).count() == 2


def test_the_result_of_another_project_makes_no_queue(client, charlie, project, make_experiment, make_human):
    from evalstudio.projects.models import Project

    own = Project.start("Elsewhere", charlie)
    client.force_login(charlie)
    client.post(address(own, "queue-new"), typed(make_human(), experiment=make_experiment(2).pk))
    assert not Queue.objects.exists()


# --- One queue --------------------------------------------------------------------------------------------------------
def test_changed_instructions_are_a_new_version_and_the_same_ones_are_not(as_alice, project, make_queue):
    queue = make_queue(1, instructions="Read.")
    said = {"name": "Week 48", "instructions": "Read.", "rule": "mean", "is_blind": "on"}
    as_alice.post(address(project, "queue-edit", queue.pk), said)
    queue.refresh_from_db()
    assert (queue.name, queue.rule, queue.instructions_version) == ("Week 48", "mean", 1)
    as_alice.post(address(project, "queue-edit", queue.pk), said | {"instructions": "Read\r\ntwice. "})
    queue.refresh_from_db()
    assert (queue.instructions, queue.instructions_version) == ("Read\ntwice.", 2)


def test_the_page_of_a_queue_says_who_has_done_what(as_alice, project, make_queue, people):
    queue = make_queue(3)
    say(queue, people[0], seconds=10.0)
    page = as_alice.get(queue.get_absolute_url()).content.decode()
    assert "<b>1</b> of 3 graded" in page
    assert '<th scope="row">rita</th><td class="r num">1</td>' in page
    assert "about 20.0\N{NO-BREAK SPACE}s left for everyone" in page


def test_the_home_page_says_what_awaits_me(as_alice, alice, project, make_queue):
    assert (
        "Awaits me"
        not in as_alice.get(address(project, "home-review"), headers={"HX-Request": "true"}).content.decode()
    )
    queue = make_queue(2)
    page = as_alice.get(address(project, "home-review"), headers={"HX-Request": "true"}).content.decode()
    assert f"Grade {queue.name}" in page
    assert address(project, "home-review") in as_alice.get(project.get_absolute_url()).content.decode()
    for item in queue.items.all():
        say(queue, alice, item=item)
    assert "Grade Week" not in as_alice.get(address(project, "home-review")).content.decode()
