"""Reading replies: what counts as a verdict, and what never does."""

import json
import time

import pytest

from evaluators.core import Why
from evaluators.scoring import EnumScoring, Option, PercentageScoring
from evaluators.verdicts import ReplyForm, Unreadable, read

SCALE = EnumScoring((Option("Supported", 100), Option("Small slip", 60), Option("Contradicts", 0)))
LETTERED = EnumScoring((Option("A", 100), Option("B", 30)))
SHARE = PercentageScoring()
GOOD = '{"reason": "It holds.", "label": "Supported"}'


def in_json(text, scale=SCALE, **more):
    return read(text, scale, ReplyForm.JSON, getattr(scale, "letters", {}), **more)


def in_last_line(text, scale=LETTERED, **more):
    return read(text, scale, ReplyForm.LAST_LINE, getattr(scale, "letters", {}), **more)


def why(reader, text, *args, **more):
    with pytest.raises(Unreadable) as caught:
        reader(text, *args, **more)
    return caught.value.why


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"Here it is:\n{GOOD}\nI hope that helps.",
        f"```json\n{GOOD}\n```",
        f'Not {{"this"}} draft, but:\n```\n{GOOD}\n```',
        '{"reason": "It holds.", "label": " supported "}',
        '{"label": "SUPPORTED", "reason": "It holds."}',
        '{"justification": "It holds.", "label": "Supported"}',
        '{"reason": "It holds.", "label": "A"}',
        '{"reason": "It holds.", "label": "Supported"',
        f"<think>Maybe {{no}} label B. {{}}</think>\n{GOOD}",
        f"<thinking>\n```json\n{{}}\n```</thinking>{GOOD}",
        f"Let me think: B or A?</think>{GOOD}",
    ],
)
def test_one_object_is_read_however_it_is_dressed(text):
    found = in_json(text)
    assert (found.value, found.label, found.reason) == (1.0, "Supported", "It holds.")


def test_a_reason_may_hold_line_ends_and_braces():
    assert in_json('{"reason": "Claim 1: {x}\n</think> fine", "label": "Contradicts"}').value == 0.0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Why.UNPARSED),
        ("The answer is fine.", Why.UNPARSED),
        ('{"reason": "x"}', Why.UNPARSED),
        ('{"label": ["Supported"]}', Why.UNPARSED),
        ('{"label": null}', Why.UNPARSED),
        ("[1, 2]", Why.UNPARSED),
        ("{'label': 'Supported'}", Why.UNPARSED),
        ('{"label": "Supported", "label": "Contradicts"}', Why.UNPARSED),
        (f'{GOOD}\n{{"label": "Contradicts"}}', Why.UNPARSED),
        (f'```\n{GOOD}\n```\n```\n{{"label": "Contradicts"}}\n```', Why.UNPARSED),
        (f"```\n{GOOD}\n```\n{GOOD}", Why.UNPARSED),
        ('{"label": "Mostly fine"}', Why.OFF_SCALE),
        ('{"label": "It is not supported"}', Why.OFF_SCALE),
        ('{"label": "Unsupported"}', Why.OFF_SCALE),
        ('{"label": "Supported or Contradicts"}', Why.OFF_SCALE),
        ('{"label": "D"}', Why.OFF_SCALE),
        ("<think>It is Supported, so the label", Why.UNPARSED),
        ("I'm sorry, but I can't help with that.", Why.REFUSED),
        ("I cannot evaluate this content.", Why.REFUSED),
        ("As an AI, I do not judge people.", Why.REFUSED),
    ],
)
def test_what_holds_no_offered_verdict_is_unscored(text, reason):
    assert why(in_json, text) is reason


def test_several_objects_are_named_as_the_trouble():
    with pytest.raises(Unreadable, match="several JSON objects"):
        in_json(f'{GOOD} {{"label": "Contradicts"}}')


def test_a_reply_that_was_cut_off_says_so():
    assert why(in_json, '{"reason": "It goes on and', finish_reason="length") is Why.UNPARSED
    with pytest.raises(Unreadable, match="cut off"):
        in_json('{"reason": "It goes on and', finish_reason="length")
    assert why(in_json, "", finish_reason="content_filter") is Why.REFUSED


