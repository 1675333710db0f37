"""Comparative judges corrected by people who graded the same pairs."""

import random

import numpy as np
import pytest
from django.urls import reverse

from annotations.beside import Beside, beside, people_of, runs_with_people
from annotations.grading import Subject, submit
from annotations.judging import NO_WORD, against, calibrate_all, corrected
from annotations.models import Item, Order
from evalstudio.calls.models import Connection
from experiments.analysis.columns import columns
from experiments.models import Calibration, Evaluation, Run, RunLabel
from tests.annotations.conftest import SIDES
from tests.annotations.test_grading import Answer, GradeState
from tests.experiments.compared import compared, preference

WORDS = {0.0: "First", 0.5: "Equal", 1.0: "Second"}


@pytest.fixture
def pairs(make_experiment, make_queue, make_human):
    """A queue over so many pairs, and the judge's run over them, corrected by those who grade there."""

    def make(judged, scores, **settings):
        baseline, experiment = make_experiment(len(scores), "Old"), make_experiment(len(scores), "New")
        run = judged(experiment, scores, name="Preference", baseline=baseline)
        version = make_human("Better", SIDES, "comparison")
        queue = make_queue(versions=[version], baseline=baseline, experiment=experiment, **settings)
        run.version.evaluator.reference = version.evaluator
        run.version.evaluator.save()
        return queue, run

    return make


def grade_pairs(queue, person, truth, only=None):
    items = Item.objects.filter(queue=queue).select_related(
        "queue", "output__experiment", "baseline_output__experiment"
    )
    for item, value in zip(items.order_by("output"), truth, strict=True):
        if only is None or item.output_id in only:
            subject = Subject.of(item)
            submit(
                subject, person, {each.pk: Answer(GradeState.GRADED, WORDS[value], value) for each in subject.versions}
            )


@pytest.mark.django_db
def test_a_judge_that_favours_the_new_one_is_corrected_to_what_people_say(pairs, judged, people, as_alice, project):
    rng = random.Random(3)
    random.seed(8)  # the order of the queue is drawn, and must have nothing to do with what the judge says
    truth = [rng.choice([0.0, 0.0, 0.5, 1.0]) for _ in range(400)]
    said = [1.0 if value < 1 and rng.random() < 0.4 else value for value in truth]
    queue, run = pairs(judged, said, order=Order.RANDOM)
    first = set(queue.items.order_by("place").values_list("output", flat=True)[:160])
    grade_pairs(queue, people[0], truth, first)
    assert calibrate_all() == 1
    assert calibrate_all() == 0
    figure = Calibration.objects.get(run=run).figure
    assert figure["low"] < np.mean(truth) < figure["high"]
    assert figure["high"] < np.mean(said)
    assert (figure["n"], figure["method"]) == (160, "prediction-powered t interval over cases")
    judge = run.version.evaluator_id
    against = reverse("experiment-against", args=[project.slug, run.experiment_id, run.baseline_id])
    board = reverse("leaderboard-pairs", args=[project.slug]) + f"?version={run.version_id}"
    people_page = reverse("evaluator-people", args=[project.slug, judge])
    for address in (against, board):
        assert "corrected by people" in as_alice.get(address).content.decode(), address
    page = as_alice.get(people_page).content.decode()
    assert "people would say" in page
    assert "New against Old" in page


@pytest.mark.django_db
def test_grades_against_another_baseline_correct_nothing(pairs, judged, people, make_experiment, make_queue):
    queue, run = pairs(judged, [1.0] * 20)
    elsewhere = make_experiment(20, "Older")
    other = make_queue(
        versions=queue.asked, baseline=elsewhere, experiment=run.experiment, name="Another pair", order=Order.RANDOM
    )
    grade_pairs(other, people[0], [1.0] * 20)
    run = Run.objects.select_related("version__evaluator").get(pk=run.pk)
    pair = beside(run, people_of(run))
    assert int(pair.both.sum()) == 0
    assert [each.pk for each in runs_with_people(run.version.evaluator)] == [run.pk]
    Run.objects.filter(lane="people", baseline=run.baseline_id).update(is_current=False)
    assert runs_with_people(run.version.evaluator) == []


def simulated(rng, scores, cases=400, grades=120):
    """What people say of every pair, and a judge that moves some of it toward the new one, beside drawn grades."""
    truth = rng.choice(scores, size=cases)
    said = np.where(rng.random(cases) < 0.3, rng.choice(scores, size=cases), truth)
    said = np.where((rng.random(cases) < 0.15), 1.0, said)
    graded = np.full(cases, np.nan)
    drawn = rng.choice(cases, size=grades, replace=False)
    graded[drawn] = truth[drawn]
    likely = np.full(cases, np.nan)
    likely[drawn] = grades / cases
    words = [""] * cases
    every = np.arange(cases)
    return Beside(
        None, None, every, every, said, graded, words, words, likely, np.ones(cases, bool), np.zeros(cases, bool), 0, 0
    )


@pytest.mark.parametrize(("scores", "method"), [((0.0, 0.5, 1.0), "prediction"), ((0.0, 1.0), "Rogan")])
def test_intervals_cover_the_share_of_wins_that_people_would_give(scores, method):
    """Of 1,000 seeded judges of pairs whose wins, ties and losses are equally likely."""
    covered = 0
    for seed in range(1_000):
        figure = corrected(simulated(np.random.default_rng(seed), scores))
        assert figure.method.startswith(method)
        covered += figure.low <= 0.5 <= figure.high
    assert 0.93 <= covered / 1_000 <= 0.97


@pytest.mark.django_db
def test_a_judge_whose_two_orders_disagree_has_said_neither(project, make_experiment, make_human, make_queue, people):
    """Ten pairs; the judge says Second of each, in both orders of all but two, of which people say Second as well."""
    baseline, experiment = make_experiment(10, "Old"), make_experiment(10, "New")
    version = preference(project, Connection.add_rehearsal(project, None))
    run = compared(experiment, baseline, version, [0.5, 0.5, *[1.0] * 8], flipped=(0, 1))
    RunLabel.objects.create(run=run, label_id=1, label="Second")
    Evaluation.objects.filter(run=run).update(label_id=1)
    queue = make_queue(versions=[make_human("Better", SIDES, "comparison")], baseline=baseline, experiment=experiment)
    grade_pairs(queue, people[0], [1.0] * 9 + [0.0])
    theirs = Run.objects.get(version=queue.versions.get())
    pair = beside(run, theirs)
    found = against(pair, columns([run])[0].figure)
    assert found.own.value == 0.9
    assert (found.agreement.value, found.n) == (0.7, 10)
    assert found.table.counts == {("Second", NO_WORD): 2, ("Second", "Second"): 7, ("First", "Second"): 1}
