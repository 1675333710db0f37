"""Rules about words: what a text contains, begins or ends with, or equals. Nothing is trimmed, no word has borders."""

from __future__ import annotations

from typing import Annotated

from evaluators.catalogue.outcomes import PASS_FAIL, Found, passes
from evaluators.catalogue.patterns import Pattern
from evaluators.catalogue.registry import entry

RULES = "Rules and text checks"
CaseSensitive = Annotated[bool, "Off: capital and small letters are the same, in all languages"]
MOST_NAMED = 20  # of the keywords, in a reason


def fold(text: str, case_sensitive: bool) -> str:
    return text if case_sensitive else text.casefold()


def _among(keywords: tuple[str, ...], text: str, case_sensitive: bool) -> list[bool]:
    folded = fold(text, case_sensitive)
    return [fold(keyword, case_sensitive) in folded for keyword in keywords]


def _named(keywords: tuple[str, ...], found: list[bool], wanted: bool) -> str:
    names = [f"“{keyword}”" for keyword, is_in in zip(keywords, found, strict=True) if is_in is wanted]
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


@entry("Contains", family=RULES, measures=PASS_FAIL, tags="VR OA")
def contains(
    text: str, *, keyword: Annotated[str, "The text to look for"], case_sensitive: CaseSensitive = True
) -> Found:
    """Passes when a text contains a keyword."""
    return passes(fold(keyword, case_sensitive) in fold(text, case_sensitive), f"Missing: “{keyword}”.")


@entry("Contains any", family=RULES, measures=PASS_FAIL, tags="VR OA")
def contains_any(
    text: str,
    *,
    keywords: Annotated[tuple[str, ...], "One of them is enough"] = (),
    case_sensitive: CaseSensitive = True,
) -> Found:
    """Passes when a text contains at least one of several keywords."""
    return passes(any(_among(keywords, text, case_sensitive)), "None of the keywords occurs.")


@entry("Contains all", family=RULES, measures=PASS_FAIL, tags="VR OA")
def contains_all(
    text: str, *, keywords: Annotated[tuple[str, ...], "All must occur"] = (), case_sensitive: CaseSensitive = True
) -> Found:
    """Passes when a text contains every one of several keywords."""
    found = _among(keywords, text, case_sensitive)
    return passes(all(found), f"Missing: {_named(keywords, found, False)}.")


@entry("Contains none", family=RULES, measures=PASS_FAIL, tags="VR SA OM")
def contains_none(
    text: str, *, keywords: Annotated[tuple[str, ...], "None may occur"] = (), case_sensitive: CaseSensitive = True
) -> Found:
    """Passes when a text contains none of several forbidden keywords."""
    found = _among(keywords, text, case_sensitive)
    return passes(not any(found), f"Forbidden and found: {_named(keywords, found, True)}.")


@entry("Starts with", family=RULES, measures=PASS_FAIL, tags="VR OA")
def starts_with(
    text: str,
    *,
    substring: Annotated[str, "What the text must begin with"],
    case_sensitive: CaseSensitive = True,
) -> Found:
    """Passes when a text begins with another."""
    ok = fold(text, case_sensitive).startswith(fold(substring, case_sensitive))
    return passes(ok, f"It begins with “{text[: max(len(substring), 20)]}”.")


@entry("Ends with", family=RULES, measures=PASS_FAIL, tags="VR OA")
def ends_with(
    text: str,
    *,
    substring: Annotated[str, "What the text must end with"],
    case_sensitive: CaseSensitive = True,
) -> Found:
    """Passes when a text ends with another."""
    ok = fold(text, case_sensitive).endswith(fold(substring, case_sensitive))
    return passes(ok, f"It ends with “{text[-max(len(substring), 20) :]}”.")


@entry("Equals", family=RULES, measures=PASS_FAIL, tags="VR OA")
def equals(text: str, expected: tuple[str, ...], *, case_sensitive: CaseSensitive = True) -> Found:
    """Passes when a text equals the expected one, or one of several, character by character."""
    folded = fold(text, case_sensitive)
    ok = any(folded == fold(one, case_sensitive) for one in expected)
    return passes(ok, "It differs from what is expected." if expected else "Nothing is expected of this case.")


@entry("Regular expression", family=RULES, measures=PASS_FAIL, tags="VR OA")
def regex_match(
    text: str,
    *,
    pattern: Annotated[Pattern, "A regular expression as Python writes them"],
    full_match: Annotated[bool, "On: the whole text must match, not a part of it"] = False,
) -> Found:
    """Passes when a regular expression matches a text, or the whole of it."""
    ok = pattern.is_all_of(text) if full_match else pattern.is_in(text)
    return passes(ok, "The whole text does not match." if full_match else "Nothing in the text matches.")
