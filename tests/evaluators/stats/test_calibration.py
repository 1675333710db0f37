"""A judge's share corrected by people's grades: by hand, and by simulation of judges of known error."""

import math

import numpy
import pytest

from evaluators.stats.calibration import Judged, rogan_gladen

NAN = math.nan


def verdicts(judged_pass, judged_fail, tp, fp, fn, tn):
    """So many outputs that the judge passed and failed; of these, what people made of some."""
    judge = [1.0] * judged_pass + [0.0] * judged_fail
    people = [1.0] * tp + [0.0] * fp + [NAN] * (judged_pass - tp - fp)
    return Judged.of(judge, people + [1.0] * fn + [0.0] * tn + [NAN] * (judged_fail - fn - tn))


def test_a_correction_by_hand():
    found = rogan_gladen(verdicts(840, 160, tp=54, fp=20, fn=6, tn=20))
    # Se = 54 / 60, Sp = 20 / 40: (0.84 + 0.5 − 1) / (0.9 + 0.5 − 1).
    assert (found.sensitivity, found.specificity) == pytest.approx((0.9, 0.5))
    assert found.share.value == pytest.approx(0.85)
    assert found.share.low < 0.85 < found.share.high
    assert (found.share.n, found.share.clusters, found.share.asked) == (100, 100, 1000)


def test_a_perfect_judge_needs_no_correction_but_stays_uncertain():
    found = rogan_gladen(verdicts(700, 300, tp=35, fp=0, fn=0, tn=15)).share
    assert found.value == pytest.approx(0.7)
    assert found.high - found.low > 0.1


def test_outputs_likely_to_be_graded_count_less():
    """Half of what the judge failed was graded, and a tenth of what it passed: weights undo that."""
    judge = [1.0] * 1000 + [0.0] * 400
    people = [1.0] * 90 + [0.0] * 10 + [NAN] * 900 + [1.0] * 20 + [0.0] * 180 + [NAN] * 200
    found = rogan_gladen(Judged.of(judge, people, inclusion=[0.1] * 1000 + [0.5] * 400))
    # As if all were graded: 900 and 40 pass, 100 and 360 fail.
    assert (found.sensitivity, found.specificity) == pytest.approx((900 / 940, 360 / 460))
    assert found.share.value == pytest.approx(940 / 1400)


@pytest.mark.parametrize(
    ("judged", "sentence"),
    [
        (verdicts(80, 20, 0, 0, 0, 0), "People have graded none of these outputs yet."),
        (verdicts(80, 20, tp=40, fp=2, fn=2, tn=2), "at least 5 graded cases and to fail as many"),
        (verdicts(500, 500, tp=30, fp=25, fn=20, tn=25), "add up to 1.10, too near to 1"),
    ],
)
def test_it_refuses_with_a_sentence(judged, sentence):
    found = rogan_gladen(judged).share
    assert (found.value, found.low) == (None, None)
    assert sentence in found.refused


@pytest.mark.parametrize("likely", [0, -0.1, 1.2, NAN])
def test_what_is_no_inclusion_probability_is_a_mistake(likely):
    with pytest.raises(ValueError, match="inclusion probability"):
        Judged.of([1.0], [1.0], inclusion=[likely])


def test_what_the_judge_did_not_score_is_left_out_but_was_asked():
    judged = Judged.of([1.0, NAN, 0.0], [1.0, 1.0, NAN])
    assert len(judged.judge) == 2
    assert judged.sizes == (1, 1, 3)


def test_what_nobody_could_judge_is_left_out_of_both_figures():
    """All were looked at, and the judge passes the two that nobody could judge."""
    judge = [1.0] * 42 + [0.0] * 20
    people = [1.0] * 36 + [0.0] * 4 + [NAN] * 2 + [1.0] * 2 + [0.0] * 18
    without = [False] * 40 + [True] * 2 + [False] * 20
    found = rogan_gladen(Judged.of(judge, people, left_out=without)).share
    assert found.value == pytest.approx(38 / 60), "just what people said of those that they could judge"
    assert (found.n, found.asked) == (60, 62)


