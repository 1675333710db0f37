"""Function calling: compared with the expected calls, checked against tools, or left to a model."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.catalogue.tool_calls import is_same
from evaluators.core import Status, Why
from tests.evaluators.catalogue.examples import BUILTIN, WEATHER, config, score


def call(name, **arguments):
    return {"name": name, "arguments": arguments}


def expected(made, wanted, **parameters):
    return score("function_calling", parameters, tool_calls=made, expected_tool_calls=wanted)


def test_arguments_are_equal_as_json_is():
    assert expected([call("f", n=1)], [call("f", n=1.0)]).passed
    assert not expected([call("f", n=True)], [call("f", n=1)]).passed
    assert not expected([call("f", n="1")], [call("f", n=1)]).passed
    assert expected([call("f", a=1, b=[2, {"c": None}])], [call("f", b=[2, {"c": None}], a=1)]).passed


def test_arguments_may_be_json_text():
    assert expected([{"name": "f", "arguments": '{"n": 1}'}], [call("f", n=1)]).passed
    assert expected(json.dumps([call("f", n=1)]), [call("f", n=1)]).passed
    assert not expected([{"name": "f", "arguments": "{broken"}], [call("f")]).passed
    assert expected([{"name": "f"}], [call("f")]).passed


def test_the_form_of_chat_endpoints_is_read_too():
    made = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}]
    assert expected(made, [call("f", n=1)]).passed


def test_order_matters_only_where_it_is_asked_for():
    a, b = call("a"), call("b")
    assert expected([b, a], [a, b]).passed
    found = expected([b, a], [a, b], ordered=True)
    assert found.passed is False
    assert found.reason.startswith("Call 1 is b, not a")
    assert expected([a, b], [a, b], ordered=True).passed
    assert expected([a], [a, b], ordered=True).reason == "1 calls instead of 2."


def test_each_call_answers_one_expected_call():
    a, b = call("a"), call("b")
    found = expected([a, a, b], [a, b, b])
    assert (found.passed, found.reason) == (False, "Not expected: a.\nExpected and not made: b.")
    assert expected([], []).passed


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ([], "Nothing was called."),
        ([call("other")], "There is no tool other."),
        ([call("get_weather", city="Oslo", days="2")], 'get_weather $.days: "2" is not of type "integer"'),
    ],
)
def test_tools_say_what_is_wrong(made, reason):
    found = score("function_calling", tool_calls=made, tools=[WEATHER])
    assert (found.passed, found.reason) == (False, reason)


def test_a_tool_without_a_schema_takes_anything():
    assert score("function_calling", tool_calls=[call("f", x=1)], tools=[{"name": "f"}]).passed
    wrapped = [{"type": "function", "function": WEATHER}]
    assert score("function_calling", tool_calls=[call("get_weather", city="Oslo")], tools=wrapped).passed


def test_a_tool_with_a_wrong_schema_fails_the_evaluation():
    found = score("function_calling", tool_calls=[call("f")], tools=[{"name": "f", "parameters": {"type": "x"}}])
    assert (found.status, found.why) == (Status.FAILED, Why.THROWN)


@pytest.mark.parametrize("calls", ["call f", 3, [1], [{"arguments": {}}], {"a": 1}])
def test_what_are_no_calls_leave_the_sample_unscored(calls):
    found = score("function_calling", tool_calls=calls, tools=[WEATHER])
    assert (found.status, found.why) == (Status.UNSCORED, Why.MISSING)
    assert found.reason == "outputs.toolCalls should be a list of tool calls, each an object with a name."


def test_the_expected_calls_come_first():
    found = score("function_calling", tool_calls=[call("f")], expected_tool_calls=[call("f")], tools=[WEATHER])
    assert found.passed
    by_tools = score(
        "function_calling",
        {"method": "schema"},
        tool_calls=[call("f")],
        expected_tool_calls=[call("f")],
        tools=[WEATHER],
    )
    assert by_tools.passed is False


@pytest.mark.parametrize("method", ["expected", "schema"])
def test_a_method_whose_input_the_case_lacks_leaves_it_unscored(method):
    found = score("function_calling", {"method": method}, tool_calls=[call("f")])
    assert (found.status, found.why) == (Status.UNSCORED, Why.MISSING)


def test_without_a_model_what_only_a_model_could_tell_is_unscored():
    found = score("function_calling", tool_calls=[call("f")])
    assert (found.status, found.reason) == (
        Status.UNSCORED,
        "Only a model could tell here, and this evaluator has none.",
    )


def test_the_method_judge_needs_a_model():
    faults = BUILTIN.check(config("function_calling", method="judge", criteria=" "))
    assert {fault.field for fault in faults} == {"model", "parameter_criteria"}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=6,
)


@given(_JSON, _JSON)
def test_equality_is_that_of_json(one, other):
    assert is_same(one, one)
    assert is_same(one, other) is is_same(other, one)
    assert is_same(one, json.loads(json.dumps(one)))
