"""Values as JavaScript's String() writes them; the expected texts were printed by QuickJS."""

import pytest

from evaluators.stringified import stringified


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("FALSE", "FALSE"),
        ("", ""),
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (1, "1"),
        (-3.5, "-3.5"),
        (0.1, "0.1"),
        (100.0, "100"),
        (1234567.25, "1234567.25"),
        (1e21, "1e+21"),
        (1e20, "100000000000000000000"),
        (1.5e300, "1.5e+300"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (1.25e-7, "1.25e-7"),
        (-1.5e-9, "-1.5e-9"),
        (9007199254740993, "9007199254740992"),
        (12345678901234567890, "12345678901234567000"),
        pytest.param(10**400, "Infinity", id="beyond doubles"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        ([], ""),
        ([1, None, "b", [True, 2.0]], "1,,b,true,2"),
        ({}, "[object Object]"),
        ([{}], "[object Object]"),
    ],
)
def test_a_value_is_written_as_javascript_writes_it(value, text):
    assert stringified(value) == text


def test_the_sandbox_agrees():
    from evaluators.tools import javascript

    values = [1.0, 0.1, 1e21, 1e-7, 123456789.125, 5e-324, 1.7976931348623157e308, [1, None, [2.5]], {"a": 1}, True]
    script = javascript().compile("function evaluate({ values }) { return values.map((value) => String(value)); }")
    assert script.run_many([{"values": values}])[0].value == [stringified(value) for value in values]
