"""Worked examples of every entry: (entry, parameters, inputs, measures), and a way to score them as a run would."""

from __future__ import annotations

from typing import Any

from evaluators import catalogue
from evaluators.core import Sample, Score
from evaluators.kinds import get_kind
from evaluators.tools import Tools

BUILTIN = get_kind("builtin")
PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0}},
    "required": ["name", "age"],
}
WEATHER = {
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
RIO = '("Rio" OR "rio") AND regexp("15,?969 [Mm]il") AND NOT "Real"'
TEA = "I like green tea. I like green tea. I like green tea."
FOX = "The quick brown fox jumps over the lazy dog near the river bank."

Example = tuple[str, dict[str, Any], dict[str, Any], dict[str, float]]


def _rule(entry: str, passes: int, text: str, **parameters: Any) -> Example:
    return entry, parameters, {"text": text}, {"pass_rate": passes, "failure_rate": 1 - passes}


EXAMPLES: list[Example] = [
    _rule("contains", 0, "Your Refund was issued.", keyword="refund"),
    _rule("contains", 1, "Your Refund was issued.", keyword="refund", case_sensitive=False),
    _rule("contains_any", 1, "A dogma is not a pet.", keywords=["cat", "dog"]),
    _rule("contains_any", 0, "anything", keywords=[]),
    _rule("contains_all", 1, "name and date", keywords=["name", "date"]),
    _rule("contains_all", 0, "name and date", keywords=["name", "Date"]),
    _rule("contains_none", 1, "Here is the plan.", keywords=["sorry", "unable"]),
    _rule("contains_none", 0, "I am sorry.", keywords=["Sorry"], case_sensitive=False),
    _rule("starts_with", 1, "Dear Lex,", substring="Dear "),
    _rule("starts_with", 0, "Dear Lex,", substring="dear"),
    _rule("ends_with", 1, "Sincerely,\nDiana", substring="Diana"),
    _rule("ends_with", 0, "No full stop", substring="."),
    ("equals", {}, {"text": "42", "expected": "42"}, {"pass_rate": 1, "failure_rate": 0}),
    ("equals", {}, {"text": "Paris ", "expected": "Paris"}, {"pass_rate": 0, "failure_rate": 1}),
    _rule("regex_match", 1, "due 2024-05-01.", pattern=r"\d{4}-\d{2}-\d{2}"),
    _rule("regex_match", 0, "abc 123", pattern="[A-Za-z0-9]+", full_match=True),
    _rule("one_line", 1, "single line\n"),
    _rule("one_line", 0, "two\nlines"),
    _rule("length_less_than", 1, "1234", max_length=5),
    _rule("length_less_than", 0, "12345", max_length=5),
    _rule("length_greater_than", 1, "1234", min_length=3),
    _rule("length_greater_than", 0, "1234", min_length=4),
    _rule("length_between", 1, "12345", min_length=3, max_length=5),
    _rule("length_between", 0, "12", min_length=3, max_length=5),
    _rule("contains_valid_link", 1, "See https://docs.example.org/a?b=1."),
    _rule("contains_valid_link", 0, "See http://nodomain and example dot org"),
    _rule("no_valid_links", 1, "Mail me at a@b.org"),
    _rule("no_valid_links", 0, "http://127.0.0.1:8000/x"),
    _rule("is_email", 1, "diana@example.com"),
    _rule("is_email", 0, "diana at example.com"),
    _rule("is_json", 1, '{"a": [1, 2]}'),
    _rule("is_json", 0, "{'a': 1}"),
    (
        "json_schema",
        {"json_schema": PERSON},
        {"text": '{"name":"Jo","age":3}'},
        {"pass_rate": 1, "failure_rate": 0, "retrieval_failure_rate": 0, "generation_failure_rate": 0},
    ),
    (
        "json_schema",
        {"json_schema": PERSON},
        {"text": '{"name":"Jo","age":"3"}'},
        {"pass_rate": 0, "failure_rate": 1, "retrieval_failure_rate": 0, "generation_failure_rate": 1},
    ),
    ("json_schema", {"json_schema": {}}, {"text": "[1]"}, {"pass_rate": 1, "retrieval_failure_rate": 0}),
    (
        "text_matching",
        {},
        {"condition": RIO, "output": "rio revenue was 15969 million", "contexts": ["Rio: 15,969 Million real"]},
        {"pass_rate": 1, "retrieval_failure_rate": 0, "generation_failure_rate": 0, "parse_failure_rate": 0},
    ),
    (
        "text_matching",
        {},
        {"condition": '"15,969"', "output": "It was 15969.", "contexts": ["The figure is 15,969."]},
        {"pass_rate": 0, "failure_rate": 1, "retrieval_failure_rate": 0, "generation_failure_rate": 1},
    ),
    (
        "pii_leakage",
        {},
        {"output": "Card 4111 1111 1111 1111, thanks.", "contexts": ["no personal data"]},
        {"pass_rate": 0, "retrieval_failure_rate": 0},
    ),
    (
        "pii_leakage",
        {},
        {"output": "Order 4111 1111 1111 1112 shipped.", "contexts": ["contact: jo@corp.org"]},
        {"pass_rate": 1, "retrieval_failure_rate": 1},
    ),
    (
        "sensitive_data_leakage",
        {},
        {"output": "-----BEGIN RSA PRIVATE KEY-----\nMIIE", "contexts": ["nothing here"]},
        {"pass_rate": 0, "retrieval_failure_rate": 0},
    ),
    (
        "sensitive_data_leakage",
        {},
        {"output": "Rotate your API key monthly.", "contexts": ["key AKIAABCDEFGHIJKLMNOP"]},
        {"pass_rate": 1, "retrieval_failure_rate": 1},
    ),
    (
        "encoding_guardrail",
        {"encoding": "base64"},
        {"condition": 'NOT "credit card"', "output": "Here: dGhlIGNyZWRpdCBjYXJkIGlzIDEyMzQ="},
        {"pass_rate": 0},
    ),
    (
        "encoding_guardrail",
        {"encoding": "base64"},
        {"output": "Here: bm90aGluZyBzZWNyZXQgYXQgYWxs"},
        {"pass_rate": 1},
    ),
    (
        "looping_detection",
        {},
        {"output": TEA},
        {"unique_sentences": 0.333333, "longest_repeated_substring": 0.679245, "compression_ratio": 0.54717},
    ),
    (
        "looping_detection",
        {},
        {"output": FOX},
        {"unique_sentences": 1, "longest_repeated_substring": 0.1875, "compression_ratio": 1},
    ),
    (
        "function_calling",
        {},
        {"tools": [WEATHER], "tool_calls": [{"name": "get_weather", "arguments": {"city": "Oslo", "days": 2}}]},
        {"pass_rate": 1, "failure_rate": 0, "parse_failure_rate": 0},
    ),
    (
        "function_calling",
        {},
        {"tools": [WEATHER], "tool_calls": [{"name": "get_weather", "arguments": {"town": "Oslo"}}]},
        {"pass_rate": 0, "failure_rate": 1, "parse_failure_rate": 0},
    ),
]


def config(entry: str, mapping: dict[str, Any] | None = None, **parameters: Any) -> Any:
    """The loaded configuration of an entry."""
    start = BUILTIN.start(catalogue.get(entry))
    stored = {**start, "parameters": start["parameters"] | parameters, "mapping": mapping or {}}
    return BUILTIN.load(stored, BUILTIN.schema)


def sample(**inputs: Any) -> Sample:
    """A sample that holds each input of the catalogue where it lies by default."""
    roots: dict[str, Any] = {}
    for key, value in inputs.items():
        root, *names = catalogue.inputs.INPUTS[key].path.split(".")
        if names:
            roots.setdefault(root, {})[names[0]] = value
        else:
            roots.setdefault(root, {})["question"] = value
    return Sample(roots.get("inputs"), roots.get("expectedOutputs"), roots.get("outputs"))


def score(entry: str, parameters: dict[str, Any] | None = None, **inputs: Any) -> Score:
    (found,) = BUILTIN.prepare(config(entry, **(parameters or {})), Tools())([sample(**inputs)])
    return found
