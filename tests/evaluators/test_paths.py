"""The one grammar for places in a sample."""

import pytest

from evaluators.core import Sample
from evaluators.paths import BadPath, MissingPath, existing_paths, parse, resolve
from evaluators.prompts import compile

ROOTS = {
    "inputs": {"messages": [{"content": "Hi"}, {"content": "Bye"}], "first name": "Lex", "0": "zero"},
    "expectedOutputs": {"value": None},
    "outputs": {"documents": [{"text": "one"}, {"text": "two"}], "value": ""},
    "steps": [{"name": "ask", "attributes": {"llm.model": "tiny", "llm.output": {"0": {"content": "yes"}}}}],
    "metadata": None,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("inputs.messages[0].content", "Hi"),
        ("inputs.messages.1.content", "Bye"),
        ("inputs.messages[-1].content", "Bye"),
        ('inputs["first name"]', "Lex"),
        ("inputs['first name']", "Lex"),
        ("inputs.0", "zero"),
        ("outputs.documents[*].text", ["one", "two"]),
        ("steps[*].name", ["ask"]),
        ("outputs.value", ""),
        ("expectedOutputs.value", None),
        ("span.llm.model", "tiny"),
        ("span.llm.output.0.content", "yes"),
    ],
)
def test_it_leads_to_the_value(text, value):
    assert resolve(ROOTS, text) == value


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("outputs.valu", "outputs.valu"),
        ("inputs.messages[5].content", "inputs.messages[5].content"),
        ("metadata.topic", "metadata.topic"),
        ("metadata", "metadata"),
        ("outputs.documents[*].title", "outputs.documents[0].title"),
        ("outputs.value.deeper", "outputs.value.deeper"),
        ("span.llm.tokens", "span.llm.tokens"),
    ],
)
def test_a_path_that_is_lacking_is_named(text, missing):
    with pytest.raises(MissingPath) as caught:
        resolve(ROOTS, text)
    assert caught.value.path == missing


def test_both_spellings_of_an_index_are_one_path():
    assert parse("inputs.messages.0.content") == parse("inputs.messages[0].content")
    assert parse("inputs.messages.0").text == "inputs.messages[0]"


@pytest.mark.parametrize("text", ["", ".value", "outputs..value", "outputs.value[", "outputs[x]", "outputs value.x"])
def test_what_is_no_path_is_refused(text):
    with pytest.raises(BadPath):
        parse(text)


def test_an_unknown_root_brings_the_nearest():
    with pytest.raises(BadPath) as caught:
        parse("expected_output.value")
    assert caught.value.suggestion == "expectedOutputs"


def test_completion_lists_what_exists_with_short_previews():
    paths = dict(existing_paths(ROOTS))
    assert paths["inputs"] == "{messages, first name, 0}"
    assert paths["inputs.messages"] == "2 items"
    assert paths["inputs.messages[0].content"] == "Hi"
    assert paths['inputs["first name"]'] == "Lex"
    assert "metadata" not in paths
    assert len(dict(existing_paths({"inputs": {"text": "word " * 1000}}))["inputs.text"]) <= 80


def test_every_completed_path_leads_somewhere_in_paths_and_prompts():
    odd = {
        "a.b": 1,
        'say "hi"': 2,
        "it's": 3,
        "[0]": 4,
        "": 5,
        "für": 6,
        "items": 7,
        "in": 8,
        "both ' and \"": 9,
        "x y": 0,
    }
    roots = ROOTS | {"outputs": odd}
    sample = Sample(roots["inputs"], roots["expectedOutputs"], odd, roots["steps"])
    found = [path for path, preview in existing_paths(roots) if preview != "null"]
    assert len([path for path in found if path.startswith("outputs")]) == 1 + 9
    for path in found:
        assert compile(f"{{{{ {path} }}}}").render(sample).parts[0].path == parse(path).text


def test_completion_is_bounded_however_large_the_sample():
    wide = {f"key{number}": {f"inner{place}": place for place in range(300)} for number in range(300)}
    deep: dict = {}
    for _ in range(100):
        deep = {"down": deep}
    found = existing_paths({"inputs": wide, "outputs": deep})
    assert len(found) == 200
    assert any(path == "outputs" for path, _ in found)


@pytest.mark.parametrize(
    "text", ["span.llm.output.0.content", "span", "inputs.messages[*].content", 'inputs["a b"][-1]']
)
def test_a_path_has_one_spelling_that_leads_back_to_it(text):
    assert parse(text).text == text
    assert parse(parse(text).text) == parse(text)
