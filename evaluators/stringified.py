"""A JSON value as JavaScript's `String(value)` writes it, so that labels mean here what they mean in people's code."""

from __future__ import annotations

import math
from typing import Any

UNDEFINED = "undefined"  # of what is not there
SAFE = 2**53  # whole numbers beyond are doubles in JavaScript, and lose digits


def stringified(value: Any) -> str:
    """True is "true", None "null", 1.0 "1", a list its items with commas between, an object "[object Object]"."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, list | tuple):
        return ",".join("" if item is None else stringified(item) for item in value)
    return "[object Object]"


def _number(number: float) -> str:
    if isinstance(number, int) and -SAFE <= number <= SAFE:
        return str(number)
    try:
        real = float(number)
    except OverflowError:
        real = math.inf if number > 0 else -math.inf
    if math.isnan(real):
        return "NaN"
    if math.isinf(real):
        return "Infinity" if real > 0 else "-Infinity"
    return _decimal(real) if real else "0"


def _decimal(real: float) -> str:
    """The shortest digits that mean this number, with the point or exponent where JavaScript puts it."""
    mantissa, _, exponent = f"{abs(real)!r}".partition("e")
    whole, _, part = mantissa.partition(".")
    point = len(whole) + int(exponent or 0)  # digits before the decimal point
    digits = (whole + part).lstrip("0")
    point -= len(whole + part) - len(digits)
    digits = digits.rstrip("0")
    sign = "-" if real < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if digits[1:] else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"
