"""How many more grades it takes: by hand, by trying all ways, and by grading as planned."""

from itertools import product

import pytest

from evaluators.stats.budget import Stratum, plan, spend
from evaluators.stats.estimate import Z


def graded(outputs, passed, failed):
    return Stratum(outputs, passed + failed, float(passed), float(passed))


JUDGED = {"pass": graded(840, 32, 8), "fail": graded(160, 2, 18)}


def test_one_stratum_by_hand():
    # Deviation of 21 of 42: 1/2. Between strata nothing: Z² / 4 / n ≤ 0.05² gives 384.1, so 385.
    found = plan({"all": graded(10_000, 20, 20)}, 0.05)
    assert found.more == {"all": 385 - 40}
    assert found.half_width == pytest.approx(Z * 0.5 / 385**0.5)


def test_what_varies_more_gets_more_grades():
    found = plan(JUDGED, 0.04)
    assert found.half_width <= 0.04
    assert found.more["pass"] > 5 * found.more["fail"]
    assert found.total == sum(found.more.values())


def test_no_other_way_to_deal_out_as_many_grades_is_better():
    few = {"pass": graded(60, 6, 4), "fail": graded(30, 1, 9)}
    best = spend(few, 20)
    assert best.total == pytest.approx(20, abs=1)

    def half_width(more):
        planned = {k: Stratum(s.outputs, s.graded + n, 0, 0) for (k, s), n in zip(few.items(), more, strict=True)}
        shares = {k: s.outputs / 90 for k, s in few.items()}
        return sum((shares[k] * few[k].deviation) ** 2 / planned[k].graded for k in few)

    ways = [half_width(more) for more in product(range(21), repeat=2) if sum(more) == best.total]
    assert half_width(best.more.values()) <= min(ways) * 1.01


def test_grades_that_are_there_are_enough():
    assert plan(JUDGED, 0.2).total == 0


def test_a_budget_beyond_all_outputs_grades_them_all():
    assert spend(JUDGED, 5000).more == {"pass": 800, "fail": 140}


def test_nothing_graded_yet_is_planned_for_the_worst():
    found = plan({"pass": Stratum(5000), "fail": Stratum(5000)}, 0.05)
    assert found.more["pass"] == found.more["fail"]
    assert found.total == pytest.approx(400, abs=20)


def test_what_no_number_of_grades_can_tell_is_refused_with_a_sentence():
    assert "Even with all outputs graded" in plan({"all": graded(100, 20, 20)}, 0.02)
    assert plan({}, 0.05) == "There are no outputs to grade."
    with pytest.raises(ValueError, match="half width"):
        plan(JUDGED, 0)
