"""A project's processor: what it makes of outputs, who reads it, and what happens where it fails."""

import asyncio

import pytest

from evaluators.core import Comparand, Sample, Score, Status, Why
from evaluators.engine import Computation, Work
from evaluators.kinds import get_kind
from evaluators.paths import resolve
from evaluators.processing import MOST_CODE, Processor, behind, check, reads_processed
from evaluators.tools import Tools, javascript

WORDS = "function process({ outputs }) {\n  return { words: outputs.value.split(' ').length };\n}"
FEW = "function evaluate({ processed }) { return processed.words < 3 ? 1 : 0; }"
PAIR = "function evaluate({ processed, comparison }) { return comparison.processed.words > processed.words ? 1 : 0; }"


def heuristic(code, **more):
    kind = get_kind("heuristic")
    config = kind.load(kind.blank() | {"code": code} | more, kind.schema)
    return Work(kind, config, kind.needs(config))


def judge(prompt="Look at {{ outputs.value }}", **more):
    kind = get_kind("judge")
    config = kind.load(kind.blank() | {"prompt": prompt} | more, kind.schema)
    return Work(kind, config, kind.needs(config))


def classification(predicted):
    kind = get_kind("classification")
    config = kind.load(kind.blank() | {"predicted": predicted, "expected": "expectedOutputs.value"}, kind.schema)
    return Work(kind, config, kind.needs(config))


def scores(work, code, *samples):
    return Computation(behind(work, Processor(3, code)), Tools(javascript=javascript())).scores(list(samples))


def answered(text):
    return Sample(inputs={"question": "?"}, outputs={"value": text})


def test_what_it_returns_is_read_as_processed():
    (made,) = Processor(1, WORDS).applied([answered("one two three")])

    assert resolve(made.roots(), "processed.words") == 3


def test_both_outputs_of_a_comparison_are_processed_and_change_places_together():
    sample = Sample(outputs={"value": "a b"}, comparison=Comparand({"value": "a b c"}))

    (made,) = Processor(1, WORDS).applied([sample])

    assert resolve(made.roots(), "processed.words") == 2
    assert resolve(made.roots(), "comparison.processed.words") == 3
    assert resolve(made.exchanged().roots(), "processed.words") == 3
    assert scores(heuristic(PAIR, runs_on="comparison"), WORDS, sample)[0].value == 1


def test_it_gets_the_case_and_the_trace_but_nothing_that_it_made_itself():
    code = "function process(sample) { return { names: Object.keys(sample) }; }"
    sample = Sample({}, {}, {"value": "a"}, [], {"tag": 1}, Comparand({"value": "b"}))

    (made,) = Processor(1, code).applied([sample])

    assert made.processed["names"] == ["inputs", "expectedOutputs", "outputs", "steps", "metadata"]


def test_an_output_on_which_it_fails_costs_its_own_score_and_no_other():
    first, second, third = scores(heuristic(FEW), WORDS, answered("a b"), Sample(outputs={}), answered("a b c d"))

    assert (first.value, third.value) == (1, 0)
    assert (second.status, second.why) == (Status.FAILED, Why.PROCESSOR)
    assert "v3" in second.reason
    assert "Line 2" in second.reason


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("function process() { return 12; }", "returned no object"),
        ("function process() { return [1]; }", "returned no object"),
        ("function process() {}", "process returned nothing"),
        ("function process() { while (true); }", "longer than"),
        ("function evaluate() { return {}; }", "no function named process"),
    ],
)
def test_what_is_no_object_is_a_failure_with_its_reason(code, said):
    (made,) = Processor(1, code).applied([answered("a")])

    assert isinstance(made, Score)
    assert said in made.reason


def test_the_compared_output_is_named_where_it_is_the_one_that_failed():
    (made,) = Processor(1, WORDS).applied([Sample(outputs={"value": "a"}, comparison=Comparand({}))])

    assert "on the compared output" in made.reason


@pytest.mark.parametrize(
    "work",
    [
        heuristic(FEW),
        judge("{{ processed.words }} {{ outputs.value }}"),
        judge("{% for word in processed.list %}{{ word }}{% endfor %}"),
        judge(variables=[{"name": "Words", "path": "processed.words"}], prompt="{{ Words }}"),
        judge(images=["processed.picture"]),
        judge("{{ outputs.value }} {{ comparison.processed.words }}", runs_on="comparison"),
        classification("processed.label"),
    ],
)
def test_evaluators_that_read_it_are_known_by_their_paths_and_by_their_code(work):
    assert reads_processed(work)


@pytest.mark.parametrize(
    "work", [judge(), classification("outputs.processed"), heuristic("function evaluate() { return 1; }"), judge("{{")]
)
def test_other_evaluators_never_wait_for_it(work):
    assert not reads_processed(work)
    assert behind(work, Processor(1, WORDS)) is work


def test_without_code_nothing_is_made():
    work = classification("processed.label")
    sample = Sample(expected_outputs={"value": "a"}, outputs={"value": "b"})

    assert Processor(2, "").applied([sample]) == [sample]
    assert scores(work, "", sample)[0].status == scores(work, "", sample)[0].status


def test_a_judge_is_not_asked_about_an_output_on_which_it_fails():
    work = behind(judge("{{ processed.words }}"), Processor(1, WORDS))

    score = asyncio.run(work.kind.one(work.config, Sample(outputs={}), Tools()))

    assert score.why == Why.PROCESSOR
    assert not score.replies


def test_code_that_cannot_be_loaded_is_refused_with_its_line():
    assert check("function process() {\n  return {;\n}")[0].line == 2
    assert "process" in check("const a = 1;")[0].message
    assert check("x" * (MOST_CODE + 1))[0].field == "code"
    assert check("") == []
    assert check(WORDS) == []
