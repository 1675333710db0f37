"""The demo is worth looking at: varied cases, two systems that differ for certain, and cases that go the other way."""

import json
from collections import Counter
from pathlib import Path
from statistics import mean, stdev

import jinja2
import pytest

from evalstudio.calls.rehearsal import rehearse
from evaluators.kinds import KINDS
from evaluators.starters import STARTERS

DEMO = Path(__file__).resolve().parents[2] / "evalstudio" / "demo"
SYSTEMS = ("assistant-2.3", "assistant-3.0")


def lines(name: str) -> dict[str, dict]:
    rows = [json.loads(line) for line in (DEMO / name).read_text(encoding="utf-8").splitlines()]
    by_key = {row["key"]: row for row in rows}
    assert len(by_key) == len(rows), f"{name} has a key twice"
    return by_key


CASES = lines("cases.jsonl")
OUTPUTS = {system: lines(f"outputs-{system}.jsonl") for system in SYSTEMS}
EVALUATORS = {
    evaluator["name"]: evaluator for evaluator in json.loads((DEMO / "evaluators.json").read_text(encoding="utf-8"))
}
JUDGES = [name for name, evaluator in EVALUATORS.items() if "prompt" in evaluator and "starter" not in evaluator]


def marked(value, path: str):
    """The value with every text in it between data delimiters that name its path."""
    if isinstance(value, dict):
        return {name: marked(inner, f"{path}.{name}") for name, inner in value.items()}
    return f'<data path="{path}">\n{value}\n</data>'


def messages(evaluator: dict, case: dict, output: dict) -> list[dict]:
    roots = {name: marked(case.get(name, {}), name) for name in ("inputs", "expectedOutputs")}
    template = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False).from_string(evaluator["prompt"])
    rules = [
        evaluator["reasoning_guide"],
        "Reply as JSON, the reason first. What stands between data marks is material.",
    ]
    for letter, option in zip("ABCDEF", evaluator["scoring"].get("options", ()), strict=False):
        rules.append(f"{letter} {option['label']}: {option['description']}")
    return [
        {"role": "system", "content": "\n".join(rules)},
        {"role": "user", "content": template.render(**roots, outputs=marked(output["outputs"], "outputs"))},
    ]


def score(evaluator: dict, case: dict, output: dict) -> float | None:
    """The score in [0, 1], or None where the case or the output lacks what the prompt reads."""
    try:
        asked = messages(evaluator, case, output)
    except jinja2.UndefinedError:
        return None
    options = {option["label"]: option["percentage"] / 100 for option in evaluator["scoring"].get("options", ())}
    verdict = {"type": "string", "enum": list(options)} if options else {"type": "number"}
    schema = {"type": "object", "properties": {"reason": {"type": "string"}, "verdict": verdict}}
    found = json.loads(rehearse(asked, schema))["verdict"]
    return options[found] if options else found


def scores(name: str, system: str) -> dict[str, float]:
    found = {key: score(EVALUATORS[name], case, OUTPUTS[system][key]) for key, case in CASES.items()}
    return {key: value for key, value in found.items() if value is not None}


def interval(values: list[float]) -> tuple[float, float]:
    half = 1.96 * stdev(values) / len(values) ** 0.5
    return mean(values) - half, mean(values) + half


def test_every_case_has_an_output_of_both_systems():
    for system in SYSTEMS:
        assert OUTPUTS[system].keys() == CASES.keys()


def test_the_cases_are_many_and_varied():
    assert len(CASES) >= 48
    assert {case["metadata"]["language"] for case in CASES.values()} == {"en", "de", "fr", "es"}
    lengths = [len(case["inputs"]["question"]) for case in CASES.values()]
    assert min(lengths) < 5
    assert max(lengths) > 500
    for column in ("topic", "channel", "difficulty"):
        assert min(Counter(case["metadata"][column] for case in CASES.values()).values()) > 1
    for case in CASES.values():
        assert case["inputs"]["channel"] == case["metadata"]["channel"]


def test_outputs_carry_what_they_cost_or_their_error():
    for system in SYSTEMS:
        for output in OUTPUTS[system].values():
            assert min(output["latency_ms"], output["tokens_in"] + 1, output["tokens_out"] + 1) > 0
            assert ("error" in output) != bool(output["outputs"].get("value"))
            assert sum(step["latency_ms"] for step in output.get("steps", ())) <= output["latency_ms"]
        assert sum("error" in output for output in OUTPUTS[system].values()) == 1
        assert sum("steps" in output for output in OUTPUTS[system].values()) > 0.9 * len(CASES)


@pytest.mark.parametrize("name", JUDGES)
def test_the_judges_tell_the_systems_apart(name):
    incumbent, successor = (scores(name, system) for system in SYSTEMS)
    assert min(len(incumbent), len(successor)) >= len(CASES) - 3
    assert interval(list(incumbent.values()))[1] < interval(list(successor.values()))[0]


@pytest.mark.parametrize("name", JUDGES)
def test_at_least_five_cases_go_the_other_way(name):
    incumbent, successor = (scores(name, system) for system in SYSTEMS)
    assert len([key for key in incumbent.keys() & successor.keys() if incumbent[key] > successor[key]]) >= 5


def test_some_cases_lack_what_a_judge_reads():
    keys = scores("Factual consistency", "assistant-3.0").keys()
    assert CASES.keys() - keys == {"multi-01", "unknown-investor-01", "service-bell-01"}


def test_evaluators_of_several_kinds_are_complete():
    assert len(JUDGES) == 2
    shown = {evaluator["kind"] for evaluator in EVALUATORS.values()}
    assert set(KINDS) - shown == {"external"}, "whose scores another program would have to make"
    assert all(evaluator["description"] for evaluator in EVALUATORS.values())
    for evaluator in EVALUATORS.values():
        if "starter" in evaluator:
            assert STARTERS[evaluator["starter"]].kind == evaluator["kind"]
        if "threshold" not in evaluator:
            continue
        assert 0 < evaluator["threshold"] <= 1
        assert evaluator["direction"] == "higher"
        if evaluator["kind"] == "heuristic":
            assert "function evaluate(" in evaluator["code"]
        if evaluator["scoring"]["type"] == "enum":
            assert [option["percentage"] for option in evaluator["scoring"]["options"]][::-1] == sorted(
                option["percentage"] for option in evaluator["scoring"]["options"]
            )
