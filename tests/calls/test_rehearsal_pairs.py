"""The rehearsal compares two answers, prefers the better one in either order, and gives odds if asked for them."""

import json
import math

import pytest

from evalstudio.calls.rehearsal import rehearse, slip
from evalstudio.calls.rehearsed_odds import CHOSEN, odds
from tests.calls.talking import MemoryStore, ask_one, question
from tests.calls.test_rehearsal import EXPECTED, LABELS, RIGHT, SCALE, WRONG, calm, enum_schema

PLACES = """Which output agrees with the facts?
(A) The second output is better.
(B) The first output is better.
(C) Both are about the same.
Put the letter on the last line."""
NAMES = ["Comparison", "Baseline", "About the same"]
NUMBER = {"type": "object", "properties": {"reason": {"type": "string"}, "score": {"type": "number"}}}


def pair(rules, baseline, compared):
    """Messages about two answers on which the rehearsal does not err."""
    data = "".join(
        f'<data path="{path}">\n{text}\n</data>\n'
        for path, text in (
            ("expectedOutputs.value", EXPECTED),
            ("outputs.value", baseline),
            ("comparison.outputs.value", compared),
        )
    )
    variants = ([{"role": "user", "content": f"{rules}\nVariant {number}.\n{data}"}] for number in range(99))
    return next(messages for messages in variants if slip(messages) == 0)


@pytest.mark.parametrize(
    ("baseline", "compared", "letter", "number"),
    [(WRONG, RIGHT, "A", 1), (RIGHT, WRONG, "B", 0), (RIGHT, RIGHT, "C", 0.5)],
)
def test_the_better_of_two_answers_wins_wherever_it_stands(baseline, compared, letter, number):
    reply = rehearse(pair(PLACES, baseline, compared), None)
    assert reply.splitlines()[-1] == letter
    assert reply.startswith("Rehearsal, no language model: of the baseline, the answer ")
    label = NAMES["ABC".index(letter)]
    assert json.loads(rehearse(pair("Facts?", baseline, compared), enum_schema(NAMES)))["label"] == label
    assert json.loads(rehearse(pair("Facts?", baseline, compared), NUMBER))["score"] == number


def test_options_that_name_neither_are_read_as_a_scale():
    reply = rehearse(pair("Facts?", WRONG, RIGHT), enum_schema(["Much better", "Worse"]))
    assert json.loads(reply)["label"] == "Much better"


@pytest.mark.parametrize(
    ("rules", "schema", "names"), [(SCALE, enum_schema(LABELS), LABELS), (PLACES, None, list("ABC"))]
)
def test_the_odds_are_of_the_options_and_favour_what_was_said(rules, schema, names):
    messages = calm(rules, RIGHT)
    text = rehearse(messages, schema)
    tokens = odds(text, messages, schema)
    assert "".join(token.text for token in tokens) == text
    (decisive,) = (token for token in tokens if token.likeliest)
    assert {name for name, _ in decisive.likeliest} == set(names)
    assert math.exp(decisive.logprob) == pytest.approx(CHOSEN)
    assert math.fsum(math.exp(logprob) for _, logprob in decisive.likeliest) == pytest.approx(1)


def test_a_number_has_no_odds():
    messages = calm("How factual is it?", RIGHT)
    assert [token.likeliest for token in odds(rehearse(messages, NUMBER), messages, NUMBER)] == [()]


def test_they_come_with_the_reply_only_where_they_are_asked_for():
    from evalstudio.calls.chat import Endpoint

    store = MemoryStore({1: Endpoint(base_url="rehearsal:")})
    asked = question("(A) Yes.\n(B) No.\nPut the letter on the last line.")
    assert ask_one(store, asked).tokens == ()
    assert ask_one(store, question(asked.messages[0]["content"], top_logprobs=5)).tokens[-1].likeliest
