"""Rules about how long a text is, in Unicode code points and in lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from evaluators.catalogue.keywords import RULES
from evaluators.catalogue.outcomes import PASS_FAIL, Found, passes
from evaluators.catalogue.parameters import Between
from evaluators.catalogue.registry import Settings, entry

LENGTHS = Between(0, 10_000_000)


@entry("One line", family=RULES, measures=PASS_FAIL, tags="VR OA")
def one_line(text: str) -> Found:
    """Passes when a text is a single line, or empty, blanks around it aside."""
    lines = len(text.strip().splitlines())
    return passes(lines <= 1, f"It has {lines:,} lines.")


@entry("Length less than", family=RULES, measures=PASS_FAIL, tags="VR OA")
def length_less_than(
    text: str, *, max_length: Annotated[int, "The first length that is too long", LENGTHS] = 200
) -> Found:
    """Passes when a text has fewer characters than a limit."""
    return passes(len(text) < max_length, f"It has {len(text):,} characters, not fewer than {max_length:,}.")


@entry("Length greater than", family=RULES, measures=PASS_FAIL, tags="VR OA")
def length_greater_than(
    text: str, *, min_length: Annotated[int, "The last length that is too short", LENGTHS] = 50
) -> Found:
    """Passes when a text has more characters than a limit."""
    return passes(len(text) > min_length, f"It has {len(text):,} characters, not more than {min_length:,}.")


def _least_before_most(settings: Settings) -> Iterator[tuple[str, str]]:
    if settings["min_length"] > settings["max_length"]:
        yield "max_length", "The greatest length must not be below the least."


@entry("Length between", family=RULES, measures=PASS_FAIL, tags="VR OA", faults=_least_before_most)
def length_between(
    text: str,
    *,
    min_length: Annotated[int, "The least length that passes", LENGTHS] = 50,
    max_length: Annotated[int, "The greatest length that passes", LENGTHS] = 200,
) -> Found:
    """Passes when the number of characters lies between two limits, both included."""
    ok = min_length <= len(text) <= max_length
    return passes(ok, f"It has {len(text):,} characters, not {min_length:,} to {max_length:,}.")
