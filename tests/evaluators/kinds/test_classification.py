"""Classifications: truth values as JavaScript has them, declared labels, and everything beside them."""

import pytest

from evaluators.core import Needs, Sample, Status, Why
from evaluators.editing import as_typed
from evaluators.kinds import get_kind
from evaluators.kinds.classification import UNRECOGNISED
from evaluators.stats.confusion import Classes
from evaluators.tools import Tools

KIND = get_kind("classification")
NONE = object()
SEVERAL = {"mode": "multiclass", "labels": ["bird", "cat", "7", "true"]}
FIELDS = {
    "mode": ["multiclass"],
    "labels": [" bird \r\n\r\ncat\r\ndog"],
    "label_map": ["puppy => dog\r\nhound => dog"],
    "average": ["weighted"],
    "predicted": ["outputs.label"],
    "expected": ["expectedOutputs.label"],
}


def config(**more):
    return KIND.load(KIND.blank() | more, KIND.schema)


def score(expected, predicted, **more):
    sample = Sample(
        expected_outputs={} if expected is NONE else {"value": expected},
        outputs={} if predicted is NONE else {"value": predicted},
    )
    return KIND.prepare(config(**more), Tools())([sample])[0]


# --- True or false ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "value", ["false", "False", "f", "F", "0", "undefined", "null", "", False, None, 0, 0.0, [], [None]]
)
def test_these_are_false(value):
    found = score("false", value)
    assert (found.label, found.expected, found.value, found.passed) == ("false", "false", 1.0, True)


@pytest.mark.parametrize("value", ["FALSE", "no", "n", " ", "0.0", "Null", "NaN", 1, 1.0, -1, True, "true", [0, 1], {}])
def test_everything_else_is_true(value):
    assert score("true", value).label == "true"


def test_what_is_missing_is_undefined_and_so_false():
    assert score(NONE, "no").expected == "false"
    found = score("yes", NONE)
    assert (found.status, found.label, found.expected, found.passed) == (Status.SCORED, "false", "true", False)


def test_the_rows_of_the_catalogue():
    rows = [(True, "yes"), ("1", "0"), ("false", "F"), (None, "no"), ("true", "True"), ("", "FALSE")]
    assert [score(expected, predicted).value for expected, predicted in rows] == [1, 0, 1, 0, 1, 0]


def test_a_word_can_be_merged_into_a_false_one():
    assert score("no", "false", label_map={"no": "false"}).value == 1.0


# --- Several labels ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("expected", "predicted", "right"),
    [("bird", "bird", True), ("bird", "cat", False), ("7", 7, True), (7.0, "7", True), (True, "true", True)],
)
def test_labels_are_compared_as_texts(expected, predicted, right):
    found = score(expected, predicted, **SEVERAL)
    assert (found.status, found.value, found.passed) == (Status.SCORED, float(right), right)


@pytest.mark.parametrize("predicted", ["Bird", " bird", "dog", "", None, ["bird", "cat"], {"label": "bird"}])
def test_a_prediction_outside_the_labels_is_wrong_and_unrecognised(predicted):
    found = score("bird", predicted, **SEVERAL)
    assert (found.label, found.expected, found.value) == (UNRECOGNISED, "bird", 0.0)
    assert "is none of the declared labels" in found.reason


def test_an_expected_label_outside_the_labels_leaves_the_case_unscored():
    found = score("dog", "bird", **SEVERAL)
    assert (found.status, found.why) == (Status.UNSCORED, Why.OFF_SCALE)
    assert found.reason == "The expected label “dog” is none of the declared ones."


@pytest.mark.parametrize(("expected", "predicted"), [(NONE, "bird"), ("bird", NONE)])
def test_what_is_missing_leaves_the_case_unscored(expected, predicted):
    found = score(expected, predicted, **SEVERAL)
    assert (found.status, found.why, found.label) == (Status.UNSCORED, Why.MISSING, None)


def test_labels_are_merged_before_they_are_compared():
    merging = SEVERAL | {"label_map": {"sparrow": "bird", "owl": "bird"}}
    found = score("owl", "sparrow", **merging)
    assert (found.label, found.expected, found.value) == ("bird", "bird", 1.0)


