"""Names that people give to paths, and the second output of a comparison, in prompts."""

import pytest

from evaluators.core import Comparand, Sample
from evaluators.paths import MissingPath
from evaluators.prompts import PromptError, compile

SAMPLE = Sample(
    inputs={"user": {"name": "Ada"}},
    expected_outputs={"value": "Yes.", "facts": [{"text": "one"}, {"text": "two"}]},
    outputs={"value": "No."},
    comparison=Comparand({"value": "Perhaps."}, [{"name": "ask"}]),
)
TRUTH = (("Ground_Truth", "expectedOutputs.value"), ("Facts", "expectedOutputs.facts"), ("user", "inputs.user"))


def said(prompt, variables=TRUTH, **more):
    return compile(prompt, more.pop("compares", False), variables).render(SAMPLE)


def faults(prompt, compares=False, variables=TRUTH):
    with pytest.raises(PromptError) as caught:
        compile(prompt, compares, variables)
    return [(error.line, error.found, error.suggestion) for error in caught.value.errors]


def test_a_variable_stands_for_its_path():
    (part,) = said("{{ Ground_Truth }}").parts
    assert tuple(part[:3]) == ("Yes.", "case", "expectedOutputs.value")
    assert compile("{{ Ground_Truth }}", False, TRUTH).paths == ("expectedOutputs.value",)


@pytest.mark.parametrize(
    ("prompt", "values"),
    [
        ("{{ Facts[1].text }}", ["two"]),
        ("{% for fact in Facts %}{{ fact.text }};{% endfor %}", ["one", "two"]),
        ("{% if Ground_Truth == 'Yes.' %}{{ Facts[0]['text'] }}{% endif %}", ["one"]),
        ("{% set first = Facts|first %}{{ first.text|upper }}", ["ONE"]),
        ("{{ user.name }}", ["Ada"]),
        ("{expectedOutput} {{ Ground_Truth }}", ["Yes.", "Yes."]),
    ],
)
def test_it_goes_wherever_a_part_of_the_case_does(prompt, values):
    assert [part.text for part in said(prompt).parts if part.path] == values


def test_a_variable_over_a_list_or_a_span_takes_further_steps():
    sample = Sample(outputs={"docs": [{"text": "x"}]}, steps=[{"attributes": {"llm.model": "m", "llm": {"a": 1}}}])
    prompt = compile("{{ Docs }}{{ Call.model }}", False, (("Docs", "outputs.docs[*].text"), ("Call", "span.llm")))
    assert [part.text for part in prompt.render(sample).parts] == ['["x"]', "m"]


def test_an_unknown_name_suggests_the_nearest_of_parts_and_variables():
    assert faults("One\n{{ GroundTruth }} {{ expectedOutput }}") == [
        (2, "GroundTruth", "Ground_Truth"),
        (2, "expectedOutput", "expectedOutputs"),
    ]
    assert faults("{% set Ground_Truth = 1 %}") == [(1, "Ground_Truth", None)]
    assert faults("{{ Ground_Truth }}", variables=()) == [(1, "Ground_Truth", None)]


@pytest.mark.parametrize(
    ("prompt", "variables", "sentence"),
    [
        ("{{ Truth }}", (("Truth", "outputs.gold"),), "The variable Truth reads outputs.gold, which"),
        ("{{ Truth.a[0] }}", (("Truth", "outputs.gold"),), "The variable Truth reads outputs.gold.a[0], which"),
        ("{% for x in T %}{{ x.y }}{% endfor %}", (("T", "expectedOutputs.facts"),), "The variable T reads expectedOu"),
        ("{{ T }}", (("T", "expectedOutputs.facts[*].z"),), "The variable T reads expectedOutputs.facts[0].z, which"),
        ("{{ outputs.gold }}", (("Other", "outputs.go"),), "The prompt reads outputs.gold, which"),
    ],
)
def test_what_a_case_lacks_is_said_with_variable_and_path(prompt, variables, sentence):
    compiled = compile(prompt, False, variables)
    with pytest.raises(MissingPath) as caught:
        compiled.render(SAMPLE)
    assert compiled.lacks(caught.value).startswith(sentence)


def test_comparison_is_a_name_only_where_two_outputs_are_compared():
    assert faults("{{ comparison.outputs.value }}") == [(1, "comparison", None)]
    assert faults("{{ comparision.outputs.value }}", compares=True) == [(1, "comparision", "comparison")]
    assert faults("{% for comparison in [1] %}{% endfor %}") == [(1, "comparison", None)]
    parts = said("{{ outputs.value }}{{ comparison.outputs.value }}{{ comparison.steps[0].name }}", compares=True).parts
    assert [(part.text, part.origin, part.title) for part in parts] == [
        ("No.", "baseline", "Baseline output"),
        ("Perhaps.", "comparison", "Compared output"),
        ("ask", "comparison", "Compared output"),
    ]


def test_one_output_stays_an_output_though_the_sample_has_another():
    assert said("{{ outputs.value }}").parts[0].origin == "output"
