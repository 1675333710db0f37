"""What a run says as a whole: counts, figure and spread, kept as long as no row changes."""

import pytest
from django.db.models import F

from evaluators.core import Status
from experiments.analysis.distribution import STEPS, distributions, drawing
from experiments.analysis.outcomes import label_counts, troubles
from experiments.analysis.summary import summaries
from experiments.models import Evaluation, EvaluationBody, Run, RunLabel, RunState
from tests.experiments.judged import experiment_of, judged, version_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(project):
    told = [0.0, 0.04, 0.05, 0.5, 0.999, 1.0, "unscored: unparsed", "failed: time limit", "unscored: unparsed"]
    return judged(experiment_of(project, 9), version_of(project, "Facts"), told)


def test_every_state_is_counted_and_an_unknown_is_no_zero(run):
    summary = summaries([run])[run.pk]
    assert summary.counts == {"pending": 0, "awaiting": 0, "scored": 6, "unscored": 2, "failed": 1}
    assert summary.asked == 9
    assert summary.below == 3
    assert summary.estimate.value == pytest.approx((0.04 + 0.05 + 0.5 + 0.999 + 1.0) / 6)
    assert (summary.estimate.n, summary.estimate.asked) == (6, 9)


def test_the_summary_of_a_finished_run_is_worked_out_once(run, django_assert_num_queries):
    fresh = summaries([run])[run.pk]
    with django_assert_num_queries(1):
        again = Run.objects.get(pk=run.pk)
        assert summaries([again])[run.pk] == fresh


def test_a_row_that_changes_makes_the_summary_be_worked_out_again(run):
    summaries([run])
    Evaluation.objects.filter(run=run, state=Status.FAILED).delete()
    Run.objects.filter(pk=run.pk).update(revision=F("revision") + 1)
    assert summaries([Run.objects.get(pk=run.pk)])[run.pk].asked == 8


def test_the_summary_of_a_run_under_way_is_not_kept(run):
    Run.objects.filter(pk=run.pk).update(state=RunState.ACTIVE)
    summaries([Run.objects.get(pk=run.pk)])
    assert Run.objects.get(pk=run.pk).summary is None


def test_a_summary_is_not_kept_when_a_row_has_changed_meanwhile(run):
    Run.objects.filter(pk=run.pk).update(revision=F("revision") + 1)  # after `run` was read
    summaries([run])
    assert Run.objects.get(pk=run.pk).summary is None


def test_scores_fall_into_twenty_steps_those_below_threshold_apart(run):
    steps = distributions([run])[run.pk]
    assert len(steps) == STEPS
    assert {at: step for at, step in enumerate(steps) if step != [0, 0]} == {
        0: [2, 0],
        1: [1, 0],
        10: [0, 1],
        19: [0, 2],
    }


def test_the_drawing_stacks_what_fails_under_what_passes():
    picture = drawing([[1, 1], *[[0, 0]] * 18, [0, 4]], 0.6)
    assert [(bar.x, bar.is_below) for bar in picture.bars] == [("0.35%", True), ("0.35%", False), ("95.35%", False)]
    low, high, tall = picture.bars
    assert float(low.y) + float(low.height) == picture.height
    assert float(high.y) + float(high.height) == pytest.approx(float(low.y), abs=0.1)
    assert float(tall.height) == pytest.approx(4 * float(low.height), abs=0.3)
    assert picture.threshold == "60.0%"
    assert picture.spoken == "Scores by quarter of the scale, lowest first: 2, 0, 0, 4"


def test_nothing_scored_draws_nothing():
    assert drawing([[0, 0]] * STEPS, 0.5) is None
    assert drawing([], 0.5) is None


def test_rows_without_a_score_are_told_by_their_reason(run):
    first = Evaluation.objects.filter(run=run, state=Status.UNSCORED).first()
    EvaluationBody.objects.create(evaluation=first, reason="It ends in the middle.")
    assert [(each.why, each.rows, each.example, each.show) for each in troubles(run)] == [
        ("unparsed", 2, "It ends in the middle.", "unscored"),
        ("time limit", 1, "", "failed"),
    ]


def test_labels_are_counted_from_the_best_to_the_worst(run):
    scored = list(Evaluation.objects.filter(run=run, state=Status.SCORED).order_by("score"))
    for number, label in enumerate(("Wrong", "Right"), 1):
        RunLabel.objects.create(run=run, label_id=number, label=label)
    Evaluation.objects.filter(pk__in=[scored[0].pk]).update(label_id=1)
    Evaluation.objects.filter(pk__in=[row.pk for row in scored[3:]]).update(label_id=2)
    assert [(each.label, each.rows, each.share, each.below) for each in label_counts(run)] == [
        ("Right", 3, 0.75, False),
        ("Wrong", 1, 0.25, True),
    ]


def test_a_run_without_labels_has_none(run, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert label_counts(run) == []
