"""Rules about words: folding, nothing trimmed, several expected texts, and patterns that end in time."""

import pytest

from evaluators.catalogue.parameters import BadSetting
from evaluators.catalogue.patterns import Pattern
from evaluators.core import Status, Why
from tests.evaluators.catalogue.examples import BUILTIN, config, score


def passes(entry, text, **parameters):
    return score(entry, parameters, text=text).passed


def test_folding_is_that_of_unicode():
    assert passes("contains", "Die STRASSE", keyword="straße", case_sensitive=False)
    assert passes("starts_with", "ΣΊΣΥΦΟΣ", substring="σίσυφος", case_sensitive=False)
    assert passes("ends_with", "ﬁn", substring="FIN", case_sensitive=False)
    assert not passes("contains", "Die STRASSE", keyword="straße")


def test_nothing_is_trimmed_and_words_have_no_borders():
    assert passes("contains", "cargo", keyword="car")
    assert not passes("starts_with", " Dear", substring="Dear")
    assert not passes("ends_with", "end.\n", substring="end.")


def test_an_empty_keyword_passes_where_it_is_scored_but_is_not_saved():
    assert passes("contains", "anything", keyword="")
    faults = BUILTIN.check(config("contains", keyword=""))
    assert [(fault.field, fault.message) for fault in faults] == [
        ("parameter_keyword", "Fill this in; there is nothing that it could be by itself.")
    ]


@pytest.mark.parametrize(
    ("entry", "passed"), [("contains_any", False), ("contains_all", True), ("contains_none", True)]
)
def test_an_empty_list(entry, passed):
    assert passes(entry, "anything", keywords=[]) is passed


def test_reasons_name_the_keywords():
    assert score("contains_all", {"keywords": ["a", "x", "y"]}, text="a").reason == "Missing: “x”, “y”."
    assert score("contains_none", {"keywords": ["a", "x"]}, text="a b").reason == "Forbidden and found: “a”."
    many = score("contains_all", {"keywords": [f"k{i}" for i in range(25)]}, text="")
    assert many.reason.endswith("“k19” and 5 more.")
    assert score("contains", {"keyword": "a"}, text="a").reason == ""


def test_a_text_equals_any_one_of_several_expected():
    assert score("equals", text="b", expected=["a", "b"]).passed
    assert not score("equals", text="c", expected=["a", "b"]).passed
    nothing = score("equals", text="c", expected=[])
    assert (nothing.passed, nothing.reason) == (False, "Nothing is expected of this case.")
    assert score("equals", {"case_sensitive": False}, text="STRASSE", expected="straße").passed


def test_what_is_no_text_is_its_json():
    assert score("equals", text=42, expected=42).passed
    assert score("contains", {"keyword": '"a": true'}, text={"a": True}).passed
    assert score("equals", text="\u00e9", expected=["e\u0301"]).value == 0, "code point by code point"


def test_a_pattern_that_takes_too_long_fails_the_evaluation_and_not_the_text():
    slow = score("regex_match", {"pattern": "(a|aa)+$"}, text="a" * 40 + "b")
    assert (slow.status, slow.why) == (Status.FAILED, Why.TIME)
    assert slow.value is None
    condition = 'NOT regexp("(a|aa)+$")'
    assert score("text_matching", output="a" * 40 + "b", condition=condition).why is Why.TIME


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "This is no regular expression: missing ), unterminated subpattern at character 1."),
        ("[a", "This is no regular expression: unterminated character set at character 1."),
        (r"\p{L}", r"This is no regular expression: bad escape \p at character 1."),
        ("a" * 2001, "A regular expression has at most 2,000 characters."),
        ("(" * 1000 + ")" * 1000, "This regular expression is too large."),
    ],
)
def test_a_pattern_that_does_not_compile_is_refused(pattern, message):
    with pytest.raises(BadSetting) as refused:
        Pattern(pattern)
    assert str(refused.value) == message


def test_a_match_anywhere_or_of_the_whole():
    assert Pattern("b+").is_in("abbc")
    assert not Pattern("b+").is_all_of("abbc")
    assert Pattern("b+").is_all_of("bb")
    assert not Pattern("[A-Za-z0-9]+").is_all_of("abc\n"), "the whole text, with its last line end"
