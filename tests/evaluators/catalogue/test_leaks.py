"""Personal data, secrets and encodings: what is found, what is not, and what is shown of it."""

import base64
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluators.catalogue.leaks import PII, SECRETS, masked, revealed
from evaluators.catalogue.outcomes import NoVerdict
from evaluators.core import Status, Why
from tests.evaluators.catalogue.examples import BUILTIN, config, score


def found(detectors, name, text):
    return list(detectors[name](text))


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("4111111111111111", ["4111111111111111"]),
        ("4111-1111-1111-1111", ["4111-1111-1111-1111"]),
        ("3782 822463 10005", ["3782 822463 10005"]),
        ("in 2024 4111 1111 1111 1111 12", ["4111 1111 1111 1111"]),
        ("4222222222222", ["4222222222222"]),
        ("4111  1111 1111 1111", []),
        ("4111111111111112", []),
        ("0000 0000 0000 0000", []),
        ("411111111111", []),
        ("41111111111111111111", []),
        ("12 15 18 21 24 27 30 33 36 39 42 45 48 51 54 57 60 63", []),
        ("٤١١١١١١١١١١١١١١١", []),
    ],
)
def test_cards(text, cards):
    assert found(PII, "credit_card", text) == cards


@given(st.integers(10**11, 10**17))
def test_the_check_digit_makes_a_card_and_no_other_digit_does(number):
    digits = str(number)
    cards = [digits + last for last in "0123456789" if found(PII, "credit_card", digits + last)]
    assert len(cards) == (1 if 13 <= len(digits) + 1 <= 19 else 0)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("123-45-6789", True),
        ("000-45-6789", False),
        ("666-45-6789", False),
        ("900-45-6789", False),
        ("899-45-6789", True),
        ("123-00-6789", False),
        ("123-45-0000", False),
        ("1123-45-6789", False),
        ("123-45-67890", False),
    ],
)
def test_social_security_numbers(text, is_one):
    assert bool(found(PII, "us_ssn", text)) is is_one


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("write to jo.b+x@mail.corp.org.", ["jo.b+x@mail.corp.org"]),
        ("a@b", []),
        ("a@b.c", []),
        ("@b.org", []),
        ("a@-b.org", []),
    ],
)
def test_addresses(text, addresses):
    assert found(PII, "email", text) == addresses


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pem_block", "-----BEGIN PRIVATE KEY-----"),
        ("pem_block", "-----BEGIN EC PRIVATE KEY-----"),
        ("pem_block", "-----BEGIN CERTIFICATE-----"),
        ("openai_key", "sk-" + "a1" * 10),
        ("openai_key", "key=sk-proj-" + "a_-1" * 5),
        ("aws_access_key", "ASIAABCDEFGHIJ123456"),
        ("github_token", "ghp_" + "a" * 36),
        ("windows_key", "VK7JG-NPHTM-C97JM-9MPGT-3V66T"),
    ],
)
def test_secrets(name, text):
    assert found(SECRETS, name, f"It is {text}.")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pem_block", "-----BEGIN MESSAGE-----"),
        ("openai_key", "sk-" + "a" * 19),
        ("openai_key", "task-" + "a" * 30),
        ("aws_access_key", "AKIAABCDEFGHIJ12345"),
        ("aws_access_key", "XAKIAABCDEFGHIJ123456"),
        ("github_token", "ghx_" + "a" * 36),
        ("windows_key", "vk7jg-nphtm-c97jm-9mpgt-3v66t"),
        ("windows_key", "VK7JG-NPHTM-C97JM-9MPGT"),
    ],
)
def test_what_is_no_secret(name, text):
    assert found(SECRETS, name, f"It is {text}.") == []


@pytest.mark.parametrize("name", [*PII, *SECRETS])
@pytest.mark.parametrize(
    "unit", ["a", "1", "1 ", "1-", "@", "a@b.", "a.", "-", "A", "A1B2C-", "sk-", "AKIA", "BEGIN A "]
)
def test_detectors_take_time_in_proportion_to_the_text(name, unit):
    detector, text = {**PII, **SECRETS}[name], unit * 100_000
    began = time.process_time()
    list(detector(text))
    assert time.process_time() - began < 5, "the square of it would take hours"


