"""Hostile prompts end soon and small, and reach nothing of Python."""

import time
from dataclasses import replace

import pytest

from evaluators.core import Sample
from evaluators.prompts import PromptError, RenderError, compile

SAMPLE = Sample(inputs={"list": list(range(500))}, outputs={"value": "abc" * 1000, "n": 10**9}, steps=[{"a": 1}])
NUMBERS, OTHER_NUMBERS = list(range(100_000)), list(range(100_000))  # equal, but no two of them the same object
LARGE = replace(
    SAMPLE,
    inputs={**SAMPLE.inputs, "numbers": NUMBERS},
    outputs={**SAMPLE.outputs, "long": "long words " * 20_000, "numbers": OTHER_NUMBERS},
)


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
        "{{ outputs.value" + "|tojson" * 40 + " }}",
        "{{ ([inputs] * 1000000)|tojson }}",
        "{{ [inputs] * 1000000 }}",
        "{{ ([outputs.value] * 100000)|upper }}",
        "{{ ([inputs.list] * 100000)|sum(start=[])|length }}",
        "{{ ([0] * 50000)|map('default', outputs.value, true)|list|tojson }}",
        "{{ ([[outputs.value] * 1000] * 1000)|join|length }}",
        "{{ ('f' * 900000)|int(base=16) // (('f' * 450000)|int(base=16)) }}",
        "{% for i in range(9999) %}{{ ('a b ' * 100000).split()|sort|length }}{% endfor %}",
        "{% for i in range(9999) %}{{ outputs.long|wordcount }}{% endfor %}",
        "{% for i in range(2000) %}{{ outputs.numbers == inputs.numbers }}{% endfor %}" * 20,
        "{{ outputs.long|lower|upper|length }}" * 500,
        "{{ outputs.long[1:]|length }}" * 500,
        "{% set x = [1] * 500000 %}" * 50,
        "{{ outputs.long.split()|length }}" * 500,
        "{{ " + "~".join(["outputs.long"] * 1000) + " }}",
    ],
)
def test_a_bomb_is_an_error_within_seconds(prompt):
    began = time.perf_counter()
    with pytest.raises(RenderError):
        compile(prompt).render(LARGE)
    assert time.perf_counter() - began < 6, "two seconds by its own clock, on a computer that has other things to do"


@pytest.mark.parametrize(
    "prompt",
    [
        "{{ " + "+".join(["1"] * 5_000) + " }}",
        "{{ inputs" + ".a" * 30_000 + " }}",
        "{{ outputs.value" + "|upper" * 5_000 + " }}",
        "{{ " + "(" * 5_000 + "1" + ")" * 5_000 + " }}",
        "{% if 0 %}" + "{% elif 0 %}" * 3_000 + "x{% endif %}",
        "{% if 1 %}" * 120 + "x" + "{% endif %}" * 120,
        "".join(f"{{% for a{n} in range(2) %}}" for n in range(25)) + "x" + "{% endfor %}" * 25,
        "{{ [" + "inputs," * 6_000 + "]|length }}",
        "{% set a = 1 %}" * 101,
        "{{ 9" + "9" * 5_000 + " }}",
        "{% for i in [1] %}{% set loop = 1 %}{% endfor %}",
    ],
)
def test_a_prompt_that_is_too_much_to_read_is_a_fault_of_the_prompt(prompt):
    with pytest.raises(PromptError):
        compile(prompt)


def test_the_largest_prompt_that_may_be_is_read_in_seconds():
    chain = "".join(f"{{% set a{n} = 1 %}}" for n in range(50))
    chain += "".join(f"{{% set a{n} = a{n + 1} %}}" for n in range(49)) + "{% set a49 = inputs %}"
    began = time.perf_counter()
    compile(chain + "{{ a0.x.y.z }}" * 700)
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    "broken", ["{{ outputs.value|truncate(-5) }}", "{{ 1 / 0 }}", "{{ 2 ** 'a' }}", "{{ -inputs }}"]
)
def test_whatever_breaks_in_a_filter_is_a_fault_over_this_case(broken):
    with pytest.raises(RenderError):
        compile(broken).render(SAMPLE)


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
