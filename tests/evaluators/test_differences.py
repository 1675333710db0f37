"""Unsaved edits are counted by name."""

from evaluators.differences import as_sentence, named_differences

NAMES = {"name": "name", "prompt": "prompt", "option_label": "options", "threshold": "threshold"}
SAVED = {
    "name": ["Right answer"],
    "prompt": ["Is it?\nReally?"],
    "option_label": ["Yes", "No"],
    "option_percentage": ["100", "0"],
    "option_description": ["", ""],
    "threshold": [""],
}


def test_the_same_fields_do_not_differ_whatever_their_line_ends():
    typed = SAVED | {"prompt": ["Is it?\r\nReally?\r\n"], "threshold": []}
    assert named_differences(typed, SAVED, NAMES) == []


def test_each_row_of_the_scale_counts_once():
    typed = SAVED | {
        "prompt": ["Is it?"],
        "option_label": ["Yes", "Nope", "Perhaps"],
        "option_percentage": ["100", "1", "50"],
    }
    assert named_differences(typed, SAVED, NAMES) == ["prompt", "2 options"]


def test_empty_rows_of_the_scale_count_nothing():
    typed = SAVED | {"option_label": ["Yes", "No", ""], "option_percentage": ["100", "0", ""]}
    assert named_differences(typed, SAVED, NAMES) == []


def test_they_are_named_in_a_sentence():
    assert as_sentence([], "v7") == "Nothing differs from v7."
    assert as_sentence(["prompt"], "v7") == "Prompt differs from v7."
    assert as_sentence(["1 option"], "v7") == "1 option differs from v7."
    assert as_sentence(["2 options"], "v7") == "2 options differ from v7."
    assert as_sentence(["name", "prompt", "2 options"], "v7") == "Name, prompt and 2 options differ from v7."
