"""The rehearsal answers like a judge, always the same, and is wrong as often as it says."""

import json
import os
import subprocess
import sys
from itertools import count

import jsonschema
import pytest

from evalstudio.calls.rehearsal import ERROR_SHARE, rehearse, slip

EXPECTED = "The hold of €10 is released when the ride is paid and can stay visible for up to 7 days."
RIGHT = "It is a hold of €10: it is released when the ride is paid, and can stay visible for 7 days."
HALF = "The hold is released later."
WRONG = "The hold of €10 is released when the ride is paid and can stay visible for up to 30 days."
REFUSAL = "I am sorry, I cannot help with that. Please contact our support."

SCALE = """Is every claim supported?
A Supported: every claim is covered.
B Small slip: a claim is imprecise.
C Unsupported: a claim is invented.
D Contradicts: a claim says the opposite.
"""
LABELS = ["Supported", "Small slip", "Unsupported", "Contradicts"]
SATISFACTION = "How satisfied is the customer, and how helpful the reply?\n"


def asked(rules: str, answer: str, expected: str = EXPECTED) -> list[dict]:
    data = f'<data path="outputs.value">\n{answer}\n</data>\n<data path="expectedOutputs.value">\n{expected}\n</data>'
    return [{"role": "system", "content": rules}, {"role": "user", "content": f"Judge this.\n{data}"}]


def calm(rules: str, answer: str, expected: str = EXPECTED) -> list[dict]:
    """Messages on which the rehearsal does not err."""
    variants = (asked(f"{rules}\nVariant {number}.", answer, expected) for number in count())
    return next(messages for messages in variants if slip(messages) == 0)


def enum_schema(labels: list[str]) -> dict:
    return {
        "type": "object",
        "properties": {"label": {"type": "string", "enum": labels}, "reason": {"type": "string"}},
        "required": ["reason", "label"],
        "additionalProperties": False,
    }


def label(answer: str) -> str:
    return json.loads(rehearse(calm(SCALE, answer), enum_schema(LABELS)))["label"]


def score(answer: str, expected: str = EXPECTED) -> float:
    schema = {"type": "object", "properties": {"reason": {"type": "string"}, "score": {"type": "number"}}}
    return json.loads(rehearse(calm(SATISFACTION, answer, expected), schema))["score"]


def reason(answer: str) -> str:
    return json.loads(rehearse(calm(SCALE, answer), enum_schema(LABELS)))["reason"]


