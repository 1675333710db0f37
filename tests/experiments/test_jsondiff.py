"""Differences of two JSON values by path."""

import pytest

from experiments.analysis.jsondiff import Difference, differences


def test_equal_values_differ_nowhere_whatever_the_order_of_their_names():
    assert differences({"a": 1, "b": [1, {"c": None}]}, {"b": [1, {"c": None}], "a": 1}) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 2}, [Difference("a", "changed", "1", "2")]),
        ({"a": 1}, {}, [Difference("a", "removed", old="1")]),
        ({}, {"a": {"b": 1}}, [Difference("a", "added", new='{"b": 1}')]),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, [Difference("a.b[1]", "changed", "2", "3")]),
        ([1, 2], [0, 1, 2], [Difference("[0]", "added", new="0")]),
        ([0, 1, 2], [1, 2], [Difference("[0]", "removed", old="0")]),
        ("one", 1, [Difference("$", "changed", '"one"', "1")]),
        ({"a": True}, {"a": 1}, [Difference("a", "changed", "true", "1")]),
        (None, {"a": 1}, [Difference("$", "changed", "null", '{"a": 1}')]),
    ],
)
def test_what_was_added_removed_and_changed_is_named_by_its_path(old, new, expected):
    assert differences(old, new) == expected


def test_only_so_many_are_told_and_deep_values_count_as_a_whole():
    assert len(differences(list(range(1000)), [-one - 1 for one in range(1000)])) == 200
    deep, other = 1, 2
    for _ in range(200):
        deep, other = [deep], [other]
    assert len(differences(deep, other)) == 1