def test_an_apology_with_a_verdict_is_no_refusal():
    assert in_json(f"I'm sorry to say:\n{GOOD}").value == 1.0


@pytest.mark.parametrize(("said", "value"), [("0", 0.0), ("1", 1.0), ("0.25", 0.25), ("1.0", 1.0), ("1e-1", 0.1)])
def test_a_score_in_json(said, value):
    assert in_json(f'{{"reason": "r", "score": {said}}}', SHARE).value == value


@pytest.mark.parametrize(
    ("said", "reason"),
    [(said, Why.OFF_SCALE) for said in ("1.2", "-0.1", "85", '"0.5"', "true", "null")]
    + [(said, Why.UNPARSED) for said in ("NaN", "Infinity")],
)
def test_a_score_outside_is_never_clamped(said, reason):
    assert why(in_json, f'{{"reason": "r", "score": {said}}}', SHARE) is reason


@pytest.mark.parametrize(
    "last",
    [
        "B",
        "(B)",
        "b.",
        "**B**",
        '"B"',
        "`B`",
        "Answer: B",
        "final answer: (B)",
        "**Choice: B**",
        "CHOICE - b",
        "  B  ",
        "[B]",
    ],
)
def test_the_letter_on_the_last_line(last):
    found = in_last_line(f"Because A is wrong.\nSo:\n{last}\n\n")
    assert (found.label, found.value, found.reason) == ("B", 0.3, "Because A is wrong.\nSo:")


def test_the_worked_examples_of_the_catalogue():
    assert in_last_line("because…\n(B)").value == 0.3
    assert in_last_line("I think\n85%", SHARE).value == 0.85
    scale = EnumScoring((Option("A", 40), Option("B", 60), Option("C", 100), Option("D", 0), Option("E", 100)))
    assert in_last_line("reasoning\n(B)", scale).value == 0.6
    assert in_last_line("x\nD", scale).value == 0.0
    assert in_last_line("r\nA.", scale).value == 0.4


def test_a_letter_stands_for_the_option_it_was_offered_under():
    found = in_last_line("So it is.\nC", SCALE)
    assert (found.label, found.value) == ("Contradicts", 0.0)
    assert in_last_line("So it is.\nSmall slip", SCALE).value == 0.6


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("B\nThat is my choice, after long thought.", Why.UNPARSED),
        ("A or B", Why.UNPARSED),
        ("It is clearly (A)", Why.UNPARSED),
        ("Because.\nF", Why.OFF_SCALE),
        ("", Why.UNPARSED),
        ("I'm unable to judge this.", Why.REFUSED),
    ],
)
def test_a_last_line_that_is_no_option_is_never_guessed(text, reason):
    assert why(in_last_line, text) is reason


@pytest.mark.parametrize(
    ("last", "value"),
    [
        ("0.7", 0.7),
        ("70%", 0.7),
        ("70 %", 0.7),
        (".5", 0.5),
        (".1", 0.1),
        ("Answer: .05.", 0.05),
        ("Answer: 1", 1.0),
        ("**0.25**", 0.25),
    ],
)
def test_a_number_on_the_last_line(last, value):
    assert in_last_line(f"Because.\n{last}", SHARE).value == value


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        ("85", Why.OFF_SCALE),
        ("120%", Why.OFF_SCALE),
        ("7/10", Why.UNPARSED),
        ("about 0.7", Why.UNPARSED),
        ("-1", Why.OFF_SCALE),
        ("Answer -0.5", Why.UNPARSED),
    ],
)
def test_a_number_that_is_none_or_outside(last, reason):
    assert why(in_last_line, f"Because.\n{last}", SHARE) is reason


RAILS = EnumScoring((Option("LOW", 0), Option("MEDIUM", 50), Option("HIGH", 100)))


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ("It is MEDIUM", "MEDIUM"),
        ("medium.", "MEDIUM"),
        ("This could be HIGH...", "HIGH"),
        ("HIGH, and I repeat: HIGH", "HIGH"),
        ("**LOW** (little in common)", "LOW"),
    ],
)
def test_a_label_is_found_among_other_words(said, label):
    found = in_json(json.dumps({"label": said, "justification": "x"}), RAILS)
    assert (found.label, found.reason) == (label, "x")


