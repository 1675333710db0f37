"""Labels and their scores in every shape that cases and outputs have them in."""

import pytest

from evaluators.labels import BadLabel, key_of, label_of, merged_scores, scores_of

DOG = {"key": "animal", "value": "dog"}
WHITE = {"key": "colour", "value": "white"}


@pytest.mark.parametrize(
    ("value", "key", "label"),
    [
        ("dog", "", "dog"),
        (7.0, "", "7"),
        (["dog", "cat"], "", "dog,cat"),
        (DOG, "", "animal › dog"),
        (DOG, "animal", "dog"),
        ([DOG], "", "animal › dog"),
        ([DOG, WHITE], "colour", "white"),
        ({"value": "dog"}, "", "[object Object]"),
    ],
)
def test_a_label_is_a_plain_value_or_has_a_key(value, key, label):
    assert label_of(value, key) == label


@pytest.mark.parametrize(("value", "key"), [([DOG, WHITE], ""), ([DOG, WHITE], "size"), (DOG, "colour")])
def test_of_several_labels_one_must_be_meant(value, key):
    with pytest.raises(BadLabel):
        label_of(value, key)


def test_a_label_tells_its_key():
    assert (key_of("animal › dog"), key_of("dog")) == ("animal", "")


@pytest.mark.parametrize(
    ("value", "key", "scores"),
    [
        ({"dog": 0.9, "cat": 1}, "", {"dog": 0.9, "cat": 1.0}),
        ({"animal": {"dog": 0.9}, "colour": {"white": 0.2}}, "", {"animal › dog": 0.9, "colour › white": 0.2}),
        ({"animal": {"dog": 0.9}, "colour": {"white": 0.2}}, "colour", {"white": 0.2}),
        ([{**DOG, "score": 0.4}, {**DOG, "score": 0.6}], "", {"animal › dog": 0.6}),
        ([{"label": "dog", "score": -3}], "", {"dog": -3.0}),
    ],
)
def test_scores_come_as_an_object_by_key_or_as_a_list(value, key, scores):
    assert scores_of(value, key) == scores


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        None,
        "0.9",
        0.9,
        {"dog": "0.9"},
        {"dog": True},
        {"dog": float("nan")},
        {"dog": 10**400},
        [{"label": "dog"}],
    ],
)
def test_what_are_no_scores_is_refused(value):
    with pytest.raises(BadLabel):
        scores_of(value)


def test_merged_labels_have_the_highest_score():
    assert merged_scores({"puppy": 0.3, "dog": 0.2, "cat": 0.5}, {"puppy": "dog"}) == {"dog": 0.3, "cat": 0.5}
