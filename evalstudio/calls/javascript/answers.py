"""Reads what comes out of the machine, all of it untrusted: answers, faults and console lines."""

from __future__ import annotations

import re
from typing import Any

import orjson

from .limits import Limits
from .outcome import Fault, FaultKind

CODE_NAME = "evaluator.js"

_FRAME = re.compile(re.escape(CODE_NAME) + r":(\d{1,7}):(\d{1,7})\)?$")
# JSON text has a lone surrogate only as an escape; an escaped backslash before a "u" is none.
_ESCAPE = re.compile(rb"\\\\|\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_UNREADABLE = Fault(FaultKind.CRASH, "The machine gave an answer that cannot be read.")


def limit_fault(kind: FaultKind, limits: Limits, detail: str = "") -> Fault:
    """The fault for a call that was ended, in a sentence."""
    sentences = {
        FaultKind.TIME: f"The code ran longer than {limits.time_ms:,} ms.",
        FaultKind.MEMORY: f"The code needs more than {limits.memory_mb} MB of memory.",
        FaultKind.STACK: "The code calls itself too deeply: the call stack is full.",
        FaultKind.OUTPUT: f"The returned value is larger than {limits.output_bytes:,} bytes.",
        FaultKind.SAMPLE: f"The sample is too large or too deeply nested for a machine of {limits.memory_mb} MB.",
        FaultKind.NEVER_SETTLED: "The promise that was returned never settles.",
    }
    return Fault(kind, sentences.get(kind) or f"The machine stopped: {detail or 'unknown cause'}.")


def read_answer(answer: bytes, code: str, limits: Limits) -> tuple[Any, Fault | None]:
    """The value, or the fault, that an answer of the harness to `code` stands for."""
    sign, body = answer[:1], answer[1:]
    if sign == b"!":
        return None, read_fault(body, code, limits)
    if sign != b"=":
        return None, _UNREADABLE
    if len(body) > limits.output_bytes:
        return None, limit_fault(FaultKind.OUTPUT, limits)
    try:
        return _json(body), None
    except ValueError:  # the harness writes good JSON, but to any depth
        return None, Fault(FaultKind.NOT_JSON, "The value that was returned is nested too deeply.")


def read_fault(body: bytes, code: str, limits: Limits) -> Fault:
    try:
        said = _json(body)
        kind, message, stack = FaultKind(said["kind"]), str(said["message"]), str(said["stack"])
    except (ValueError, TypeError, KeyError):
        return _UNREADABLE
    frames = [line.strip() for line in stack.splitlines() if _FRAME.search(line)]
    line, column = _place(frames[0], code) if frames else (None, None)
    if kind in {FaultKind.MEMORY, FaultKind.STACK, FaultKind.OUTPUT}:
        message = limit_fault(kind, limits).message
    return Fault(
        kind=kind,
        message=message,
        line=line,
        column=column,
        stack="\n".join(frames),
    )


def read_lines(text: bytes, dropped: int, limits: Limits) -> tuple[str, ...]:
    """Console lines, each ended by a zero byte, and a last one for those that were dropped."""
    lines = text.decode("utf-8", "replace").split("\0")[:-1][: limits.log_lines]
    if dropped:
        lines.append(f"({dropped:,} more {'line' if dropped == 1 else 'lines'} not kept)")
    return tuple(lines)


def _place(frame: str, code: str) -> tuple[int | None, int | None]:
    """Line and column of a frame. QuickJS counts bytes of UTF-8; people and editors count UTF-16 units."""
    place = _FRAME.search(frame)
    lines = code.split("\n")
    if place is None or not 0 < int(place[1]) <= len(lines):
        return None, None
    before = lines[int(place[1]) - 1].encode("utf-8", "replace")[: int(place[2]) - 1].decode("utf-8", "ignore")
    return int(place[1]), len(before.encode("utf-16-le")) // 2 + 1


def _json(text: bytes) -> Any:
    """Parses JSON of the guest, with lone surrogates, which no database takes, replaced by U+FFFD."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return orjson.loads(_ESCAPE.sub(lambda match: match[0] if match[0] == rb"\\" else b"\xef\xbf\xbd", text))