@pytest.mark.parametrize(
    "said",
    ["LOW or HIGH", "UNKNOWN", "HIGHER", "It is not HIGH", "It isn't LOW", "There are not enough facts", "n" * 9_999],
)
def test_none_or_several_labels_among_the_words_are_never_guessed(said):
    assert why(in_json, json.dumps({"label": said}), RAILS) is Why.OFF_SCALE


def test_labels_within_labels_and_with_marks_are_told_apart():
    scale = EnumScoring((Option("Supported", 100), Option("Not supported", 0), Option("A,x%", 50)))
    assert in_json('{"label": "It is not supported."}', scale).label == "Not supported"
    assert in_json('{"label": "It is A,x%..."}', scale).label == "A,x%"
    assert in_json('{"label": "I say: supported"}', scale).label == "Supported"


def test_a_single_letter_among_words_is_no_label():
    assert why(in_json, '{"label": "a good answer"}', LETTERED) is Why.OFF_SCALE
    assert in_json('{"label": "(B)."}', LETTERED).label == "B"


@pytest.mark.parametrize(
    ("low", "high", "said", "value"),
    [
        (1, 10, "1", 0.0),
        (1, 10, "10", 1.0),
        (1, 10, "5.5", 0.5),
        (0, 100, "85%", 0.85),
        (0, 100, "85", 0.85),
        (-1, 1, "-0.5", 0.25),
    ],
)
def test_a_number_of_a_range_counts_by_its_place_in_it(low, high, said, value):
    scale = PercentageScoring(low, high)
    assert in_last_line(f"r\n{said}", scale).value == pytest.approx(value)
    if "%" not in said:
        assert in_json(f'{{"score": {said}}}', scale).value == pytest.approx(value)


@pytest.mark.parametrize(
    ("low", "high", "said", "reason"),
    [
        (1, 10, "0", Why.OFF_SCALE),
        (1, 10, "11", Why.OFF_SCALE),
        (1, 10, "70%", Why.UNPARSED),
        (0, 100, "101%", Why.OFF_SCALE),
        (-1, 1, "-2", Why.OFF_SCALE),
    ],
)
def test_a_number_outside_the_range_is_never_bent_into_it(low, high, said, reason):
    assert why(in_last_line, f"r\n{said}", PercentageScoring(low, high)) is reason


def test_thinking_that_lost_its_beginning_may_hold_braces():
    assert in_json(f'It could be {{"label": "Contradicts"}} or so.</think>\n{GOOD}').label == "Supported"
    assert in_last_line("Perhaps {A}?</think>\nB").label == "B"


def test_either_form_is_read_where_nothing_can_be_mistaken():
    assert in_json("Because.\nSmall slip").value == 0.6
    assert in_json("I think\n85%", SHARE).value == 0.85
    assert in_last_line(json.dumps({"reason": "r", "label": "B"})).value == 0.3
    assert in_last_line('So:\n{"score": 0.5}', SHARE).value == 0.5


def test_an_object_quoted_within_the_reasons_is_no_verdict():
    assert why(in_last_line, 'The output ends with {"label": "B"}') is Why.UNPARSED


def test_what_was_cut_off_is_never_completed():
    assert why(in_last_line, "It could be\nB", finish_reason="length") is Why.UNPARSED
    assert why(in_json, '{"reason": "r", "score": 0.1', SHARE, finish_reason="length") is Why.UNPARSED
    assert in_json(f"{GOOD}", finish_reason="length").value == 1.0


def test_labels_with_marks_of_their_own_are_read():
    scale = EnumScoring((Option("(unsure)", 50), Option("etc.", 0)))
    assert in_json('{"label": "(unsure)"}', scale).value == 0.5
    assert in_json('{"label": "etc."}', scale).value == 0.0
    assert in_json('{"label": "*unsure*"}', EnumScoring((Option("unsure", 50), Option("x", 0)))).value == 0.5


@pytest.mark.parametrize("piece", ["{", '{"a":', "[", "```json\n", "<think>", "(A) ", '{"label": "x"} ', "1.", " "])
@pytest.mark.parametrize("reader", [in_json, in_last_line])
def test_a_reply_without_end_is_read_in_no_time(reader, piece):
    began = time.process_time()
    assert why(reader, piece * (1_000_000 // len(piece))) in (Why.UNPARSED, Why.OFF_SCALE)
    assert time.process_time() - began < 2
