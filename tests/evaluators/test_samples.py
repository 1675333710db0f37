"""A pasted sample is read as people write it, and what is wrong is said with its place."""

import pytest

from evaluators.core import Comparand
from evaluators.samples import NotASample, read_sample


def test_it_reads_the_names_that_prompts_use():
    sample = read_sample(
        '{"inputs": {"q": 1}, "expectedOutputs": {"value": "a"}, "outputs": {"value": "b"}, "steps": []}'
    )
    assert (sample.inputs, sample.expected_outputs, sample.outputs, sample.steps) == (
        {"q": 1},
        {"value": "a"},
        {"value": "b"},
        [],
    )
    assert sample.metadata is None


def test_pasted_outputs_take_the_place_of_the_samples_own():
    text = '{"inputs": {"q": 1}, "outputs": {"value": "old"}}'
    assert read_sample(text, "plain text").outputs == {"value": "plain text"}
    assert read_sample(text, '{"answer": 3}').outputs == {"answer": 3}
    assert read_sample(text, "17").outputs == {"value": "17"}
    assert read_sample(text, "  ").outputs == {"value": "old"}


def test_the_other_output_of_a_comparison_is_read_or_pasted():
    text = '{"outputs": {"value": "a"}, "comparison": {"outputs": {"value": "b"}, "steps": [1]}}'
    assert read_sample(text).comparison == Comparand({"value": "b"}, [1])
    assert read_sample('{"comparison": {}}').comparison == Comparand()
    assert read_sample(text, "", "c").comparison == Comparand({"value": "c"})
    assert read_sample("{}", "a", '{"text": "c"}').comparison == Comparand({"text": "c"})
    assert read_sample("{}", "a", " ").comparison is None


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "Choose a case", None),
        ('{\n  "inputs": {"q": 1},\n}', "Line 2, column 21", 2),
        ('{"comparison": "b"}', "“comparison” is the other output", None),
        ('{"comparison": {"value": "b"}}', "“comparison” is the other output", None),
        ("[1]", "A sample is a JSON object", None),
        ('{"expected_output": 1}', "Did you mean “expectedOutputs”?", None),
        ('{"zzz": 1}', "The parts are inputs, expectedOutputs, outputs, steps, metadata, comparison.", None),
        ("[" * 100_000, "depth limit", 1),
        ('{"inputs": {"a": ' + "[" * 200 + "]" * 200 + "}}", "nested too deeply", None),
        ('{"inputs": {"n": ' + "9" * 5_000 + "}}", "number is infinity", 1),
        ('{"inputs": {"n": NaN}}', "Line 1", 1),
        ('{"inputs": {"n": 1e400}}', "number is infinity", 1),
        ('{"inputs": {"half": "\\ud800"}}', "surrogate", 1),
    ],
)
def test_what_is_no_sample_says_why(text, message, line):
    with pytest.raises(NotASample) as caught:
        read_sample(text)
    assert message in str(caught.value)
    assert caught.value.line == line
