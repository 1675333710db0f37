"""From a verdict to a number, and when it passes."""

import math

import pytest

from evaluators.scoring import (
    EnumScoring,
    OffScale,
    Option,
    Passing,
    PercentageScoring,
    check,
    check_passing,
    read,
    share,
)

SCALE = EnumScoring(
    (Option("Supported", 100), Option("Small slip", 60.1, "One claim is imprecise."), Option("None", 0))
)


def test_an_option_is_found_whatever_its_case_and_blanks():
    option = SCALE.option("  small   SLIP ")
    assert (option.label, option.value) == ("Small slip", 0.601)


@pytest.mark.parametrize("said", ["Slip", "Supported, mostly", "", "A", 1, None, ["None"]])
def test_a_label_that_was_not_offered_is_never_guessed(said):
    with pytest.raises(OffScale, match="Supported, Small slip, None"):
        SCALE.option(said)


@pytest.mark.parametrize(("number", "value"), [(0, 0.0), (1, 1.0), (0.25, 0.25), (-0.0, 0.0)])
def test_a_percentage_is_a_number_from_0_to_1(number, value):
    found = PercentageScoring().value(number)
    assert found == value
    assert math.copysign(1, found) == 1


@pytest.mark.parametrize("said", [1.01, -0.001, 85, math.nan, math.inf, True, "0.5", None, [0.5], {"score": 1}])
def test_anything_else_is_off_the_scale_and_nothing_is_clamped(said):
    with pytest.raises(OffScale):
        PercentageScoring().value(said)


@pytest.mark.parametrize(
    ("threshold", "direction", "value", "passed"),
    [
        (0.6, "higher", 0.6, True),
        (0.6, "higher", 0.59, False),
        (0.6, "lower", 0.6, True),
        (0.6, "lower", 0.61, False),
        (None, "higher", 0.0, None),
    ],
)
def test_equal_to_the_threshold_is_good(threshold, direction, value, passed):
    assert Passing(threshold, direction).passed(value) is passed


def test_percentages_become_shares_without_slips():
    assert [share(value) for value in (60.1, 57, 33.3, 0.1, 100)] == [0.601, 0.57, 0.333, 0.001, 1.0]


def test_letters_follow_the_rows_unless_the_labels_are_letters():
    assert {letter: option.label for letter, option in SCALE.letters.items()} == {
        "A": "Supported",
        "B": "Small slip",
        "C": "None",
    }
    assert list(EnumScoring((Option("b", 0), Option("A", 100))).letters) == ["B", "A"]


def test_a_scale_needs_two_options_with_labels_of_their_own_and_percentages():
    assert check(SCALE) == []
    assert [error.field for error in check(EnumScoring((Option("Only", 1),)))] == ["option_label"]
    wrong = EnumScoring(
        (Option("Good", 100), Option("good ", 50), Option("", 0), Option("x", math.nan), Option("y", 101))
    )
    assert [error.field for error in check(wrong)] == [
        "option_label.1",
        "option_label.2",
        "option_percentage.3",
        "option_percentage.4",
    ]


def test_a_threshold_lies_on_the_scale():
    assert check_passing(Passing(0.5)) == []
    assert [error.field for error in check_passing(Passing(1.5, "up"))] == ["threshold", "direction"]


def test_what_is_stored_is_read_back():
    assert read(SCALE.stored()) == SCALE
    assert read(PercentageScoring().stored()) == PercentageScoring()
    with pytest.raises(ValueError, match="no scoring"):
        read({"type": "stars"})