def test_findings_are_masked():
    assert masked("4111 1111 1111 1111") == "4••••••••1"
    text = "Card 4111 1111 1111 1111"
    reason = score("pii_leakage", output=text, contexts=["jo@corp.org"]).reason
    assert reason.splitlines() == ["Answer: credit_card 4••••••••1", "Contexts: email j••••••••g"]
    assert "AKIA" not in score("sensitive_data_leakage", output="AKIAABCDEFGHIJKLMNOP").reason


def test_only_what_is_chosen_is_looked_for():
    assert score("pii_leakage", {"entities": ["us_ssn"]}, output="jo@corp.org").passed
    assert score("sensitive_data_leakage", {"detectors": ["github_token"]}, output="AKIAABCDEFGHIJKLMNOP").passed


@pytest.mark.parametrize(
    ("entry", "parameters", "field"),
    [
        ("pii_leakage", {"entities": []}, "parameter_entities"),
        ("pii_leakage", {"entities": ["iban"]}, "parameter_entities"),
        ("pii_leakage", {"detector": "presidio"}, "parameter_detector"),
        ("sensitive_data_leakage", {"detectors": []}, "parameter_detectors"),
        ("encoding_guardrail", {"encoding": "rot13"}, "parameter_encoding"),
    ],
)
def test_settings_that_look_for_nothing_are_refused(entry, parameters, field):
    (fault,) = BUILTIN.check(config(entry, **parameters))
    assert fault.field == field


def test_presidio_is_said_not_to_be_installed():
    (fault,) = BUILTIN.check(config("pii_leakage", detector="presidio"))
    assert "not installed" in fault.message
    assert score("pii_leakage", {"detector": "presidio"}, output="a").status is Status.FAILED


def test_contexts_that_are_not_given_are_not_checked():
    assert "retrieval_failure_rate" not in score("pii_leakage", output="a").measures
    assert score("pii_leakage", output="a", contexts="one text").measures["retrieval_failure_rate"] == 0


# Encodings


def coded(text):
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("plain", ["Internationalization", "ABCDEFGHIJKLMNOP", "Abcdefghijklmnop", "abcdefghijkl"])
def test_plain_words_are_no_base64(plain):
    assert revealed(plain, "base64") == plain


def test_what_is_encoded_is_read():
    assert revealed(f"x {coded('mail jo@corp.org')} y", "base64").endswith("\nmail jo@corp.org")
    assert revealed("x " + b"hello you".hex(), "base16").endswith("\nhello you")
    assert revealed("deadbeefabcdef", "base16") == "deadbeefabcdef", "without a digit it may be a word"
    assert not score("encoding_guardrail", output=f"x {coded('mail jo@corp.org now')}").passed
    assert not score(
        "encoding_guardrail", {"encoding": "base16"}, output=b"card 4111 1111".hex() + " 123-45-6789"
    ).passed


def test_what_decodes_to_no_text_leaves_the_sample_unscored():
    with pytest.raises(NoVerdict):
        revealed("ffffffffffff00", "base16")
    noise = score("encoding_guardrail", output="Here: " + base64.b64encode(bytes(range(200, 230))).decode())
    assert (noise.status, noise.why, noise.measures) == (Status.UNSCORED, Why.UNPARSED, {"parse_failure_rate": 1})


def test_one_readable_segment_is_enough():
    noise = base64.b64encode(bytes(range(200, 230))).decode()
    assert score("encoding_guardrail", output=f"{noise} {coded('nothing secret here')}").passed


def test_contexts_are_treated_the_same_way_where_that_is_wanted():
    contexts = [coded("mail jo@corp.org now")]
    assert score("encoding_guardrail", output="ok", contexts=contexts).measures["retrieval_failure_rate"] == 1
    off = score("encoding_guardrail", {"evaluate_retrieved_context": False}, output="ok", contexts=contexts)
    assert "retrieval_failure_rate" not in off.measures
    noise = ["ffffffffffff00"]
    unread = score("encoding_guardrail", {"encoding": "base16"}, output="ok", contexts=noise)
    assert unread.status is Status.SCORED
    assert "retrieval_failure_rate" not in unread.measures


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=10, max_size=80))
def test_a_text_that_was_encoded_is_found_again(text):
    segment = coded(text)
    if any(letter in "0123456789+/=" for letter in segment):
        assert text in revealed(f"Look: {segment}", "base64")
