"""How far an evaluator agrees with itself: by hand, by simulation, and where there is nothing to tell."""

import math
import random

import pytest

from evaluators.stats.noise import Judgement, noise


def values(*numbers):
    return [Judgement(number) for number in numbers]


def labels(text, scale=None):
    worth = scale or {"A": 1.0, "B": 0.5, "C": 0.0}
    return [Judgement(worth[label], label) for label in text]


def test_two_outputs_by_hand():
    found = noise({"a": values(1, 1, 0), "b": values(0.5, 0.5, 0.5)}, 3)
    # Pairs that agree: 1 of 3 and 3 of 3. SS of a: 2/3 around 2/3, of b: 0; s_w² = (2/3) / (2 + 2) = 1/6.
    assert found.agreement.value == pytest.approx(4 / 6)
    assert found.deviation == pytest.approx(math.sqrt(1 / 6))
    assert found.of_mean(100) == pytest.approx(0.0408248, abs=1e-7)
    assert found.floor(100) == pytest.approx(1.959964 * math.sqrt(2) * 0.0408248, abs=1e-7)
    assert (found.outputs, found.asked, found.judgements) == (2, 2, 6)


def test_the_interval_of_the_deviation_by_hand():
    found = noise({1: values(0, 0.4), 2: values(0.5, 0.5), 3: values(0.1, 0.3)}, 2)
    # SS 0.08, 0, 0.02: mean 1/30 with sd √(0.0052/3), t(2) = 4.302653, on the log-odds of the variance,
    # wider by 3 / (3 − 1.5) because outputs are so few.
    half = 4.302653 * math.sqrt(0.0052 / 3) / math.sqrt(3) / (1 / 30 * 29 / 30) * 2
    low, high = (1 / (1 + 29 * math.exp(-end)) for end in (-half, half))
    assert found.deviation == pytest.approx(math.sqrt(1 / 30))
    assert (found.low, found.high) == pytest.approx((math.sqrt(low), math.sqrt(high)), abs=1e-6)
    assert found.floor_interval(50)[1] == pytest.approx(1.959964 * math.sqrt(2 * high / 50), abs=1e-6)


def test_four_times_the_cases_halve_the_floor():
    found = noise({"a": values(0, 1), "b": values(0, 0.5)}, 2)
    assert found.floor(400) == pytest.approx(found.floor(100) / 2)


def test_labels_agree_by_their_name_even_where_they_count_the_same():
    found = noise({"a": labels("AAB", {"A": 1.0, "B": 1.0}), "b": labels("BBB")}, 3)
    assert found.agreement.value == pytest.approx(4 / 6)
    assert found.deviation == 0


def test_numbers_with_a_threshold_agree_on_the_same_side_of_it():
    found = noise({"a": [Judgement(0.61, None, True), Judgement(0.9, None, True)], "b": values(0.2, 0.2)}, 2)
    assert found.agreement.value == 1.0
    assert found.deviation > 0


def test_numbers_without_a_threshold_agree_when_they_are_the_same():
    assert noise({"a": values(0.3, 0.3 + 1e-12), "b": values(0.3, 0.31)}, 2).agreement.value == 0.5


def test_pairs_of_one_output_are_not_independent():
    """An output that wavers spoils many pairs at once: the interval is that of ten outputs, not of 450 pairs."""
    judged = {number: labels("A" * 10 if number % 2 else "AB" * 5) for number in range(10)}
    found = noise(judged, 10).agreement
    assert (found.n, found.clusters) == (450, 10)
    assert found.high - found.low > 0.35


def test_one_judgement_of_each_output_is_refused_with_a_sentence():
    found = noise({"a": values(1), "b": values(0)}, 1)
    assert found.refused == "Every output was judged only once. Judge each at least twice."
    assert (found.deviation, found.floor(10), found.floor_interval(10), found.of_mean(10)) == (None, None, None, None)


@pytest.mark.parametrize("judged", [{}, {"a": []}, {"a": values(1), "b": []}])
def test_without_two_scores_of_an_output_there_is_no_noise_to_tell(judged):
    found = noise(judged, 5)
    assert "No output has two scores yet" in found.refused
    assert found.asked == len(judged)


def test_judgements_that_never_differ_have_no_noise_but_leave_room():
    found = noise({number: labels("AAAAA") for number in range(20)}, 5)
    assert (found.deviation, found.floor(120), found.outputs) == (0, 0, 20)
    assert found.agreement.value == found.agreement.high == 1
    assert found.agreement.low == pytest.approx(0.05 ** (1 / 20))
    # At most 13.9 % of outputs waver, each with a variance of at most 2 · 3 / 5 / 4 = 0.3.
    assert found.high == pytest.approx(math.sqrt((1 - 0.05 ** (1 / 20)) * 0.3))


def test_what_has_no_score_is_missing_and_never_a_disagreement():
    found = noise({"a": values(0.4, 0.4), "b": values(0.7), "c": []}, 3)
    assert found.agreement.value == 1
    assert (found.agreement.n, found.agreement.asked) == (1, 9)
    assert (found.outputs, found.asked, found.judgements) == (1, 3, 2)


def test_one_output_alone_gives_no_interval():
    found = noise({"a": values(0, 1, 0)}, 3)
    assert found.deviation == pytest.approx(math.sqrt(1 / 3))
    assert (found.low, found.high, found.floor_interval(10)) == (None, None, None)
    assert found.agreement.low is None


# --- By simulation ----------------------------------------------------------------------------------------------------
def judge(random_, share, k):
    return [Judgement(float(passed), None, passed) for passed in (random_.random() < share for _ in range(k))]


def test_the_interval_of_self_agreement_holds_in_95_of_100():
    """2,000 measurements, 60 outputs judged 4 times each; every output passes with a share of its own."""
    random_ = random.Random(8)
    # Two judgements agree with probability p² + (1 − p)²; over p uniform in [0.1, 0.9] that is 1/2 + 2 · 0.8² / 12.
    truth, hits = 0.5 + 2 * 0.64 / 12, 0
    for _ in range(2000):
        shares = [random_.uniform(0.1, 0.9) for _ in range(60)]
        found = noise({number: judge(random_, share, 4) for number, share in enumerate(shares)}, 4).agreement
        hits += found.low <= truth <= found.high
    assert 0.93 <= hits / 2000 <= 0.97


def test_two_runs_of_one_version_differ_by_less_than_the_floor_in_95_of_100():
    random_ = random.Random(9)
    shares = [random_.betavariate(4, 2) for _ in range(80)]
    found = noise({number: judge(random_, share, 20) for number, share in enumerate(shares)}, 20)
    below = 0
    for _ in range(2000):
        one, other = (sum(random_.random() < share for share in shares) / len(shares) for _ in range(2))
        below += abs(one - other) <= found.floor(len(shares))
    assert 0.93 <= below / 2000 <= 0.97


def test_the_deviation_is_unbiased_however_few_the_judgements():
    """Variance 0.04 within each output, whatever its mean: pairs find it as well as scores by the dozen do."""
    random_ = random.Random(10)
    for k in (2, 12):
        outputs = [[Judgement(random_.gauss(mean / 4000, 0.2)) for _ in range(k)] for mean in range(4000)]
        assert noise(dict(enumerate(outputs)), k).deviation ** 2 == pytest.approx(0.04, rel=0.05)


@pytest.mark.parametrize("k", [2, 5])
def test_the_interval_of_the_deviation_holds_in_95_of_100(k):
    """Outputs scatter by amounts of their own, from hardly to a lot: variances uniform in [0, 0.04]."""
    random_ = random.Random(12)
    hits = 0
    for _ in range(2000):
        spreads = [math.sqrt(random_.uniform(0, 0.04)) for _ in range(60)]
        judged = {n: [Judgement(random_.gauss(0.5, spread)) for _ in range(k)] for n, spread in enumerate(spreads)}
        found = noise(judged, k)
        hits += found.low <= math.sqrt(0.02) <= found.high
    assert 0.93 <= hits / 2000 <= 0.97
