"""Repetition: the longest passage against a plain search, sentences, and compression."""

from hypothesis import given
from hypothesis import strategies as st

from evaluators.catalogue.looping import longest_repetition
from evaluators.catalogue.sentences import AT_ONCE, sentences
from tests.evaluators.catalogue.examples import TEA, score


def _by_search(text):
    """(length, times) of the longest repetition, the slow and obvious way."""
    for length in range(len(text) // 2, 0, -1):
        times = max(text.count(text[at : at + length]) for at in range(len(text) - length + 1))
        if times > 1:
            return length, times
    return 0, 0


@given(st.text("ab", max_size=30))
def test_it_finds_what_a_plain_search_finds(text):
    passage, times = longest_repetition(text)
    assert (len(passage), times) == _by_search(text)
    assert passage in text


def test_passages_do_not_overlap():
    assert longest_repetition("aaaa") == ("aa", 2)
    assert longest_repetition("aaaaaa") == ("aaa", 2)
    assert longest_repetition("abcabcabc") == ("abc", 3)


def test_an_empty_answer_does_not_loop():
    measures = score("looping_detection", output="").measures
    assert measures == {"unique_sentences": 1, "longest_repeated_substring": 0, "compression_ratio": 1}


def test_short_sentences_do_not_count():
    assert score("looping_detection", output="No. No. No. No.").value == 1


def test_the_repeated_passage_is_shown():
    assert score("looping_detection", output=TEA).reason == "2 times: “I like green tea. ”"


def test_sentences_keep_abbreviations_and_numbers_together():
    assert sentences("Dr. Jones paid 3.50 dollars. He left!  ") == ["Dr. Jones paid 3.50 dollars.", "He left!"]
    assert sentences(" \n ") == []


def test_long_texts_are_cut_where_sentences_end():
    text = "This is one of many plain sentences. " * (3 * AT_ONCE // 37)
    assert set(sentences(text)) == {"This is one of many plain sentences."}
    assert sentences("a" * 3 * AT_ONCE) == ["a" * AT_ONCE] * 3
