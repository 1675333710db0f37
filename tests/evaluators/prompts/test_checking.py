"""What a prompt may not say: the error names it, its line, and the nearest right word."""

import pytest

from evaluators.prompts import PromptError, compile


def errors(prompt):
    with pytest.raises(PromptError) as caught:
        compile(prompt)
    return [(error.line, error.found, error.suggestion) for error in caught.value.errors]


@pytest.mark.parametrize(
    ("prompt", "line", "found", "suggestion"),
    [
        ("One\n{{ expectedOutput.answer }}", 2, "expectedOutput", "expectedOutputs"),
        ("{{ expected_outputs.value }}", 1, "expected_outputs", "expectedOutputs"),
        ("{{ input.question }}", 1, "input", "inputs"),
        ("{{ output }}", 1, "output", "outputs"),
        ("{{ actualOutput }}", 1, "actualOutput", "outputs.value"),
        ("{{ context }}", 1, "context", "outputs.contexts"),
        ("\n\n{{ outputs.value|uper }}", 3, "uper", "upper"),
        ("{% if outputs.value is define %}x{% endif %}", 1, "define", "defined"),
        ("{{ outputs.value.uper() }}", 1, "uper", "upper"),
        ("{{ Ground_Truth }}", 1, "Ground_Truth", None),
        ("{% for x in steps %}{% endfor %}\n{{ x }}", 2, "x", None),
        ("{% for x in steps %}{{ loop.indx }}{% endfor %}", 1, "indx", "index"),
        ("{% set inputs = 1 %}", 1, "inputs", None),
    ],
)
def test_a_wrong_name_is_named_with_its_line_and_the_nearest(prompt, line, found, suggestion):
    assert errors(prompt) == [(line, found, suggestion)]


def test_the_other_result_is_refused_with_a_sentence():
    with pytest.raises(PromptError, match="only where two results are compared"):
        compile("{{ comparison.outputs.value }}")


def test_all_errors_are_given_at_once_in_order():
    assert errors("{{ outputs.a|b }}\n{{ outputs.c|zz }}") == [(1, "b", None), (2, "zz", None)]


@pytest.mark.parametrize(
    ("prompt", "line"),
    [
        ("a\nb {{ outputs.value", 2),
        ("One\n{% if inputs.a %}", 2),
        ("\n{% endfor %}", 2),
        ("{{ }}", 1),
        ("{{ a b }}", 1),
    ],
)
def test_a_syntax_error_carries_its_line(prompt, line):
    assert errors(prompt)[0][0] == line


@pytest.mark.parametrize(
    "prompt",
    [
        "{% macro m() %}{% endmacro %}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% extends 'x' %}",
        "{% block b %}{% endblock %}",
        "{% set x %}block{% endset %}",
        "{% filter upper %}x{% endfilter %}",
        "{% for x in steps recursive %}{% endfor %}",
        "{{ namespace(a=1) }}",
        "{{ outputs.value.__class__() }}",
        "{{ outputs.value.format(1) }}",
        "{{ ''.join(steps) }}",
        "{{ (1).bit_length() }}",
        "{{ outputs.value|attr('x') }}",
        "{{ outputs.value|es_get('x', 'y') }}",
        "{{ self }}",
        "{{ cycler(1) }}",
        "{% set a = [1] %}{% set b = [a, a] %}",
        "{{ loop.index }}",
    ],
)
def test_what_a_prompt_does_not_need_is_refused(prompt):
    assert errors(prompt)


def test_an_empty_and_an_endless_prompt_are_refused():
    assert errors("  \n")
    assert errors("x" * 100_001)


def test_nesting_without_end_is_refused():
    assert errors("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}")
