"""Prediction-powered means: by hand, against the published estimator and by simulation."""

import math

import numpy
import pytest

from evaluators.stats.calibration import Judged
from evaluators.stats.drawing import inclusion, place, worth
from evaluators.stats.estimate import Moments, estimate
from evaluators.stats.predicted import prediction_powered

NAN = math.nan


def some(draw, cases=1000, rows=1, grades=80, level=0.5, bias=0.1, noise=0.1, steered=False):
    """Scores of people, of a judge that is off by a bias and by noise, and people's for a random share of outputs."""
    clusters = numpy.repeat(numpy.arange(cases), rows)
    ability = level + draw.normal(size=cases)[clusters] + draw.normal(0, 0.7, len(clusters))
    people = 1 / (1 + numpy.exp(-ability))
    judge = numpy.clip(people + bias + draw.normal(0, noise, len(people)), 0, 1)
    weights = numpy.where(judge > 0.5, 1.0, 3.0) if steered else numpy.ones(len(judge))
    likely = numpy.minimum(1, grades * weights / weights.sum())
    graded = draw.random(len(judge)) < likely
    return Judged.of(judge, numpy.where(graded, people, NAN), clusters, likely), people


def test_it_is_the_published_estimator():
    """PPI++ with its own λ = cov(y, f) / ((1 + n / N) var(f)), n graded beside N that are not."""
    judged, _ = some(numpy.random.default_rng(1), grades=150)
    f, y, graded = judged.judge, judged.people, judged.graded
    n, beside = graded.sum(), (~graded).sum()
    tuning = numpy.cov(y[graded], f[graded])[0, 1] / ((1 + n / beside) * numpy.var(f, ddof=1))
    published = y[graded].mean() + tuning * (f[~graded].mean() - f[graded].mean())
    found = prediction_powered(judged)
    assert found.mean.value == pytest.approx(published, abs=0.003)


def test_a_judge_that_says_nothing_does_not_count():
    draw = numpy.random.default_rng(2)
    people = draw.random(400)
    found = prediction_powered(Judged.of(draw.random(400), numpy.where(numpy.arange(400) < 100, people, NAN)))
    own = estimate(Moments.of(enumerate(people[:100].tolist())), 400)
    assert found.tuning < 0.25
    assert (found.mean.low, found.mean.high) == pytest.approx((own.low, own.high), abs=0.03)


def test_a_good_judge_narrows_the_interval():
    judged, people = some(numpy.random.default_rng(3), noise=0.05)
    found = prediction_powered(judged).mean
    own = estimate(Moments.of(enumerate(people[judged.graded].tolist())), 1000)
    assert found.high - found.low < 0.6 * (own.high - own.low)
    assert (found.n, found.asked) == (judged.graded.sum(), 1000)


def test_all_outputs_graded_give_people_s_own_mean():
    draw = numpy.random.default_rng(4)
    people = draw.random(60)
    found = prediction_powered(Judged.of(numpy.clip(people + 0.2, 0, 1), people)).mean
    assert found.value == pytest.approx(people.mean())
    assert found.standard_error == pytest.approx(people.std(ddof=1) / math.sqrt(60), rel=0.02)


@pytest.mark.parametrize(
    ("judge", "people", "sentence"),
    [
        ([0.5] * 40, [NAN] * 40, "graded none"),
        ([0.5, 0.7] * 20, [0.5] * 14 + [NAN] * 26, "fewer than 15"),
    ],
)
def test_it_refuses_with_a_sentence(judge, people, sentence):
    found = prediction_powered(Judged.of(judge, people)).mean
    assert found.low is None
    assert sentence in found.refused


def test_agreement_on_everything_graded_is_no_certainty():
    judge = numpy.arange(1000) % 2
    found = prediction_powered(Judged.of(judge, numpy.where(numpy.arange(1000) < 30, judge, NAN))).mean
    assert found.value == pytest.approx(0.5)
    assert found.high - found.low > 0.12


