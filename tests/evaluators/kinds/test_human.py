"""The human evaluator: what its form takes, what it needs, and what a reviewer presses."""

import pytest

from evaluators.core import Needs, Sample
from evaluators.editing import as_typed
from evaluators.kinds import get_kind
from evaluators.kinds.human import MOST_INSTRUCTIONS

HUMAN = get_kind("human")
FIELDS = {
    "instructions": ["# Is it solved?\r\n\r\nRead as the **customer**.\r\n"],
    "scoring": ["enum"],
    "option_label": ["Solved", "Partly", "Not solved"],
    "option_percentage": ["100", "50", "0"],
    "option_description": ["Nobody writes again.", "", ""],
    "threshold": ["50"],
    "direction": ["higher"],
    "runs_on": ["result"],
}
pytestmark = pytest.mark.django_db


def form(project, **more):
    return HUMAN.form(as_typed(FIELDS | more), project=project)


def config(project, **more):
    asked = form(project, **more)
    assert asked.is_valid(), asked.field_errors
    return HUMAN.load(asked.to_config(), HUMAN.schema)


def faults(project, **more):
    asked = form(project, **more)
    asked.is_valid()
    return {(error.field, error.message) for error in asked.field_errors}


def test_what_is_typed_becomes_the_configuration_and_back(project):
    asked = form(project)
    assert asked.is_valid()
    stored = asked.to_config()
    assert stored["instructions"] == "# Is it solved?\n\nRead as the **customer**."
    assert HUMAN.form(as_typed(HUMAN.form.typed(stored)), project=project).is_valid()
    assert HUMAN.form.typed(stored)["option_label"] == FIELDS["option_label"]


def test_people_need_neither_a_connection_nor_a_worker(project):
    assert HUMAN.needs(config(project)) == Needs("people", calls=0)
    assert HUMAN.needs(config(project, runs_on=["comparison"])).compares
    assert HUMAN.message(config(project), Sample()) is None


def test_instructions_are_asked_for(project):
    wanted = ("instructions", "Say what a reviewer should look at, and when to choose what.")
    assert wanted in faults(project, instructions=[" \n "])


def test_instructions_have_a_longest_length(project):
    assert faults(project, instructions=["x" * (MOST_INSTRUCTIONS + 1)]) == {
        ("instructions", "Instructions have at most 20,000 characters.")
    }
    assert faults(project, instructions=["x" * MOST_INSTRUCTIONS]) == set()


def test_a_number_in_a_range_can_be_asked_for(project):
    asked = config(project, scoring=["percentage"], range_low=["1"], range_high=["5"], option_label=[])
    assert (asked.scoring.low, asked.scoring.high) == (1, 5)
    assert asked.keys == asked.choices == ()


def test_options_are_pressed_by_their_number(project):
    assert config(project).keys == ("1", "2", "3")
    many = [f"option {number}" for number in range(11)]
    asked = config(project, option_label=many, option_percentage=["50"] * 11, option_description=[])
    assert asked.keys == ("1", "2", "3", "4", "5", "6", "7", "8", "9", "", "")


def test_the_sides_of_a_pair_are_pressed_by_their_letters(project):
    pair = {"runs_on": ["comparison"], "option_label": ["First", "Same", "Second"], "option_description": []}
    assert config(project, **pair, option_percentage=["0", "50", "100"]).keys == ("A", "E", "B")
    assert config(project, **pair, option_percentage=["0", "40", "100"]).keys == ("1", "2", "3")
    assert config(project, **pair, option_percentage=["0", "0", "100"]).keys == ("1", "2", "3")
