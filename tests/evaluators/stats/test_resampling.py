"""Drawing cases anew: against closed forms, scipy and by simulation."""

import numpy
import pytest
from scipy import stats

from evaluators.stats.estimate import Moments, estimate
from evaluators.stats.paired import paired
from evaluators.stats.resampling import bootstrap, bootstrap_mean, counts, sign_flip


def test_a_mean_of_well_behaved_scores_has_the_interval_of_the_closed_form():
    scores = numpy.random.default_rng(1).normal(0.5, 0.1, 200)
    closed = estimate(Moments.of(enumerate(scores.tolist())), 200, is_share=False)
    found = bootstrap_mean(scores, numpy.arange(200))
    assert (found.value, found.standard_error) == pytest.approx((closed.value, closed.standard_error))
    assert (found.low, found.high) == pytest.approx((closed.low, closed.high), abs=0.002)


def test_repeated_answers_to_a_case_count_as_one_and_what_is_missing_is_left_out():
    scores = numpy.random.default_rng(2).random(50)
    alone = bootstrap_mean(scores, numpy.arange(50))
    missing = numpy.append(numpy.tile(scores, 3), [numpy.nan] * 10)
    again = bootstrap_mean(missing, numpy.append(numpy.tile(numpy.arange(50), 3), range(10)))
    assert (again.low, again.high) == pytest.approx((alone.low, alone.high))
    assert (again.n, again.clusters, again.asked) == (150, 50, 160)


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        ([], "Nothing is scored"),
        ([0.1, 0.2], "Fewer than 10 cases"),
        ([0.5] * 40, "the same number"),
        (numpy.linspace(0, 1, 2001), "only up to 2,000"),
    ],
)
def test_it_refuses_with_a_sentence(scores, sentence):
    found = bootstrap_mean(scores, numpy.arange(len(scores)))
    assert found.low is None
    assert sentence in found.refused


def test_the_same_scores_give_the_same_figures():
    scores = numpy.random.default_rng(3).random(40)
    assert bootstrap_mean(scores, numpy.arange(40)) == bootstrap_mean(scores, numpy.arange(40))
    assert (counts(30, 5) == counts(30, 5)).all()
    assert (counts(30, 5).sum(1) == 30).all()


def test_any_statistic_is_drawn_as_scipy_draws_it():
    scores = numpy.random.default_rng(4).exponential(1, 80)

    def deviation(drawn):
        means = drawn @ scores / 80
        return numpy.sqrt(drawn @ scores**2 / 80 - means**2)

    error, low, high = bootstrap(deviation, 80, resamples=4000)
    theirs = stats.bootstrap((scores,), numpy.std, n_resamples=4000, method="BCa", rng=numpy.random.default_rng(1))
    assert error == pytest.approx(theirs.standard_error, rel=0.05)
    assert (low, high) == pytest.approx(tuple(theirs.confidence_interval), rel=0.1)


def test_a_statistic_of_too_many_or_too_few_cases_is_a_mistake():
    for cases in (3, 2001):
        with pytest.raises(ValueError, match="drawn"):
            bootstrap(lambda drawn: drawn.sum(1), cases)


def test_flipping_all_signs_is_the_exact_test():
    differences = [0.3, -0.1, 0.4, 0.2, 0.25, 0.35, 0.15]
    theirs = stats.permutation_test(
        (numpy.array(differences),), numpy.mean, permutation_type="samples", n_resamples=numpy.inf
    )
    found = sign_flip(differences, range(7))
    assert found.p == pytest.approx(theirs.pvalue)
    assert "all of them" in found.method


def test_many_cases_are_flipped_at_random_and_agree_with_the_t_test():
    differences = numpy.random.default_rng(5).normal(0.05, 0.2, 150)
    found = sign_flip(differences, numpy.arange(150))
    assert found.p == pytest.approx(paired(list(enumerate(differences.tolist())), 150).p_value, abs=0.01)
    assert sign_flip(differences, numpy.arange(150)) == found


def test_signs_of_whole_cases_are_flipped():
    """Six attempts at each of eight cases are no more proof than eight cases."""
    differences = numpy.array([0.2, 0.3, 0.1, 0.25, -0.05, 0.4, 0.2, 0.1])
    alone = sign_flip(differences, range(8)).p
    assert sign_flip(numpy.repeat(differences, 6), numpy.repeat(numpy.arange(8), 6)).p == alone


def test_cases_that_never_differ_are_refused():
    assert "No case differs" in sign_flip([0.0] * 20, range(20)).refused


# --- By simulation ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("draw", "truth"),
    [
        (lambda rng, n: rng.normal(0.3, 0.2, n), 0.3),
        (lambda rng, n: rng.exponential(1, n), 1),
        (lambda rng, n: rng.beta(0.5, 3, n), 0.5 / 3.5),
    ],
    ids=["even", "skewed", "near zero"],
)
def test_intervals_cover_the_truth_as_often_as_they_say(draw, truth):
    rng, hits = numpy.random.default_rng(6), 0
    clusters = numpy.repeat(numpy.arange(40), 2)
    for run in range(1000):
        found = bootstrap_mean(
            numpy.repeat(draw(rng, 40), 2) + rng.normal(0, 0.1, 80), clusters, resamples=400, seed=run
        )
        hits += found.low <= truth <= found.high
    assert 0.93 <= hits / 1000 <= 0.97


def test_flipping_signs_cries_wolf_in_5_of_100():
    rng = numpy.random.default_rng(7)
    clusters = numpy.repeat(numpy.arange(30), 2)
    alarms = [
        sign_flip(numpy.repeat(rng.normal(0, 1, 30), 2) + rng.normal(0, 1, 60), clusters, resamples=399).p < 0.05
        for _ in range(2000)
    ]
    assert 0.035 <= numpy.mean(alarms) <= 0.065