def test_the_same_messages_get_the_same_reply_in_every_process():
    program = (
        "import json, sys; from evalstudio.calls.rehearsal import rehearse;"
        "sys.stdout.reconfigure(encoding='utf-8'); print(rehearse(json.loads(sys.argv[1]), None))"
    )
    replies = {
        subprocess.run(
            [sys.executable, "-c", program, json.dumps(asked(SCALE, WRONG))],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            encoding="utf-8",
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert replies == {rehearse(asked(SCALE, WRONG), None)}


def test_it_depends_on_the_text():
    assert [label(RIGHT), label(HALF), label(WRONG), label(REFUSAL)] == [LABELS[0], LABELS[1], LABELS[2], LABELS[3]]
    assert score(RIGHT) > score(HALF) > score(REFUSAL)
    assert score(RIGHT) > score(WRONG)


def test_an_empty_answer_is_the_worst():
    assert label("") == "Contradicts"
    assert score("") == 0


def test_length_matters_to_the_customer_and_not_to_the_facts():
    long = RIGHT + " We value every customer and every question about the hold." * 8
    assert label(long) == label(RIGHT)
    assert score(long) < score(RIGHT)


def test_a_refusal_that_is_expected_is_not_held_against_it():
    assert score(REFUSAL, expected=REFUSAL) > 0.8


def test_the_reason_says_that_it_is_a_rehearsal_and_what_it_saw():
    assert reason(WRONG) == (
        "Rehearsal, no language model: the answer shares 90 % of the expected answer's words"
        " and states 30 days where 7 days is expected."
    )
    assert reason(REFUSAL).endswith("and refuses.")


def test_it_errs_on_the_stated_share_by_one_option():
    askings = [asked(f"{SCALE}Number {number}.", EXPECTED) for number in range(2000)]
    labels = [json.loads(rehearse(messages, enum_schema(LABELS)))["label"] for messages in askings]
    wrong = [found for found in labels if found != "Supported"]
    four_standard_errors = 4 * (ERROR_SHARE * (1 - ERROR_SHARE) / len(labels)) ** 0.5
    assert abs(len(wrong) / len(labels) - ERROR_SHARE) < four_standard_errors
    assert set(wrong) == {"Small slip"}


def test_it_errs_to_both_sides():
    variants = [asked(f"{SCALE}Number {number}.", HALF) for number in range(400)]
    labels = {json.loads(rehearse(messages, enum_schema(LABELS)))["label"] for messages in variants}
    assert labels == {"Supported", "Small slip", "Unsupported"}


def test_it_fills_a_schema_with_the_reason_first():
    reply = json.loads(rehearse(calm(SCALE, RIGHT), enum_schema(LABELS)))
    jsonschema.validate(reply, enum_schema(LABELS))
    assert list(reply) == ["reason", "label"]


@pytest.mark.parametrize(
    "verdict",
    [
        {"type": "number", "minimum": 0, "maximum": 1},
        {"type": "integer", "minimum": 1, "maximum": 5},
        {"type": "boolean"},
        {"type": "string", "enum": ["A", "B", "C", "D"]},
        {"enum": ["good", "bad"]},
        {"type": "array", "items": {"type": "number"}},
        {"type": "object", "properties": {"deep": {"enum": [1, 2, 3]}}, "required": ["deep"]},
    ],
)
@pytest.mark.parametrize("answer", [RIGHT, HALF, WRONG, REFUSAL, ""])
def test_it_keeps_to_every_schema(verdict, answer):
    schema = {"type": "object", "properties": {"verdict": verdict}, "required": ["verdict"]}
    jsonschema.validate(json.loads(rehearse(asked(SCALE, answer), schema)), schema)


def test_letters_mean_the_options_that_the_messages_list():
    schema = {"type": "object", "properties": {"label": {"enum": ["A", "B", "C", "D"]}}}
    assert json.loads(rehearse(calm(SCALE, RIGHT), schema)) == {"label": "A"}


def test_a_scale_that_starts_with_its_bad_end_is_read_from_the_other_end():
    labels = ["Wrong", "In between", "Right"]
    assert json.loads(rehearse(calm("Is it correct?", RIGHT), enum_schema(labels)))["label"] == "Right"


def test_without_a_schema_it_answers_with_the_keys_that_are_asked_for():
    rules = f'{SCALE}Answer as JSON with two fields, "reason" and "label".'
    assert json.loads(rehearse(calm(rules, RIGHT), None)).keys() == {"reason", "label"}
    assert json.loads(rehearse(calm(rules, RIGHT), None))["label"] == "Supported"
    rules = 'Is it correct? Answer as JSON: {"explanation": "...", "rating": 0.5}'
    assert json.loads(rehearse(calm(rules, RIGHT), None))["rating"] == 1.0


@pytest.mark.parametrize("style", ["{} {}: it is.", "({}) {}", "{}) {}", "{}. {}", "- {}: {}"])
def test_without_json_the_letter_stands_alone_on_the_last_line(style):
    options = "\n".join(style.format(letter, label) for letter, label in zip("ABCD", LABELS, strict=True))
    reply = rehearse(calm(f"Is it supported? Reason, then the letter.\n{options}", REFUSAL), None)
    assert reply.splitlines()[0].startswith("Rehearsal, no language model")
    assert reply.splitlines()[-1] == "D"


def test_without_options_the_number_stands_alone_on_the_last_line():
    assert float(rehearse(calm("Is it correct? From 0 to 1.", RIGHT), None).splitlines()[-1]) == 1.0


def test_options_inside_the_data_are_data():
    answer = "A Fine: take me.\nB Finer: no, me.\nC Finest: me!\nD Best: me!\nE Top: me!"
    assert rehearse(calm(SCALE, answer), None).splitlines()[-1] in "ABCD"


def test_paths_may_hold_quotes():
    data = f'<data path="outputs["final text"]">\n{REFUSAL}\n</data>'
    assert "refuses" in rehearse([{"role": "user", "content": f"Is this supported?\n{data}"}], None)


def test_unmarked_messages_are_judged_as_a_whole():
    parts = [{"role": "user", "content": [{"type": "text", "text": "I cannot help with that."}]}]
    assert "nothing to compare them with and refuses" in rehearse(parts, None)
    assert "the answer is empty" in rehearse([], None)
