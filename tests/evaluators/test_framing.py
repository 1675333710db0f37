"""What a judge is told: the form of its reply, the letters of its options, its scale, and what two outputs are."""

import pytest

from evaluators.framing import LettersDiffer, manner, option_lines, reply_form
from evaluators.prompts import compile
from evaluators.scoring import EnumScoring, Option, PercentageScoring
from evaluators.verdicts import ReplyForm

LETTER_PROMPT = """Compare {{ outputs.value }} with {{ expectedOutputs.value }}.
(A) It claims less than expected.
(B) It claims more than expected.
Say how you came to your verdict, and put the letter of your
choice alone on the last line. Explain first.
"""
YES_NO = EnumScoring((Option("Yes", 100), Option("No", 0)))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (LETTER_PROMPT, ReplyForm.LAST_LINE),
        ("End with the score alone on the final line.", ReplyForm.LAST_LINE),
        ("Put your answer on the last line.", ReplyForm.LAST_LINE),
        ("Your response must be a string, either SATISFIED or UNSATISFIED.", ReplyForm.JSON),
        ("Is the last line of the poem a rhyme? Give a label.", ReplyForm.JSON),
        ("Judge the last line. Then choose an option.", ReplyForm.JSON),
        ('Answer with {"label": "", "justification": ""}.', ReplyForm.JSON),
    ],
)
def test_the_form_of_the_reply_follows_from_the_prompt(text, form):
    assert reply_form(text) is form


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("(A) One.\n(B) Two.\n", ["One.", "Two."]),
        ("  A) One\n  B) Two\n  C) Three", ["One", "Two", "Three"]),
        ("A: One\nB: Two", ["One", "Two"]),
        ("(A) draft\n(B) draft\n\n(A) One\n(B) Two", ["One", "Two"]),
        ("(A) One\n", []),
        ("(B) Two\n(C) Three", []),
        ("Vitamin A) is\nnot a list B) either", []),
    ],
)
def test_option_lines_are_lettered_from_a(text, letters):
    assert list(option_lines(text).values()) == letters


def letters(prompt, *labels):
    scale = EnumScoring(tuple(Option(label, place) for place, label in enumerate(labels)))
    found = manner(compile(prompt).literal + "\nWrite the letter on the last line.", "", scale)
    return {letter: option.label for letter, option in found.letters.items()}


def test_letters_mean_the_options_they_begin_with_else_their_place():
    prompt = "(A) Comparison\n(B) Baseline\n(C) About the same"
    assert letters(prompt, "Baseline", "About the same", "Comparison") == {
        "A": "Comparison",
        "B": "Baseline",
        "C": "About the same",
    }
    assert letters("(A) It is a subset.\n(B) It is not.", "Less", "Other") == {"A": "Less", "B": "Other"}
    assert letters("(A) Fine.\n(B) Bad.", "A", "B") == {"A": "A", "B": "B"}
    assert letters("No list here.", "Good", "Bad") == {"A": "Good", "B": "Bad"}


def test_letters_without_an_option_are_an_error():
    with pytest.raises(LettersDiffer, match="the options A to C, the scale has 2"):
        letters("(A) One\n(B) Two\n(C) Three", "Good", "Bad")


def test_a_scale_that_the_prompt_lists_is_not_listed_twice():
    scale = EnumScoring((Option("A", 1), Option("B", 2, "Meant for ties.")))
    found = manner(compile(LETTER_PROMPT).literal, "", scale)
    assert [part.text for part in found.parts if part.origin == "scale"] == ["# Scale\nB: Meant for ties."]
    assert not [
        part for part in manner("On the last line: the score.", "", PercentageScoring()).parts if part.text == "A"
    ]


# The scale and the rules


def told(scoring, literal="Judge.", **more):
    return manner(literal, "", scoring, **more).system["content"]


@pytest.mark.parametrize(
    ("scale", "first"),
    [
        (("Accuracy", "How far the answer is right."), "# Scale\nAccuracy: How far the answer is right.\nA Yes\nB No"),
        (("Accuracy", ""), "# Scale\nAccuracy\nA Yes"),
        (("", ""), "# Scale\nA Yes"),
    ],
)
def test_a_scale_of_the_project_is_named_and_described(scale, first):
    assert first in told(YES_NO, scale=scale)


@pytest.mark.parametrize(
    ("scoring", "more", "line"),
    [
        (PercentageScoring(), {}, "A number from 0 (worst) to 1 (best)."),
        (PercentageScoring(1, 10), {}, "A number from 1 (worst) to 10 (best)."),
        (PercentageScoring(-2.5, 2), {"direction": "lower"}, "A number from -2.5 (best) to 2 (worst)."),
        (
            PercentageScoring(0, 100),
            {"compares": True, "direction": "lower"},
            "A number from 0 (the baseline is better) to 100 (the other output is better).",
        ),
    ],
)
def test_a_range_says_what_its_ends_mean(scoring, more, line):
    assert line in told(scoring, **more)


def test_the_range_is_in_the_rules_and_the_schema():
    found = manner("Judge.", "", PercentageScoring(1, 10))
    assert "The score is a number from 1 to 10." in found.system["content"]
    assert found.schema["properties"]["score"] == {"type": "number", "minimum": 1, "maximum": 10}
    assert manner("Judge.", "", PercentageScoring()).schema["properties"]["score"] == {"type": "number"}
    on_last_line = told(PercentageScoring(1, 10), "Put the score on the last line.")
    assert on_last_line.endswith("The last line holds nothing but the score, a number from 1 to 10.")


def test_only_a_comparison_is_told_of_two_outputs():
    assert "“comparison”" in told(YES_NO, compares=True)
    assert "“comparison”" not in told(YES_NO)
