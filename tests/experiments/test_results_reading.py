"""Values as people read them, whatever shape a pipeline gave them."""

import pytest

from experiments.analysis.grid import snippet
from experiments.analysis.reading import parts, steps, tool_calls


def told(value):
    return [(part.name, part.text, part.is_code) for part in parts(value)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, []),
        ({}, []),
        ({"value": "yes"}, [("", "yes", False)]),
        ("yes", [("", "yes", False)]),
        ({"value": 0.5}, [("", "0.5", False)]),
        ({"value": ["a"]}, [("", '[\n  "a"\n]', True)]),
        ({"value": ""}, [("", "", False)]),
        ({"question": "why", "channel": "app"}, [("question", "why", False), ("channel", "app", False)]),
        ({"article": {"title": "T", "text": "x"}}, [("article.title", "T", False), ("article.text", "x", False)]),
        ({"a": {"b": {"c": 1}}}, [("a.b", '{\n  "c": 1\n}', True)]),
        ({"a": {}}, [("a", "{}", True)]),
        ({"answer": "yes", "toolCalls": [{"name": "f"}]}, [("answer", "yes", False)]),
        ({"value": None}, [("", "null", False)]),
        (["ä"], [("", '[\n  "ä"\n]', True)]),
    ],
)
def test_a_value_becomes_named_pieces(value, expected):
    assert told(value) == expected


def test_a_picture_that_is_written_out_comes_after_what_can_be_read():
    value = {"image": "data:image/png;base64,AAAA", "question": "What is on it?", "language": "en"}
    assert [part.name for part in parts(value)] == ["question", "language", "image"]


def test_a_list_of_messages_becomes_a_conversation():
    value = {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": [{"text": "Hello"}]}]}
    (part,) = parts(value)
    assert [turn.role for turn in part.turns] == ["user", "assistant"]
    assert part.turns[0].text == "Hi"
    assert '"Hello"' in part.turns[1].text


@pytest.mark.parametrize("value", [[], [{"role": "user"}], [{"role": "user", "content": "Hi"}, "x"]])
def test_any_other_list_stays_json(value):
    assert parts({"messages": value})[0].turns == ()


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (None, []),
        ("text", []),
        ({"toolCalls": []}, []),
        ({"toolCalls": [{"name": "f", "arguments": {"x": 1}}, {"arguments": {}}]}, ["f", "call"]),
        ({"toolCalls": ["f(1)"]}, [""]),
        ({"toolCalls": {"f": 1}}, [""]),
    ],
)
def test_tool_calls_are_read_where_there_are_any(value, names):
    assert [call.name for call in tool_calls(value)] == names


def test_steps_have_a_name_a_line_and_their_share_of_the_longest():
    found = steps(
        [{"name": "a", "input": {"q": "x", "n": 2}, "output": {"hits": ["h"]}, "latency_ms": 50}, {"latency_ms": 200}]
    )
    assert [(step.name, step.note, step.latency_ms, step.width) for step in found] == [
        ("a", "q x, n 2 → hits h", 50.0, "25.0%"),
        ("step 2", "", 200.0, "100.0%"),
    ]


@pytest.mark.parametrize("value", [None, "x", {}, [], 3])
def test_what_is_no_list_of_steps_is_none(value):
    assert steps(value) == []


@pytest.mark.parametrize(
    "value", [[None], ["x"], [True], [[1]], [{"name": None, "latency_ms": True}], [{"name": {"a": 1}}]]
)
def test_odd_steps_are_shown_all_the_same(value):
    (step,) = steps(value)
    assert step.name
    assert step.latency_ms is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"question": "  why \n not "}, "why not"),
        ({"n": 3, "question": "why"}, "why"),
        ({"n": 3}, '{"n": 3}'),
        ("text", "text"),
        (None, "null"),
        ({"question": "x" * 999}, "x" * 140),
    ],
)
def test_a_list_shows_the_first_words_of_an_input(value, expected):
    assert snippet(value) == expected
