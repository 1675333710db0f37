"""Differences of texts are read line by line and word by word."""

from evaluators import textdiff
from evaluators.textdiff import Piece


def shown(old, new):
    """The difference as lines: the sign, then the words with the changed ones in brackets."""
    signs = {"same": " ", "added": "+", "removed": "-"}
    return [
        f"… {line.count}"
        if line.sort == "folded"
        else signs[line.sort] + "".join(f"[{piece.text}]" if piece.is_changed else piece.text for piece in line.pieces)
        for line in textdiff.lines(old, new)
    ]


def test_equal_texts_have_no_lines_whatever_their_line_ends():
    assert shown("a\nb", "a\r\nb\n") == []
    assert shown("", "") == []


def test_the_words_that_differ_are_marked_within_their_line():
    assert shown("It is right.", "It is quite right.") == ["-It is right.", "+It is [quite ]right."]


def test_a_line_that_has_little_in_common_is_another_line():
    assert shown("Look at the tone.", "Numbers must agree exactly") == [
        "-[Look at the tone.]",
        "+[Numbers must agree exactly]",
    ]


def test_long_stretches_without_a_change_are_folded():
    old = "\n".join(f"line {number}" for number in range(20))
    assert shown(old, old.replace("line 10", "line ten")) == [
        "… 7", " line 7", " line 8", " line 9", "-line [10]", "+line [ten]", " line 11", " line 12", " line 13", "… 6",
    ]  # fmt: skip


def test_lines_keep_their_numbers_on_either_side():
    lines = textdiff.lines("a\nb\nc", "a\nx\ny\nc")
    assert [(line.old, line.new) for line in lines] == [(1, 1), (2, None), (None, 2), (None, 3), (3, 4)]


def test_a_text_that_is_new_is_all_added():
    assert shown("", "One\nTwo") == ["+[One]", "+[Two]"]
    assert shown("One", "") == ["-[One]"]


def test_texts_too_large_to_compare_are_replaced_but_for_their_ends():
    old = "\n".join(["same", *(f"a{number}" for number in range(3000)), "end"])
    new = "\n".join(["same", *(f"b{number}" for number in range(3000)), "end"])
    lines = textdiff.lines(old, new)
    assert sum(line.sort == "removed" for line in lines) == 3000
    assert [line.pieces for line in (lines[0], lines[-1])] == [(Piece("same"),), (Piece("end"),)]


def test_words_say_what_each_side_has_alone():
    assert textdiff.words("50 or higher", "60 or higher") == (
        (Piece("50", True), Piece(" or higher")),
        (Piece("60", True), Piece(" or higher")),
    )
