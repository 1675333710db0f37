"""Heuristics in the real sandbox: what a returned value is worth, and what goes wrong."""

import pytest

from evaluators.core import Comparand, Sample, Status, Why
from evaluators.kinds import get_kind
from evaluators.starters import STARTERS
from evaluators.tools import Tools, javascript

HEURISTIC = get_kind("heuristic")
YES_NO = {
    "type": "enum",
    "options": [
        {"label": "Yes", "percentage": 100, "description": ""},
        {"label": "No", "percentage": 33.3, "description": ""},
    ],
}
SAMPLE = Sample(
    inputs={"q": "?"}, expected_outputs={"value": "abcdef"}, outputs={"value": "abc"}, steps=[{"name": "ask"}]
)


def config(code, **more):
    return HEURISTIC.load(HEURISTIC.blank() | {"code": code, "threshold": 0.5} | more, HEURISTIC.schema)


def scores(settings, *samples):
    return HEURISTIC.prepare(settings, Tools(javascript=javascript()))(samples)


def score(body, sample=SAMPLE, **more):
    code = f"function evaluate({{ inputs, expectedOutputs, outputs, steps, metadata }}) {{\n{body}\n}}"
    return scores(config(code, **more), sample)[0]


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("return 0.25", 0.25),
        ("return outputs.value.length / expectedOutputs.value.length", 0.5),
        ("return true", 1.0),
        ("return false", 0.0),
        ("return steps[0].name === 'ask' ? 1 : 0", 1.0),
        ("return { score: 0.75, reason: 'long enough' }", 0.75),
        ("return Promise.resolve(0.5)", 0.5),
        ("return -0", 0.0),
    ],
)
def test_a_number_from_0_to_1_is_the_score(body, value):
    found = score(body)
    assert (found.status, found.value, found.label) == (Status.SCORED, value, None)
    assert found.passed is (value >= 0.5)
    assert found.latency_ms > 0


@pytest.mark.parametrize(
    ("body", "label"), [("return 'Yes'", "Yes"), ("return ' no '", "No"), ("return { label: 'No', reason: 'r' }", "No")]
)
def test_an_option_name_is_the_score_of_that_option(body, label):
    found = score(body, scoring=YES_NO)
    assert (found.label, found.value) == (label, 1.0 if label == "Yes" else 0.333)


@pytest.mark.parametrize(
    "body",
    [
        "return 1.5",
        "return -0.1",
        "return '0.5'",
        "return null",
        "return [1]",
        "return {}",
        "return NaN",
        "",
        "return x => x",
    ],
)
def test_a_value_outside_the_scale_is_unscored_with_the_reason(body):
    found = score(body)
    assert (found.status, found.why, found.value) == (Status.UNSCORED, Why.OFF_SCALE, None)
    assert found.reason


@pytest.mark.parametrize("body", ["return 'Perhaps'", "return 1", "return true", "return { score: 1 }"])
def test_a_value_that_is_no_option_is_unscored(body):
    assert score(body, scoring=YES_NO).why is Why.OFF_SCALE


@pytest.mark.parametrize(
    ("body", "why", "words"),
    [
        ("throw new Error('no such thing')", Why.THROWN, "Line 2: Error: no such thing"),
        ("return metadata.topic.length", Why.THROWN, "Line 2: TypeError"),
        ("while (true) {}", Why.TIME, "200 ms"),
        ("const all = []; while (true) all.push(new Uint8Array(1e6))", Why.MEMORY, ""),
        ("return 'x'.repeat(3e6)", Why.OUTPUT, "bytes"),
        ("return new Promise(() => {})", Why.THROWN, "never settles"),
        ("return require('fs')", Why.THROWN, "require"),
    ],
)
def test_what_breaks_is_failed_with_its_message(body, why, words):
    found = score(body)
    assert (found.status, found.why, found.value) == (Status.FAILED, why, None)
    assert words in found.reason


def test_console_lines_are_kept_whatever_happens():
    assert score("console.log('seen', outputs); return 1").logs == ('seen {"value":"abc"}',)
    assert score("console.log('before'); throw 1").logs == ("before",)


def test_code_that_does_not_load_fails_every_sample():
    found = scores(config("function evaluate( {"), SAMPLE, SAMPLE)
    assert [(item.status, item.why) for item in found] == [(Status.FAILED, Why.THROWN)] * 2


def test_the_same_seed_draws_the_same_and_a_repeat_another():
    code = "function evaluate() { return Math.random() }"
    first, again, repeat = scores(config(code), SAMPLE, SAMPLE, Sample(repeat=1))
    other = scores(config(code, seed=7), SAMPLE)[0]
    assert first.value == again.value
    assert len({first.value, repeat.value, other.value}) == 3


def test_what_a_case_lacks_is_undefined_so_defaults_work():
    found = scores(config("function evaluate({ steps = ['none'] }) { return steps.length === 1 ? 1 : 0 }"), Sample())
    assert found[0].value == 1.0


@pytest.mark.parametrize(
    ("code", "line"),
    [("function evaluate() {\n  return 1 +;\n}", 2), ("const x = 1;", None), ("  ", None), ("x" * 100_001, None)],
)
def test_code_that_cannot_be_saved_says_why_and_where(code, line):
    (error,) = HEURISTIC.check(config(code))
    assert (error.field, error.line) == ("code", line)


def test_the_documented_heuristics_run_as_written():
    keywords = "return ['sorry', 'unable'].some((word) => outputs.value.includes(word)) ? 0 : 1"
    alphanumeric = "return /^[a-z0-9]+$/i.test(outputs.value) ? 1 : 0"
    valid_json = "try { JSON.parse(outputs.value); return 1 } catch { return 0 }"
    assert [score(body).value for body in (keywords, alphanumeric, valid_json)] == [1.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("key", "expected", "actual", "value"),
    [
        ("shorter_than_expected", "four", "four", 1.0),
        ("shorter_than_expected", "four", "a", 1.0),
        ("shorter_than_expected", "four", "sixsix", 0.5),
        ("shorter_than_expected", "four", "eight888", 0.0),
        ("shorter_than_expected", "", "", 1.0),
        ("valid_json", "", '{"a": [1]}', 1.0),
        ("valid_json", "", "{'a': 1}", 0.0),
        ("valid_json", "", "", 0.0),
    ],
)
def test_the_starting_points_score_as_they_say(key, expected, actual, value):
    settings = HEURISTIC.load(STARTERS[key].config, HEURISTIC.schema)
    found = scores(settings, Sample(expected_outputs={"value": expected}, outputs={"value": actual}))[0]
    assert found.value == value


LONGER_WINS = """
function evaluate({ outputs, comparison }) {
  const difference = comparison.outputs.value.length - outputs.value.length;
  if (difference === 0) return 0.5;
  return difference > 0 ? 1 : 0;
}
"""


@pytest.mark.parametrize(("compared", "value"), [("abcd", 1.0), ("abc", 0.5), ("ab", 0.0)])
def test_a_comparison_gets_both_outputs(compared, value):
    pair = Sample(outputs={"value": "abc"}, comparison=Comparand({"value": compared}, None))
    found = scores(config(LONGER_WINS, runs_on="comparison"), pair)[0]
    assert (found.status, found.value) == (Status.SCORED, value)


def test_the_steps_of_both_are_there_or_left_out():
    code = (
        "function evaluate({ steps = [], comparison: { steps: others = [] } })"
        " { return (steps.length + others.length) / 4; }"
    )
    settings = config(code, runs_on="comparison")
    both = Sample(outputs={}, steps=[1], comparison=Comparand({}, [1, 2]))
    assert [found.value for found in scores(settings, both, Sample(comparison=Comparand({})))] == [0.75, 0.0]


def test_a_comparison_that_reads_one_output_is_refused_and_an_empty_one_is_told_its_arguments():
    alone = HEURISTIC.check(config("function evaluate({ outputs }) { return 1; }", runs_on="comparison"))
    assert [(fault.field, "comparison.outputs" in fault.message) for fault in alone] == [("code", True)]
    (empty,) = HEURISTIC.check(config(" ", runs_on="comparison"))
    assert "steps, comparison })" in empty.message
    assert HEURISTIC.check(config(LONGER_WINS, runs_on="comparison")) == []
    assert "comparison" not in HEURISTIC.check(config(" "))[0].message