def test_what_a_sample_leaves_out_stands_for_others_like_it():
    """A tenth of 400 is looked at; the judge passes every output that nobody can judge, a quarter of all."""
    judge = [1.0] * 100 + [1.0] * 150 + [0.0] * 150
    people = [NAN] * 100 + [1.0] * 15 + [NAN] * 135 + [0.0] * 15 + [NAN] * 135
    without = [True] * 10 + [False] * 390
    judged = Judged.of(judge, people, inclusion=[0.1] * 400, left_out=without)
    assert judged.own()[0] == pytest.approx(0.5)
    assert rogan_gladen(judged).share.value == pytest.approx(0.5)


# --- By simulation ----------------------------------------------------------------------------------------------------
def outputs(draw, cases, rows, grades, passing, right, clustered=False, steered=False):
    """A judge right on `right` = (where people pass, where they fail), people check some of its verdicts at random."""
    clusters = numpy.repeat(numpy.arange(cases), rows)
    share = (
        draw.beta(3 * passing, 3 * (1 - passing), cases)[clusters] if clustered else numpy.full(cases * rows, passing)
    )
    people = (draw.random(len(clusters)) < share).astype(float)
    is_right = draw.random(len(clusters)) < numpy.where(people == 1, *right)
    judge = numpy.where(is_right, people, 1 - people)
    weights = numpy.where(judge == 1, 1.0, 3.0) if steered else numpy.ones(len(judge))
    likely = numpy.minimum(1, grades * weights / weights.sum())
    graded = draw.random(len(judge)) < likely
    return Judged.of(judge, numpy.where(graded, people, NAN), clusters, likely)


@pytest.mark.parametrize(
    ("cases", "rows", "grades", "passing", "right", "options"),
    [
        (1000, 1, 100, 0.72, (0.95, 0.6), {}),
        (1000, 1, 200, 0.9, (0.95, 0.7), {}),
        (300, 1, 100, 0.3, (0.8, 0.9), {}),
        (400, 3, 120, 0.7, (0.9, 0.8), {"clustered": True}),
        (1000, 1, 100, 0.7, (0.9, 0.8), {"steered": True}),
    ],
    ids=["generous judge", "few failures", "few outputs", "several outputs a case", "failures graded more"],
)
def test_intervals_cover_the_truth_as_often_as_they_say(cases, rows, grades, passing, right, options):
    draw = numpy.random.default_rng(1)
    found = [rogan_gladen(outputs(draw, cases, rows, grades, passing, right, **options)).share for _ in range(2000)]
    told = [one for one in found if one.low is not None]
    assert len(told) > 1950
    assert 0.93 <= numpy.mean([one.low <= passing <= one.high for one in told]) <= 0.97


def test_intervals_cover_the_truth_of_what_can_be_judged_where_some_cannot():
    """A fifth cannot be judged; there the judge nearly always passes."""
    draw = numpy.random.default_rng(4)
    found = []
    for _ in range(2000):
        cannot = draw.random(1000) < 0.2
        people = (draw.random(1000) < 0.6).astype(float)
        judge = numpy.where(draw.random(1000) < 0.85, people, 1 - people)
        judge = numpy.where(cannot, (draw.random(1000) < 0.95).astype(float), judge)
        seen = draw.random(1000) < 0.15
        people = numpy.where(seen & ~cannot, people, NAN)
        found.append(rogan_gladen(Judged.of(judge, people, None, numpy.full(1000, 0.15), seen & cannot)).share)
    told = [one for one in found if one.low is not None]
    assert len(told) > 1950
    assert numpy.mean([one.value for one in told]) == pytest.approx(0.6, abs=0.01)
    assert 0.93 <= numpy.mean([one.low <= 0.6 <= one.high for one in told]) <= 0.97


def test_a_judge_that_guesses_is_refused_nearly_always():
    draw = numpy.random.default_rng(2)
    found = [rogan_gladen(outputs(draw, 1000, 1, 100, 0.5, (0.55, 0.55))).share for _ in range(300)]
    assert sum(one.refused is not None for one in found) > 285
