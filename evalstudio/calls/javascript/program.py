"""An evaluator's code, loaded: how it gets into a machine, and how it is asked.

`load` boots a machine, evaluates the harness and then the evaluator's code in it, and takes a snapshot. `ask` restores
that snapshot, hands over one sample and reads the answer. What the guest says is data: text that may be wrong, too long
or forged, which costs the evaluator its own score and nobody anything else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .answers import CODE_NAME, limit_fault, read_answer, read_fault, read_lines
from .guest import Guest, GuestThrew, NoRoom, Places, TooLong
from .limits import Limits
from .machine import GuestStopped, Machine
from .outcome import CodeFault, Fault, FaultKind
from .snapshot import Snapshot

HARNESS_NAME = "harness.js"
HARNESS = (Path(__file__).parent / HARNESS_NAME).read_text()

# Heap made ready in advance: what fits in it needs no growth, and a machine that did not grow can be used again.
HEADROOM_BYTES = 2 << 20
# Two counts of 32 bits, then the console lines.
JOURNAL_BYTES = 32 << 10
# A fault with its message and stack, each character escaped.
FAULT_BYTES = 64_000

FAILURES = (GuestStopped, GuestThrew, NoRoom, TooLong)

_NOT_SETTLED = b"?"
_NO_LINES = bytes(8)


@dataclass(frozen=True, slots=True)
class Program:
    """A snapshot of a loaded machine, and where things lie in it. Plain data that any machine can restore."""

    code: str
    limits: Limits
    snapshot: Snapshot
    places: Places
    invoke: int
    settle: int
    journal: int

    def ask(self, machine: Machine, packet: bytes) -> tuple[Any, Fault | None, tuple[str, ...]]:
        """Value, fault and console lines for one packet: the JSON text `[seed high, seed low, sample]`."""
        with machine.ticker:
            machine.restore(self.snapshot)
            machine.deadline.start(self.limits.time_ms)
            guest = Guest(machine, self.places)
            try:
                value, fault = self._answer(guest, packet)
            except FAILURES as failure:
                value, fault = None, _explain(guest, failure, self.limits)
            return value, fault, self._lines(machine)

    def _answer(self, guest: Guest, packet: bytes) -> tuple[Any, Fault | None]:
        limits = self.limits
        try:
            sample = guest.parse(packet)
        except (GuestThrew, NoRoom):
            return None, limit_fault(FaultKind.SAMPLE, limits)
        most = max(limits.output_bytes, FAULT_BYTES) + 1
        answer = guest.text(guest.call(self.invoke, sample), most)
        if answer == _NOT_SETTLED:
            guest.run_jobs()
            answer = guest.text(guest.call(self.settle, sample), most)
            if answer == _NOT_SETTLED:
                return None, limit_fault(FaultKind.NEVER_SETTLED, limits)
        return read_answer(answer, self.code, limits)

    def _lines(self, machine: Machine) -> tuple[str, ...]:
        """The console lines so far; they lie in memory, however the call ended."""
        counts = machine.read(self.journal, len(_NO_LINES))
        if counts == _NO_LINES:
            return ()
        used = min(int.from_bytes(counts[:4], "little"), JOURNAL_BYTES - len(counts))
        text = machine.read(self.journal + len(counts), used)
        return read_lines(text, int.from_bytes(counts[4:], "little"), self.limits)


def load(machine: Machine, code: str, limits: Limits, name: str) -> Program:
    """Loads code into a bare machine; `name` is the function that will be called. Raises CodeFault."""
    guest = Guest.boot(machine, limits)
    own = f"{limits.log_lines}, {limits.output_bytes}, {JOURNAL_BYTES}, {json.dumps(name)}"
    harness = guest.evaluate(f"({HARNESS})({own})", HARNESS_NAME)
    adopt, invoke, settle, thrown, journal = (guest.item(harness, index) for index in range(5))
    with machine.ticker:
        machine.deadline.start(limits.time_ms)
        try:
            fault = _load_code(guest, code, name, adopt, thrown, limits)
            _make_headroom(machine)
        except FAILURES as failure:
            fault = _explain(guest, failure, limits)
    if fault is not None:
        raise CodeFault(fault)
    return Program(code, limits, machine.snapshot(), guest.places, invoke, settle, guest.buffer_address(journal))


def _load_code(guest: Guest, code: str, name: str, adopt: int, thrown: int, limits: Limits) -> Fault | None:
    try:
        script = guest.compile(code, CODE_NAME)
    except GuestThrew as threw:
        fault = _described(guest, threw, thrown, code, limits)
        return replace(fault, kind=FaultKind.SYNTAX) if fault.kind is FaultKind.THROWN else fault
    try:
        guest.execute(script)
    except GuestThrew as threw:
        return _described(guest, threw, thrown, code, limits)
    found = guest.evaluate(f"typeof {name} === 'function' ? {name} : undefined", HARNESS_NAME)
    return read_answer(guest.text(guest.call(adopt, found), FAULT_BYTES), code, limits)[1]


def _described(guest: Guest, threw: GuestThrew, thrown: int, code: str, limits: Limits) -> Fault:
    if threw.error is None:
        raise threw
    return read_fault(guest.text(guest.call(thrown, threw.error), FAULT_BYTES)[1:], code, limits)


def _make_headroom(machine: Machine) -> None:
    address = machine.call("malloc", HEADROOM_BYTES)
    if address:
        machine.call("free", address)


def _explain(guest: Guest, failure: Exception, limits: Limits) -> Fault:
    """The fault for a failure that the harness could not report itself."""
    if isinstance(failure, GuestStopped):
        return limit_fault(failure.kind, limits, str(failure))
    if isinstance(failure, TooLong):
        return limit_fault(FaultKind.OUTPUT, limits)
    if isinstance(failure, GuestThrew) and failure.error is not None:
        try:
            text = guest.text(failure.error, FAULT_BYTES).decode("utf-8", "replace")
        except FAILURES:
            return limit_fault(FaultKind.MEMORY, limits)
        if "call stack" in text:
            return limit_fault(FaultKind.STACK, limits)
        if "out of memory" not in text:
            return limit_fault(FaultKind.CRASH, limits, text[:200])
    return limit_fault(FaultKind.MEMORY, limits)
