"""Texts beside the expected text: what they share, and where they part."""

import time

import pytest

from evalstudio.calls.likeness import compare


def test_shares_count_words_by_their_beginnings():
    found = compare("Refunded customers wait", "Refunds for a customer arrive tomorrow", "")
    assert found.overlap == pytest.approx(2 / 4)  # refun, custo of refun, custo, arriv, tomor
    assert found.precision == pytest.approx(2 / 3)  # wait is not expected
    assert found.length_ratio == pytest.approx(3 / 6)


def test_nothing_to_compare_with_is_no_share():
    found = compare("Refunds arrive tomorrow", "", "")
    assert (found.overlap, found.precision, found.grounded, found.length_ratio) == (None, None, None, None)


def test_words_of_the_material_ground_an_answer():
    assert compare("Refunds arrive tomorrow", "", "Your refund arrived").grounded == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("answer", "expected", "conflict"),
    [
        ("within 30 days", "You have 14 days", "30 days where 14 days is expected"),
        ("you pay €900", "you pay €1,900 in all", "€900 where €1,900 is expected"),
        ("up to 5 working days", "3 to 5 working days", ""),
        ("it takes 6 working days", "it takes 5 days", "6 working days where 5 days is expected"),
        ("das kostet 0,25 € am Tag", "0.25 € a day", ""),
        ("that is €1900", "that is €1,900", ""),
        ("€1 and 20 minutes", "€4 in all: €1 and €3", ""),
        ("5 bikes", "7 days", ""),
    ],
)
def test_quantities_of_one_unit_must_agree(answer, expected, conflict):
    assert compare(answer, expected, "").conflict == conflict


def test_a_number_that_stands_nowhere_else_is_invented():
    assert compare("A helmet costs €2 for 24 hours", "I do not know", "A day has 24 hours").invented == "€2"


def test_numbers_of_a_list_are_not_invented():
    assert compare("1. Lock it. 2. Go.", "Lock the bike", "").invented == ""


@pytest.mark.parametrize(
    ("answer", "expected", "opposed"),
    [
        ("Yes, have fun!", "No, sorry.", True),
        ("Ja, gerne", "Nein, leider nicht", True),
        ("No, sorry.", "Sorry, no: dogs may not ride.", False),
        ("Dogs may ride in the basket", "Small dogs may not ride in the basket", True),
        ("Dogs may not ride in the basket", "Small dogs can't ride in the basket", False),
        ("The fee is not refunded", "You get an invoice", False),
    ],
)
def test_yes_against_no_is_an_opposite(answer, expected, opposed):
    assert compare(answer, expected, "").opposed is opposed


@pytest.mark.parametrize(
    "answer",
    [
        "I’m sorry, I can’t help with that.",
        "Please contact our support team.",
        "Dabei kann ich leider nicht helfen.",
        "Je ne peux pas vous aider.",
        "No puedo ayudar con eso.",
    ],
)
def test_a_refusal_is_one_unless_the_expected_answer_refuses_too(answer):
    assert compare(answer, "Open the app.", "").refuses
    assert not compare(answer, answer, "").refuses


@pytest.mark.parametrize("piece", [" ", "\n", "1", "1,", "a", "a'", "€ ", "no, ", "and ", "1 ", "50%", "2024-01-01 "])
def test_hostile_texts_take_no_time(piece):
    text = piece * (1_000_000 // len(piece))
    started = time.process_time()
    compare(text, text, text)
    assert time.process_time() - started < 2
