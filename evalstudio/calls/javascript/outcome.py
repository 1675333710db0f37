"""What comes of a call: a value, or a fault that says why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class FaultKind(StrEnum):
    """Why there is no value. The first two come from `compile` alone, the last seven from a call alone."""

    SYNTAX = "syntax"
    NO_FUNCTION = "no_function"
    THROWN = "thrown"
    TIME = "time"
    MEMORY = "memory"
    STACK = "stack"
    CRASH = "crash"
    OUTPUT = "output"
    SAMPLE = "sample"  # the sample is too large or too deeply nested for the machine; the code never saw it
    NEVER_SETTLED = "never_settled"
    NO_VALUE = "no_value"  # undefined
    NOT_A_NUMBER = "not_a_number"  # NaN, Infinity, -Infinity
    NOT_JSON = "not_json"  # a function, symbol, BigInt, or an object that has no JSON form


@dataclass(frozen=True, slots=True)
class Fault:
    """Why there is no value.

    message: a sentence, or the text of the error that the code threw.
    line, column: in the evaluator's own code, from 1, columns in UTF-16 units as editors count them. None where that is
        unknown: a limit, a thrown string.
    stack: the JavaScript stack within the evaluator's code, innermost first, one frame a line; may be empty.
    """

    kind: FaultKind
    message: str
    line: int | None = None
    column: int | None = None
    stack: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call returned.

    value: strictly JSON data (finite numbers, no lone surrogates); None when there is a fault.
    logs: the console lines, in order; the last says how many more were dropped, if any.
    took_ms: wall time of the call.
    """

    value: Any
    logs: tuple[str, ...]
    fault: Fault | None
    took_ms: float


class CodeFault(Exception):
    """The code could not be loaded. `fault` says why and where; the message is a sentence."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault
