"""Addresses, strict JSON, and JSON Schemas with and without a case that brings one."""

import pytest

from evaluators.catalogue.parameters import BadSetting
from evaluators.catalogue.schemas import NotJson, Schema, parse
from evaluators.core import Status, Why
from tests.evaluators.catalogue.examples import BUILTIN, PERSON, config, score


@pytest.mark.parametrize(
    "text", ["", " a@b.org", "a@b.org ", "a@b.org\n", "Jo <a@b.org>", "a@b", "a@b.org, c@d.org", "a@" + "b" * 5000]
)
def test_the_whole_text_is_one_address(text):
    found = score("is_email", text=text)
    assert (found.passed, bool(found.reason)) == (False, True)


@pytest.mark.parametrize("text", ["1", "null", '"a"', " [1]\n", '{"a": 1, "a": 2}', "1" * 5000, '"\\ud800"'])
def test_any_json_is_json(text):
    assert score("is_json", text=text).passed


@pytest.mark.parametrize(
    "text", ["", "NaN", "[Infinity]", "-Infinity", "[1,]", "01", "```json\n{}\n```", "{} {}", "\ufeff1", "[" * 100_000]
)
def test_what_a_strict_parser_refuses_is_none(text):
    found = score("is_json", text=text)
    assert (found.passed, bool(found.reason)) == (False, True)


def test_the_place_is_named():
    with pytest.raises(NotJson, match=r"Line 2, column 8: Expecting value\."):
        parse('{"a": 1,\n "b":  }')
    assert score("is_json", text="[NaN]").reason == "NaN is no JSON."


def test_every_violation_is_told_by_its_path():
    found = score("json_schema", {"json_schema": PERSON}, text='{"age": -1.5}')
    assert found.reason.splitlines() == [
        '$: "name" is a required property',
        '$.age: -1.5 is not of type "integer"',
        "$.age: -1.5 is less than the minimum of 0",
    ]


def test_at_most_twenty_are_told():
    text = "[" + ",".join(["1"] * 50) + "]"
    found = score("json_schema", {"json_schema": {"items": {"type": "string"}}}, text=text)
    assert len(found.reason.splitlines()) == 20
    assert found.reason.startswith("$[0]: ")


@pytest.mark.parametrize(
    ("counted", "passed"),
    [
        ([], False),
        (["required_fields"], False),
        (["type_check"], True),
        (["type_check", "range"], False),
        (["enum", "format", "length", "additional_properties"], True),
    ],
)
def test_only_the_chosen_errors_count(counted, passed):
    settings = {"json_schema": PERSON, "validations": counted}
    assert score("json_schema", settings, text='{"age": -1}').passed is passed


@pytest.mark.parametrize(
    ("schema", "value", "kind"),
    [
        ({"enum": [1]}, "2", "enum"),
        ({"format": "date"}, '"tomorrow"', "format"),
        ({"exclusiveMaximum": 2}, "2", "range"),
        ({"maxItems": 0}, "[1]", "length"),
        ({"minLength": 2}, '"a"', "length"),
        ({"additionalProperties": False}, '{"a": 1}', "additional_properties"),
    ],
)
def test_each_kind_of_error_can_be_counted_alone(schema, value, kind):
    assert not score("json_schema", {"json_schema": schema, "validations": [kind]}, text=value).passed
    assert score("json_schema", {"json_schema": schema, "validations": ["required_fields"]}, text=value).passed


def test_the_case_brings_the_schema_where_the_parameter_is_empty():
    assert not score("json_schema", text="3", expected_json={"type": "string"}).passed
    assert not score("json_schema", text="3", expected_json='{"type": "string"}').passed
    assert score("json_schema", text="3", expected_json={}).passed
    assert score("json_schema", {"json_schema": {"type": "integer"}}, text="3", expected_json={"type": "string"}).passed


def test_a_schema_of_the_case_that_is_none_fails_the_evaluation():
    found = score("json_schema", text="3", expected_json={"type": "strin"})
    assert (found.status, found.why) == (Status.FAILED, Why.THROWN)
    assert found.reason.startswith("This is no JSON Schema at $.type: ")
    for no_schema in ([1], "Paris"):
        assert score("json_schema", text="3", expected_json=no_schema).status is Status.FAILED
    own = {"json_schema": {"type": "integer"}}
    assert score("json_schema", own, text="3", expected_json="Paris").passed, "it is not looked at"
    constant = config("json_schema", mapping={"expected_json": {"literal": {"type": "strin"}}})
    assert [fault.field for fault in BUILTIN.check(constant)] == ["input_expected_json"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "strin"},
        {"pattern": "("},
        {"$ref": "http://example.org/schema.json"},
        {"$ref": "file:///etc/passwd"},
        {"$schema": "http://example.org/own"},
        {"$ref": "#/$defs/nowhere"},
    ],
)
def test_a_schema_that_is_none_or_lies_elsewhere_is_refused_when_it_is_saved(schema):
    (fault,) = BUILTIN.check(config("json_schema", json_schema=schema))
    assert fault.field == "parameter_json_schema"
    assert fault.message.startswith("This is no JSON Schema")


def test_the_draft_is_that_of_the_schema():
    old = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": True}
    assert not score("json_schema", {"json_schema": old}, text="3").passed
    with pytest.raises(BadSetting):
        Schema({"minimum": 3, "exclusiveMinimum": True})


def test_numbers_are_those_of_json():
    assert score("json_schema", {"json_schema": {"type": "integer"}}, text="1.0").passed
    assert not score("json_schema", {"json_schema": {"const": 1}}, text="true").passed
    assert not score("json_schema", {"json_schema": {"type": "integer"}}, text="true").passed


def test_a_pattern_of_a_schema_ends_in_time():
    schema = {"pattern": "^(?=a)(a|a|aa)+$"}
    found = score("json_schema", {"json_schema": schema}, text='"' + "a" * 30_000 + 'b"')
    assert found.status in (Status.SCORED, Status.FAILED)
    assert found.passed is not True


def test_a_schema_that_is_its_own_part_ends():
    assert score("json_schema", {"json_schema": {"$ref": "#"}}, text="1").passed
    nested = '{"a":' * 900 + "1" + "}" * 900
    deep = {"properties": {"a": {"$ref": "#"}}}
    assert score("json_schema", {"json_schema": deep}, text=nested).status in (Status.SCORED, Status.FAILED)
