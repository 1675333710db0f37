"""The language of conditions: how tightly operators bind, what quotes hold, and what is no condition."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.catalogue.conditions import BadCondition, condition_of
from evaluators.core import Status, Why
from tests.evaluators.catalogue.examples import BUILTIN, config, score


@pytest.mark.parametrize(
    ("condition", "text", "holds"),
    [
        ('"a"', "cab", True),
        ('"A"', "cab", False),
        ('NOT "a"', "b", True),
        ('NOT NOT "a"', "a", True),
        ('"a" OR "b" AND "c"', "a", True),
        ('("a" OR "b") AND "c"', "a", False),
        ('NOT "a" AND "b"', "b", True),
        ('NOT ("a" AND "b")', "b", True),
        ('NOT "a" OR "a"', "x", True),
        ('((("a")))', "a", True),
        ('regexp("^\\d+$")', "42", True),
        ('regexp("^\\d+$")', "x42", False),
        ('"say \\"hi\\""', 'say "hi"', True),
        ('"a\\nb"', "a\\nb", True),
        ('"a\nb"', "a\nb", True),
        ('""', "anything", True),
        ('"AND" AND "(" ', "AND (", True),
        ('"a"AND"b"', "ab", True),
    ],
)
def test_a_condition_holds(condition, text, holds):
    assert condition_of(condition).holds(text) is holds


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("", "The condition is empty."),
        ("a", "At character 1: expected a text in quotes, regexp(…), NOT or a parenthesis, found “a”."),
        ('"a" and "b"', "At character 5: expected AND, OR or the end, found “and”."),
        ('"a" "b"', "At character 6: expected AND, OR or the end, found “b”."),
        ('("a"', "It ends where ) is expected."),
        ('"a")', "At character 4: expected AND, OR or the end, found “)”."),
        ('"a" AND', "It ends where a text in quotes, regexp(…), NOT or a parenthesis is expected."),
        ('"a', "At character 1: expected a text in quotes, regexp(…), or a parenthesis."),
        ('"a\\"', "At character 1: expected a text in quotes, regexp(…), or a parenthesis."),
        ('regexp("(")', 'regexp("("): This is no regular expression'),
        ('regexp "a"', "At character 9: expected (, found “a”."),
        ("(" * 51 + '"a"' + ")" * 51, "Parentheses are nested more than 50 deep."),
        (" OR ".join(['regexp("a")'] * 21), "A condition holds at most 20 patterns."),
        ('"' + "a" * 20_000 + '"', "A condition has at most 20,000 characters."),
    ],
)
def test_what_is_no_condition_is_told_with_its_place(condition, message):
    with pytest.raises(BadCondition) as refused:
        condition_of(condition)
    assert str(refused.value).startswith(message)


_LEAVES = st.sampled_from(["a", "b", "c"]).map(lambda letter: (f'"{letter}"', lambda text: letter in text))


def _joined(parts):
    (left, of_left), word, (right, of_right) = parts
    both = all if word == "AND" else any
    return f"({left}) {word} ({right})", lambda text: both([of_left(text), of_right(text)])


_CONDITIONS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda part: (f"NOT ({part[0]})", lambda text: not part[1](text))),
        st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(_joined),
    ),
    max_leaves=8,
)


@given(_CONDITIONS, st.text("abc", max_size=3))
def test_it_means_what_logic_says(condition, text):
    spelled, means = condition
    assert condition_of(spelled).holds(text) is means(text)


@given(st.text('"\\() ANDORNTregxp', max_size=40))
def test_any_text_is_a_condition_or_told_not_to_be(text):
    with suppress(BadCondition):
        assert condition_of(text).holds("a") in (True, False)


def test_the_contexts_are_checked_where_there_are_any():
    assert "retrieval_failure_rate" not in score("text_matching", output="a", condition='"a"').measures
    assert "retrieval_failure_rate" not in score("text_matching", output="a", condition='"a"', contexts=[]).measures
    found = score("text_matching", output="a", condition='"a" AND "b"', contexts=["a", "b"])
    assert (found.value, found.measures["retrieval_failure_rate"]) == (0, 0)
    assert found.reason.splitlines() == ["“a” occurs.", "“b” does not occur."]


def test_a_condition_of_the_case_that_is_none_fails_the_evaluation():
    found = score("text_matching", output="a", condition='"a" AND')
    assert (found.status, found.why) == (Status.FAILED, Why.THROWN)
    assert found.reason.startswith("The condition cannot be read. It ends where")


def test_a_constant_condition_is_checked_when_it_is_saved():
    good = config("text_matching", mapping={"condition": {"literal": '"a"'}})
    assert BUILTIN.check(good) == []
    (fault,) = BUILTIN.check(config("text_matching", mapping={"condition": {"literal": '"a" AND'}}))
    assert (fault.field, fault.message[:28]) == ("input_condition", "The condition cannot be read")