# --- By simulation ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"grades": 30},
        {"level": 2, "bias": -0.1, "noise": 0.2},
        {"cases": 400, "rows": 3, "grades": 90},
        {"steered": True},
    ],
    ids=["scores", "few grades", "near the end", "several outputs a case", "doubtful ones graded more"],
)
def test_intervals_of_scores_cover_the_truth_as_often_as_they_say(options):
    draw = numpy.random.default_rng(5)
    truth = some(draw, **{**options, "cases": 300_000})[1].mean()
    found = [prediction_powered(some(draw, **options)[0]).mean for _ in range(2000)]
    told = [one for one in found if one.low is not None]
    assert len(told) > 1950
    assert 0.93 <= numpy.mean([one.low <= truth <= one.high for one in told]) <= 0.97


def labels(draw, n, grades, shares, right, steered):
    """Whether people, and a judge that is right so often and else guesses, chose the last label; some are graded."""
    people = draw.choice(len(shares), n, p=shares)
    judge = numpy.where(draw.random(n) < right, people, draw.choice(len(shares), n))
    last = len(shares) - 1
    weights = numpy.where(judge == last, 2.0, 1.0) if steered else numpy.ones(n)
    likely = numpy.minimum(1, grades * weights / weights.sum())
    own = numpy.where(draw.random(n) < likely, (people == last).astype(float), NAN)
    return Judged.of((judge == last).astype(float), own, inclusion=likely)


@pytest.mark.parametrize(
    ("shares", "right", "grades", "steered"),
    [((0.5, 0.3, 0.2), 0.8, 100, False), ((0.5, 0.3, 0.2), 0.8, 100, True), ((0.3, 0.7), 0.8, 60, False)],
)
def test_intervals_of_shares_cover_the_truth_as_often_as_they_say(shares, right, grades, steered):
    draw = numpy.random.default_rng(6)
    found = [prediction_powered(labels(draw, 1000, grades, shares, right, steered)).mean for _ in range(2000)]
    assert 0.93 <= numpy.mean([one.low <= shares[-1] <= one.high for one in found]) <= 0.97


def line(draw, n, stop):
    """A judge says how likely each output passes; people grade in line, what tells more likelier first, then stop."""
    likely_to_pass = draw.beta(0.5, 0.5, n)
    people = (draw.random(n) < likely_to_pass).astype(float)
    weights = numpy.array([worth(p) for p in likely_to_pass])
    places = numpy.array([place(w, luck) for w, luck in zip(weights, draw.random(n), strict=True)])
    until = numpy.sort(places)[stop]
    chances = numpy.array([inclusion(w, until) for w in weights])
    return likely_to_pass, numpy.where(places < until, people, NAN), chances


def test_grading_what_tells_most_first_stays_unbiased_and_covers_the_truth():
    draw = numpy.random.default_rng(7)
    found, totals = [], []
    for _ in range(600):
        judge, people, chances = line(draw, 500, 60)
        found.append(prediction_powered(Judged.of(judge, people, inclusion=chances)).mean)
        totals.append(numpy.nansum(people / chances) / 500)
    assert numpy.mean(totals) == pytest.approx(0.5, abs=3 * numpy.std(totals) / math.sqrt(600))
    assert numpy.mean([one.value for one in found]) == pytest.approx(0.5, abs=0.006)
    assert 0.925 <= numpy.mean([one.low <= 0.5 <= one.high for one in found]) <= 0.975


def test_grading_what_tells_most_first_tells_more_than_any_order():
    draw = numpy.random.default_rng(8)
    steered, plain = [], []
    for _ in range(150):
        judge, people, chances = line(draw, 500, 60)
        steered.append(prediction_powered(Judged.of(judge, people, inclusion=chances)).mean.standard_error)
        truth = (draw.random(500) < judge).astype(float)
        plain.append(
            prediction_powered(Judged.of(judge, numpy.where(draw.random(500) < 0.12, truth, NAN))).mean.standard_error
        )
    assert numpy.mean(steered) < numpy.mean(plain)
