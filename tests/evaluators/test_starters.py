"""The starting points that are heuristics, run in the real sandbox."""

import pytest

from evaluators.core import COMPARISON, Comparand, Sample
from evaluators.kinds import get_kind
from evaluators.starters import STARTERS
from evaluators.tools import Tools, javascript

HEURISTIC = get_kind("heuristic")


def score(key, actual, other=None):
    settings = HEURISTIC.load(STARTERS[key].config, HEURISTIC.schema)
    sample = Sample(outputs={"value": actual}, comparison=None if other is None else Comparand({"value": other}))
    return HEURISTIC.prepare(settings, Tools(javascript=javascript()))([sample])[0]


@pytest.mark.parametrize(
    ("baseline", "compared", "value"),
    [("A long answer.", "Short.", 1.0), ("Short.", "A long answer.", 0.0), ("Same.", "Size.", 0.5), ("a", "a \n", 0.5)],
)
def test_the_shorter_of_two_outputs_wins_on_the_scale_from_baseline_to_comparison(baseline, compared, value):
    assert STARTERS["shorter_output"].config["runs_on"] == COMPARISON
    assert score("shorter_output", baseline, compared).value == value


@pytest.mark.parametrize(
    ("text", "value", "reason"),
    [
        ("Your REFUND comes within 7 working days.", 1.0, "All of them appear."),
        ("Your refund comes soon.", 0.5, "Missing: working days."),
        ("", 0.0, "Missing: refund, working days."),
    ],
)
def test_the_allow_list_counts_the_words_that_must_appear(text, value, reason):
    found = score("keyword_allow_list", text)
    assert (found.value, found.reason) == (value, reason)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("It comes soon.", "clean"),
        ("We Guarantee it.", "found"),
        ("As an AI, I cannot say.", "found"),
        ("Unguaranteed.", "clean"),
        ("lawsuité", "clean"),
    ],
)
def test_the_block_list_finds_whole_words_in_any_case(text, label):
    assert score("keyword_block_list", text).label == label


@pytest.mark.parametrize(
    ("text", "value"), [("abc123", 1.0), ("Straße99", 1.0), ("東京", 1.0), ("a b", 0.0), ("a_b", 0.0), ("", 0.0)]
)
def test_alphanumeric_means_letters_and_digits_of_any_alphabet(text, value):
    assert score("alphanumeric_only", text).value == value


def test_a_stray_character_is_named():
    assert score("alphanumeric_only", "ab-c").reason == 'The first is "-" after 2 characters.'
