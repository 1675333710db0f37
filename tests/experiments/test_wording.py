"""Where two answers differ, word by word."""

import pytest

from experiments.analysis.reading import marked_parts
from experiments.analysis.wording import MOST_WORDS, marked, merged


def own(pieces) -> list[str]:
    return [piece.text for piece in pieces if piece.is_own]


def test_words_that_only_one_text_has_are_marked_in_it():
    mine, theirs = marked("It is booked on your next bill today.", "It is booked on your next bill within a day.")
    assert own(mine) == ["today."]
    assert own(theirs) == ["within a day."]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("  The bill, of May,\n\tis paid. \n", "The bill, of June,\n\tis paid in full."),
        ("You will get a credit for the outage.", "Sorry! You will get a credit of 50 for the outage.  "),
        ("日本 語 です ね", "日本 語 でした ね"),
    ],
)
def test_the_pieces_make_up_the_whole_texts_again(one, other):
    assert tuple("".join(piece.text for piece in side) for side in marked(one, other)) == (one, other)


def test_the_space_before_a_marked_word_is_not_marked():
    _, theirs = marked("We pay back the whole sum.", "We pay back nearly the whole sum.")
    assert own(theirs) == ["nearly"]


def test_a_lone_word_between_differences_is_no_common_ground():
    one = "All of this stays as it is here, then red the blue end of it all."
    other = "All of this stays as it is here, then green the yellow end of it all."
    assert own(marked(one, other)[0]) == ["red the blue"]


def test_texts_that_say_different_things_are_not_marked_at_all():
    assert (
        marked("The smallest breed is the Chihuahua, a tiny dog.", "Some of the breeds include pugs and poodles.")
        is None
    )


@pytest.mark.parametrize(("one", "other"), [("same", "same"), ("", "something"), ("something", "  "), ("", "")])
def test_nothing_to_tell_apart_is_not_marked(one, other):
    assert marked(one, other) is None


def test_texts_too_long_to_compare_are_not_marked():
    assert marked("word " * (MOST_WORDS + 1), "word " * MOST_WORDS + "other") is None


def test_texts_under_one_name_are_marked_and_others_left_alone():
    mine, theirs = marked_parts(
        {"subject": "Your refund of May is on its way", "cc": "nobody"},
        {"subject": "Your refund of June is on its way", "score": 4},
    )
    assert {part.name: own(part.pieces) for part in mine} == {"subject": ["May"], "cc": []}
    assert {part.name: own(part.pieces) for part in theirs} == {"subject": ["June"], "score": []}


def said(stretches) -> str:
    marks = {"same": "{}", "removed": "[-{}-]", "added": "[+{}+]"}
    return "".join(marks[each.sort].format(each.text) for each in stretches)


def test_two_texts_are_read_as_one():
    one, other = "You get a credit for the outage on your next bill.", "You get no credit at all on your next bill."
    assert said(merged(one, other)) == "You get[- a credit for the outage-] [+no credit at all+] on your next bill."


def test_each_side_of_a_merged_text_can_be_read_out_of_it_again():
    one = "The contract ends on 31 December, and nothing is charged after that day, as agreed."
    other = "Your contract ends on 31 December. Nothing more is charged after that day, as we agreed."
    found = merged(one, other)
    for text, own in ((one, "removed"), (other, "added")):
        read = "".join(each.text for each in found if each.sort in ("same", own))
        assert read.split() == text.split()


def test_texts_with_too_little_in_common_stand_one_after_the_other():
    assert [each.sort for each in merged("one two three four", "five six seven eight")] == ["removed", "added"]
    assert merged("", "") == []
    assert [(each.text, each.sort) for each in merged("same", "same")] == [("same", "same")]
