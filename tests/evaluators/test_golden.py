"""What golden cases ask for, when a verdict agrees, and what keeping one means."""

from types import SimpleNamespace

import pytest

from evaluators.core import Comparand, Sample, Status
from evaluators.engine import work_of
from evaluators.golden import (
    NotKept,
    agrees,
    asks_for_numbers,
    checked_must,
    demands,
    digest_of,
    given,
    in_words,
    is_must,
    keep,
    must_pass,
    sample_in,
    stored_sample,
)
from evaluators.models import GoldenCase
from tests.evaluators.golden_stage import YES_NO, heuristic_config, keep_case, version_of

pytestmark = pytest.mark.django_db


def verdict(state=Status.SCORED, label=None, passed=None, value=None):
    return SimpleNamespace(state=state, label=label, passed=passed, value=value)


@pytest.fixture
def work(project):
    def work(**config):
        return work_of(version_of(project, str(config)[:100], heuristic_config(**config)))

    return work


def test_a_verdict_agrees_by_label_by_passing_or_by_a_number_close_by():
    assert agrees({"label": "HIGH"}, verdict(label="High "))
    assert not agrees({"label": "HIGH"}, verdict(label="LOW"))
    assert agrees({"passed": False}, verdict(passed=False, value=0.2))
    assert not agrees({"passed": False}, verdict(passed=None, value=0.2))
    assert agrees({"value": 0.6}, verdict(value=0.65))
    assert not agrees({"value": 0.6}, verdict(value=0.66))


@pytest.mark.parametrize("state", [Status.UNSCORED, Status.FAILED, Status.PENDING])
def test_without_a_score_nothing_agrees(state):
    assert not agrees({"passed": False}, verdict(state, passed=False))


def test_an_evaluator_with_options_asks_for_one_of_them_or_for_passing(work):
    enum = work(scoring=YES_NO)
    assert [demand.key for demand in demands(enum)] == ["label:Yes", "label:No", "passed:yes", "passed:no"]
    assert not asks_for_numbers(enum)
    assert checked_must({"label": " yes"}, enum) == {"label": "Yes"}
    with pytest.raises(NotKept, match="none of the options"):
        checked_must({"label": "Perhaps"}, enum)


def test_a_number_is_asked_for_where_there_are_no_options(work):
    number = work(threshold=None)
    assert demands(number) == []
    assert asks_for_numbers(number)
    assert checked_must({"value": 1}, number) == {"value": 1.0}
    with pytest.raises(NotKept, match="Without a threshold nothing passes"):
        checked_must({"passed": True}, number)
    with pytest.raises(NotKept, match="has no options"):
        checked_must({"label": "Yes"}, number)


def test_a_comparison_is_asked_for_a_side(work):
    pair = work(threshold=None, runs_on="comparison")
    words = ["the baseline is better", "they are equal", "the compared one is better"]
    assert [demand.words for demand in demands(pair)] == words
    assert in_words({"value": 1.0}, compares=True) == "the compared one is better"


@pytest.mark.parametrize(
    "must",
    [None, {}, [], {"label": ""}, {"label": 3}, {"passed": 1}, {"value": True}, {"value": 2}, {"value": float("nan")},
     {"label": "a", "passed": True}, {"score": 1}, {"label": "x" * 201}],
)  # fmt: skip
def test_what_is_no_verdict_is_refused(must, work):
    assert not is_must(must)
    with pytest.raises(NotKept):
        checked_must(must, work())


def test_whether_a_case_must_pass_follows_from_the_scale(work):
    enum = work(scoring=YES_NO)
    assert [must_pass(must, enum) for must in ({"label": "Yes"}, {"label": "No"}, {"label": "Gone"})] == [
        True, False, None,
    ]  # fmt: skip
    lower = work(direction="lower")
    assert must_pass({"value": 0.2}, lower) is True
    assert must_pass({"value": 0.2}, work(threshold=None)) is None


def test_the_verdict_that_was_given_is_proposed():
    assert given("HIGH", True, 1.0) == {"label": "HIGH"}
    assert given(None, False, 0.2) == {"passed": False}
    assert given(None, None, 0.2) == {"value": 0.2}
    assert given(None, None, None) is None


def test_a_sample_is_stored_without_what_it_lacks_and_comes_back_as_it_was():
    sample = Sample(inputs={"q": 1}, outputs={"value": "a"}, comparison=Comparand({"value": "b"}))
    stored = stored_sample(sample)
    assert stored == {"inputs": {"q": 1}, "outputs": {"value": "a"}, "comparison": {"outputs": {"value": "b"}}}
    assert sample_in(stored) == sample
    assert digest_of(stored) == digest_of(dict(reversed(stored.items())))


@pytest.mark.parametrize("outputs", [None, "x" * 1_000_001, "a\0b", "\ud800"], ids=["none", "long", "NUL", "half"])
def test_a_sample_that_cannot_be_kept_says_why(outputs):
    with pytest.raises(NotKept):
        stored_sample(Sample(outputs=outputs))


def test_keeping_twice_is_one_case_with_what_must_come_now(project):
    evaluator = version_of(project, "Short", heuristic_config()).evaluator
    keep_case(evaluator, "brief", {"passed": True})
    case, made = keep(evaluator, {"outputs": {"value": "brief"}}, {"passed": False}, title="Other", author=None)
    assert not made
    assert GoldenCase.objects.get() == case
    assert (case.title, case.must) == ("brief", {"passed": False})


def test_a_case_without_a_title_is_called_after_its_first_text(project):
    evaluator = version_of(project, "Short", heuristic_config()).evaluator
    stored = {"inputs": {"history": [{"text": "When do I  get my money back? " * 5}]}}
    case, _ = keep(evaluator, stored, {"passed": True}, title=" ", author=None)
    assert case.title.startswith("When do I get my money back? When")
    assert len(case.title) <= 80
