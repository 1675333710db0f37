"""Queues by rule: what fails, what two evaluators decide differently, a share of what comes. Nothing comes twice."""

import pytest
from django.urls import reverse
from django.utils import timezone
from django_q.models import Schedule

from annotations import upkeep
from annotations.intake import pull
from annotations.models import Item, Queue
from evaluators.core import Status
from experiments.ledger.start import start
from experiments.models import Evaluation, Run, RunState

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue(project, alice, make_human):
    """make(rule, …) → a queue with that rule."""

    def make(**intake):
        queue = Queue.objects.create(project=project, name="By rule", author=alice, intake=intake)
        queue.versions.add(make_human("Graded"))
        return queue

    return make


def judged(version, experiment, passed):
    """A finished run of a version in which outputs passed, or did not, in this order; None has no verdict."""
    run = start(version, experiment)
    for row, verdict in zip(Evaluation.objects.filter(run=run).order_by("pk"), passed, strict=True):
        Evaluation.objects.filter(pk=row.pk).update(
            state=Status.SCORED, score=float(bool(verdict)), passed=verdict, settled_at=timezone.now()
        )
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED, finished_at=now, revision=run.revision + 1)
    return run


def keys():
    return sorted(Item.objects.values_list("output__case__key", flat=True))


def test_whatever_fails_comes_in_once(make_experiment, make_human, queue):
    judge = make_human("Judge")
    made = queue(rule="failed", evaluator=judge.evaluator_id)
    judged(judge, make_experiment(4), [True, False, False, True])
    assert pull(made) == 2
    assert keys() == ["case-1", "case-2"]
    assert pull(made) == 0


def test_what_fails_later_comes_in_later(make_experiment, make_human, queue):
    judge = make_human("Judge")
    made = queue(rule="failed", evaluator=judge.evaluator_id)
    run = judged(judge, make_experiment(3), [True, False, True])
    pull(made)
    Evaluation.objects.filter(run=run, output__case__key="case-2").update(passed=False, settled_at=timezone.now())
    Run.objects.filter(pk=run.pk).update(revision=99)
    assert pull(made) == 1
    assert keys() == ["case-1", "case-2"]


def test_what_failed_before_there_was_the_queue_stays_out(make_experiment, make_human, queue):
    judge = make_human("Judge")
    judged(judge, make_experiment(2), [False, False])
    assert pull(queue(rule="failed", evaluator=judge.evaluator_id)) == 0


def test_what_two_evaluators_decide_differently_comes_in(make_experiment, make_human, queue):
    one, two = make_human("Judge"), make_human("Other judge")
    made = queue(rule="disagreement", evaluator=one.evaluator_id, other=two.evaluator_id)
    experiment = make_experiment(4)
    judged(one, experiment, [True, True, False, False])
    assert pull(made) == 0
    judged(two, experiment, [True, False, True, False])
    assert pull(made) == 2
    assert keys() == ["case-1", "case-2"]


def test_without_thresholds_scores_that_are_far_apart_disagree(make_experiment, make_human, queue):
    one, two = make_human("Judge"), make_human("Other judge")
    made = queue(rule="disagreement", evaluator=one.evaluator_id, other=two.evaluator_id)
    experiment = make_experiment(2)
    first, second = judged(one, experiment, [None, None]), judged(two, experiment, [None, None])
    Evaluation.objects.filter(run=first).update(score=0.4)
    Evaluation.objects.filter(run=second, output__case__key="case-0").update(score=0.95)
    Evaluation.objects.filter(run=second, output__case__key="case-1").update(score=0.5)
    pull(made)
    assert keys() == ["case-0"]


def test_a_share_of_new_outputs_is_drawn_and_drawn_the_same_again(make_experiment, queue):
    make_experiment(200, "before")
    made = queue(rule="share", share=0.3)
    experiment = make_experiment(200, "after")
    taken = pull(made)
    assert 35 <= taken <= 85
    assert set(Item.objects.values_list("output__experiment", flat=True)) == {experiment.pk}
    assert pull(made) == 0


def test_all_new_outputs_are_a_share_too(make_experiment, queue):
    made = queue(rule="share", share=1.0)
    make_experiment(7)
    assert pull(made) == 7


def test_a_closed_queue_takes_nothing_in(make_experiment, queue):
    made = queue(rule="share", share=1.0)
    made.closed_at = timezone.now()
    made.save()
    make_experiment(3)
    upkeep.pull_all()
    assert not Item.objects.exists()


def test_it_is_asked_every_minute(make_experiment, queue):
    queue(rule="share", share=1.0)
    make_experiment(3)
    upkeep.begin()
    asked = Schedule.objects.get(name="review")
    assert (asked.func, asked.minutes) == ("annotations.upkeep.pull_all", 1)
    upkeep.pull_all()
    assert Item.objects.count() == 3


def test_a_rule_is_chosen_on_the_page_and_told_in_words(as_alice, project, make_human):
    judge, version = make_human("Judge"), make_human()
    place = reverse("queue-new", args=[project.slug])
    said = {"by_rule": 1, "name": "Failures", "versions": version.pk, "graders": 1, "order": "random"}
    said |= {"rule": "majority", "intake-rule": "failed", "intake-share": "5"}
    wrong = as_alice.post(place, said)
    assert wrong.status_code == 422
    assert "Choose an evaluator." in wrong.content.decode()
    reply = as_alice.post(place, said | {"intake-evaluator": judge.evaluator_id})
    assert Queue.objects.get().intake == {"rule": "failed", "evaluator": judge.evaluator_id}
    assert "whatever does not pass Judge" in as_alice.get(reply.url).content.decode()