def test_a_long_prediction_is_quoted_in_part():
    assert len(score("bird", "x" * 10_000, **SEVERAL).reason) < 150


def test_many_samples_are_scored_in_order():
    settings = config(**SEVERAL)
    samples = [
        Sample(expected_outputs={"value": "bird"}, outputs={"value": label}) for label in ("bird", "cat", "bird")
    ]
    assert [found.value for found in KIND.prepare(settings, Tools())(samples)] == [1.0, 0.0, 1.0]


# --- What pages ask ---------------------------------------------------------------------------------------------------
def test_it_computes_and_reads_two_places():
    assert KIND.needs(config()) == Needs("cpu")
    assert KIND.paths(config()) == ("outputs.value", "expectedOutputs.value")
    assert not KIND.can_compare


def test_it_tells_its_classes_apart():
    assert config().classes == Classes(("true", "false"), positive="true")
    assert config(**SEVERAL, average="micro").classes == Classes(("bird", "cat", "7", "true"), "micro")


# --- Checks -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("settings", "field", "message"),
    [
        ({"labels": ["one"]}, "labels", "Declare 2 to 100 labels, one a line."),
        ({"labels": [str(number) for number in range(101)]}, "labels", "Declare 2 to 100 labels, one a line."),
        ({"labels": ["a", "b", "a"]}, "labels", "“a” is listed twice."),
        ({"labels": ["a", "(unrecognised)"]}, "labels", "(unrecognised) is the name for labels"),
        ({"labels": ["a", "x" * 101]}, "labels", "is too long"),
        ({"labels": ["a", "b"], "label_map": {"c": "bb"}}, "label_map", "“bb” is none of the labels."),
        ({"labels": ["a", "b"], "label_map": {"a": "b"}}, "label_map", "it cannot be a label too"),
        ({"labels": ["a", "b"], "average": "median"}, "average", "macro, weighted, micro"),
        ({"labels": ["a", "b"], "mode": "ternary"}, "mode", "binary or multiclass"),
        ({"labels": ["a", "b"], "predicted": ""}, "predicted", "Say where a case has it"),
        ({"labels": ["a", "b"], "expected": "outputs . value ["}, "expected", "is no path"),
        (
            {"labels": ["a", "b"], "predicted": "outputs['value']", "expected": "outputs.value"},
            "expected",
            "same place",
        ),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(settings, field, message):
    errors = KIND.check(config(**{"mode": "multiclass"} | settings))
    assert [error.field for error in errors] == [field]
    assert message in errors[0].message


def test_the_nearest_word_is_offered():
    (error,) = KIND.check(config(expected="expected_output.value"))
    assert (error.field, error.suggestion, error.found) == ("expected", "expectedOutputs", "expected_output")
    (error,) = KIND.check(config(mode="multiclass", labels=["billing", "other"], label_map={"invoice": "biling"}))
    assert (error.suggestion, error.found) == ("billing", "biling")


@pytest.mark.django_db
def test_what_is_typed_becomes_the_configuration_and_back(project):
    form = KIND.form(as_typed(FIELDS), project=project)
    assert form.is_valid(), form.field_errors
    stored = form.to_config()
    assert stored["labels"] == ["bird", "cat", "dog"]
    assert stored["label_map"] == {"puppy": "dog", "hound": "dog"}
    again = KIND.form(as_typed(KIND.form.typed(stored)), project=project)
    assert again.is_valid()
    assert again.to_config() == stored


@pytest.mark.django_db
def test_labels_are_not_kept_where_there_are_but_two_truths(project):
    form = KIND.form(as_typed(FIELDS | {"mode": ["binary"], "label_map": [""]}), project=project)
    assert form.is_valid()
    assert form.to_config()["labels"] == []


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("typed", "line", "message"),
    [
        ("puppy => dog\n\nhound", 3, "Write “old => new”."),
        ("=> dog", 1, "Write “old => new”."),
        ("puppy => dog\npuppy => cat", 2, "“puppy” is merged into “dog” above."),
    ],
)
def test_lines_of_merges_that_say_nothing_are_named(project, typed, line, message):
    form = KIND.form(as_typed(FIELDS | {"label_map": [typed]}), project=project)
    assert not form.is_valid()
    assert [(error.line, error.message) for error in form.field_errors] == [(line, message)]
