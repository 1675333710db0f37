"""How a verdict becomes a number: options with percentages, or a number in a range; and when that number passes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from string import ascii_uppercase
from typing import Any

from evaluators.core import Direction, FieldError

ENUM = "enum"
PERCENTAGE = "percentage"
LEAST_OPTIONS = 2
MOST_OPTIONS = len(ascii_uppercase)
MOST_LABEL_CHARACTERS = 100


class OffScale(ValueError):
    """The verdict lies outside the scoring; the message says what was found and what was offered."""


def share(percentage: float) -> float:
    """A percentage as a share, without the slip of binary division: 60.1 is 0.601."""
    return float(Decimal(str(percentage)) / 100)


@dataclass(frozen=True, slots=True)
class Option:
    """One verdict that may be chosen, with its score as a percentage, 0 to 100."""

    label: str
    percentage: float
    description: str = ""

    @property
    def value(self) -> float:
        return share(self.percentage)


@dataclass(frozen=True, slots=True)
class EnumScoring:
    """The verdict is one of the options, in their order."""

    options: tuple[Option, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(option.label for option in self.options)

    @property
    def letters(self) -> dict[str, Option]:
        """The options by the letters they are listed under: A, B, C … or, where a label is one letter, the labels."""
        if any(len(option.label) == 1 for option in self.options):
            return {option.label.upper(): option for option in self.options if len(option.label) == 1}
        return dict(zip(ascii_uppercase, self.options, strict=False))

    def option(self, label: Any) -> Option:
        """The option of this label, whatever its case and the blanks around it. Raises OffScale."""
        if not isinstance(label, str):
            raise OffScale(f"The verdict must be one of the options {', '.join(self.labels)}, not {_described(label)}.")
        wanted = _plain(label)
        for option in self.options:
            if _plain(option.label) == wanted:
                return option
        raise OffScale(f"“{_short(label)}” is none of the options {', '.join(self.labels)}.")

    def stored(self) -> dict[str, Any]:
        return {
            "type": ENUM,
            "options": [
                {"label": option.label, "percentage": option.percentage, "description": option.description}
                for option in self.options
            ],
        }


@dataclass(frozen=True, slots=True)
class PercentageScoring:
    """The verdict is a number from `low` to `high`, which count as 0 and 1."""

    low: float = 0.0
    high: float = 1.0

    def value(self, number: Any) -> float:
        """The number as it counts, in [0, 1]. Raises OffScale for anything but a real number in the range.

        Nothing is clamped.
        """
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise OffScale(f"The score must be a number from {self.low:g} to {self.high:g}, not {_described(number)}.")
        if not math.isfinite(number) or not self.low <= number <= self.high:
            raise OffScale(f"The score {number:g} is outside the range from {self.low:g} to {self.high:g}.")
        return (float(number) - self.low) / (self.high - self.low) + 0.0  # + 0.0 turns -0.0 into 0.0

    def stored(self) -> dict[str, Any]:
        ends = {} if (self.low, self.high) == (0, 1) else {"low": self.low, "high": self.high}
        return {"type": PERCENTAGE, **ends}


Scoring = EnumScoring | PercentageScoring


def read(stored: Mapping[str, Any]) -> Scoring:
    """The scoring of a stored configuration. Raises KeyError, TypeError or ValueError on any other shape."""
    if stored["type"] == PERCENTAGE:
        return PercentageScoring(float(stored.get("low", 0.0)), float(stored.get("high", 1.0)))
    if stored["type"] != ENUM:
        raise ValueError(f"There is no scoring “{stored['type']}”.")
    return EnumScoring(
        tuple(
            Option(str(option["label"]), float(option["percentage"]), str(option.get("description", "")))
            for option in stored["options"]
        )
    )


@dataclass(frozen=True, slots=True)
class Passing:
    """When a score passes: on the good side of the threshold, or equal to it. Without one nothing is decided."""

    threshold: float | None = None
    direction: Direction = "higher"

    def passed(self, value: float) -> bool | None:
        if self.threshold is None:
            return None
        return value >= self.threshold if self.direction == "higher" else value <= self.threshold


def check(scoring: Scoring) -> list[FieldError]:
    """What is wrong with the scoring, by field: `option_label.1`, `option_percentage.0`, or `option_label` for all."""
    if isinstance(scoring, PercentageScoring):
        return _check_range(scoring)
    return [*_check_count(scoring.options), *_check_labels(scoring.options), *_check_percentages(scoring.options)]


def _check_range(scoring: PercentageScoring) -> list[FieldError]:
    if not (math.isfinite(scoring.low) and math.isfinite(scoring.high)):
        return [FieldError("range_high", "Both ends of the range are plain numbers.")]
    if scoring.low >= scoring.high:
        return [FieldError("range_high", f"The highest number must be above the lowest, {scoring.low:g}.")]
    return []


def _check_count(options: tuple[Option, ...]) -> list[FieldError]:
    if len(options) < LEAST_OPTIONS:
        return [FieldError("option_label", "Give at least two options; a choice of one says nothing.")]
    if len(options) > MOST_OPTIONS:
        return [FieldError("option_label", f"Give at most {MOST_OPTIONS} options, one for each letter.")]
    return []


def _check_labels(options: tuple[Option, ...]) -> list[FieldError]:
    errors, seen = [], set()
    for row, option in enumerate(options):
        plain = _plain(option.label)
        if not plain:
            errors.append(FieldError(f"option_label.{row}", "Give this option a label."))
        elif len(option.label) > MOST_LABEL_CHARACTERS or "\n" in option.label:
            errors.append(
                FieldError(f"option_label.{row}", f"A label is one line of at most {MOST_LABEL_CHARACTERS} characters.")
            )
        elif plain in seen:
            errors.append(FieldError(f"option_label.{row}", f"There is an option “{option.label}” already."))
        seen.add(plain)
    return errors


def _check_percentages(options: tuple[Option, ...]) -> list[FieldError]:
    return [
        FieldError(f"option_percentage.{row}", "The percentage of an option is a number from 0 to 100.")
        for row, option in enumerate(options)
        if not 0 <= option.percentage <= 100
    ]


def check_passing(passing: Passing) -> list[FieldError]:
    """What is wrong with the threshold, which is a share from 0 to 1, or the direction."""
    errors = []
    if passing.threshold is not None and not 0 <= passing.threshold <= 1:
        errors.append(FieldError("threshold", "The threshold is a percentage from 0 to 100."))
    if passing.direction not in ("higher", "lower"):
        errors.append(FieldError("direction", "The better direction is higher or lower."))
    return errors


def _plain(label: str) -> str:
    return " ".join(label.split()).casefold()


def _short(text: str) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= 80 else line[:79] + "…"


def _described(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, str):
        return f"the text “{_short(value)}”"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return "a list" if isinstance(value, list) else "an object"
