"""Hostile prompts end soon and small, and reach nothing of Python."""

import time

import pytest

from evaluators.core import Sample
from evaluators.prompts import PromptError, RenderError, compile

SAMPLE = Sample(inputs={"list": list(range(500))}, outputs={"value": "abc" * 1000, "n": 10**9}, steps=[{"a": 1}])


@pytest.mark.parametrize(
    "prompt",
    [
        "{{ 'a' * 10**9 }}",
        "{{ outputs.value * outputs.n }}",
        "{{ outputs.n * ['a'] }}",
        "{{ 10 ** 10 ** 10 ** 10 ** 10 }}",
        "{% set x = 9 %}" + "{% set x = x * x %}" * 40 + "{{ x }}",
        "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}",
        "{{ range(10**9)|list }}",
        "{% for a in inputs.list %}{% for b in inputs.list %}{{ loop.index }}{% endfor %}{% endfor %}",
        "{% set x = outputs.value %}" + "{% set x = x ~ x %}" * 60 + "{{ x }}",
        "{% set x = outputs.value %}" + "{% set x = x + x %}" * 60 + "{{ x }}",
        "{% set x = inputs.list %}" + "{% set x = x + x %}" * 60 + "{{ x }}",
        "{{ outputs.value|replace('', outputs.value)|replace('', outputs.value) }}",
        "{{ inputs.list|join(outputs.value) }}",
        "{{ outputs.value|indent(10**9) }}",
        "{{ outputs.n|round(10**9, 'ceil') }}",
        "{{ '%1000000000d' % 1 }}",
        "{% for x in range(10000) %}" + "x" * 1000 + "{% endfor %}",
        "{% for x in range(9999) %}{{ outputs.value }}{% endfor %}",
        "{{ outputs.value" + "|tojson" * 60 + " }}",
    ],
)
def test_a_bomb_is_an_error_within_a_second(prompt):
    began = time.perf_counter()
    with pytest.raises(RenderError):
        compile(prompt).render(SAMPLE)
    assert time.perf_counter() - began < 3


@pytest.mark.parametrize(
    "prompt",
    [
        "{{ inputs.__class__ }}",
        "{{ inputs['__class__'] }}",
        "{{ steps|map(attribute='__class__')|list }}",
        "{{ steps|map(attribute='items')|list }}",
        "{{ outputs.value.upper.__self__ }}",
        "{{ range.__init__ }}",
        "{{ inputs.list.append }}",
        "{{ (outputs.value|list).__len__ }}",
    ],
)
def test_attributes_of_python_do_not_exist(prompt):
    with pytest.raises((LookupError, RenderError, PromptError)):
        compile(prompt).render(SAMPLE)


def test_the_sample_is_never_changed():
    with pytest.raises(PromptError):
        compile("{{ inputs.list.append(1) }}")
    with pytest.raises(PromptError):
        compile("{{ inputs.update({'a': 1}) }}")


def test_a_simple_prompt_renders_in_microseconds():
    prompt = compile("Compare {{ outputs.value }} with {{ inputs.list[0] }} and {{ steps[0].a }}.")
    best = min(_seconds(prompt) for _ in range(5))
    assert best < 200e-6, "a judge call may take 1.2 ms of processor in all"


def _seconds(prompt):
    began = time.perf_counter()
    for _ in range(200):
        prompt.render(SAMPLE)
    return (time.perf_counter() - began) / 200
