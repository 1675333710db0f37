"""Lengths are code points; ends are included or not as they say."""

import pytest

from tests.evaluators.catalogue.examples import BUILTIN, config, score


def test_a_character_is_a_code_point():
    assert score("length_less_than", {"max_length": 2}, text="🙂").passed
    assert not score("length_less_than", {"max_length": 2}, text="e\u0301").passed


@pytest.mark.parametrize(("length", "passed"), [(2, False), (3, True), (5, True), (6, False)])
def test_both_ends_of_between_are_included(length, passed):
    assert score("length_between", {"min_length": 3, "max_length": 5}, text="x" * length).passed is passed


def test_ends_that_cross_are_refused_beside_the_greater():
    (fault,) = BUILTIN.check(config("length_between", min_length=5, max_length=3))
    assert (fault.field, fault.message) == (
        "parameter_max_length",
        "The greatest length must not be below the least.",
    )


@pytest.mark.parametrize("limit", [-1, 2.5, True, "ten", None])
def test_a_limit_is_a_whole_number(limit):
    (fault,) = BUILTIN.check(config("length_less_than", max_length=limit))
    assert fault.field == "parameter_max_length"


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("", True),
        ("  \n ", True),
        ("a", True),
        ("\na\n", True),
        ("a\rb", False),
        ("a\u2028b", False),
        ("a\n\nb", False),
    ],
)
def test_one_line_is_counted_as_unicode_breaks_lines(text, passed):
    assert score("one_line", text=text).passed is passed


def test_the_reason_says_how_long_it_is():
    assert score("length_less_than", {"max_length": 3}, text="x" * 1200).reason == (
        "It has 1,200 characters, not fewer than 3."
    )
    assert score("one_line", text="a\nb\nc").reason == "It has 3 lines."
