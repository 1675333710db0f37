"""QuickJS inside a machine: evaluates source, calls functions, reads values.

JavaScript values are handled as QuickJS encodes them, 64 bits that only QuickJS takes apart. Nothing is ever freed: the
next call restores the whole memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from .limits import Limits
from .machine import GuestStopped, Machine
from .outcome import FaultKind

# Frames of the guest: about 1,000 of a plain function. Runs out before the native stack does in nearly every case.
STACK_BYTES = 256 * 1024
# What the machine holds beside the heap of QuickJS: its stack, its tables, the sample as text.
RESERVE_BYTES = 2 << 20
# A call is too short for the garbage of reference cycles to matter.
COLLECT_AT_BYTES = 8 << 20

_COMPILE_ONLY = 1 << 5


class GuestThrew(Exception):
    """A JavaScript error that reached the host. `error` is the thrown value; a text that cannot be made has none."""

    def __init__(self, error: int | None) -> None:
        super().__init__()
        self.error = error


class NoRoom(Exception):
    """The machine has no memory left for what the host wants to put into it."""


class TooLong(Exception):
    """A text of the guest is longer than the host is willing to read."""


@dataclass(frozen=True, slots=True)
class Places:
    """Addresses in a booted machine, and the value by which QuickJS says that an error was thrown."""

    context: int
    runtime: int
    scratch: int
    name: int
    failed: int


class Guest:
    """QuickJS in `machine`, which holds what was there when `places` were noted."""

    __slots__ = ("_machine", "places")

    def __init__(self, machine: Machine, places: Places) -> None:
        self._machine = machine
        self.places = places

    @classmethod
    def boot(cls, machine: Machine, limits: Limits) -> Guest:
        """Starts QuickJS in a bare machine."""
        machine.call("_initialize")
        if machine.call("qjs_init"):
            raise GuestStopped(FaultKind.CRASH, "QuickJS did not start.")
        machine.call("qjs_set_memory_limit", (limits.memory_mb << 20) - RESERVE_BYTES)
        machine.call("qjs_set_max_stack_size", STACK_BYTES)
        machine.call("qjs_set_gc_threshold", COLLECT_AT_BYTES)
        context, runtime = machine.call("qjs_get_context_ptr"), machine.call("qjs_get_runtime_ptr")
        scratch, name = machine.call("malloc", 64), _put(machine, b"sample")
        source = _put(machine, b"throw 0")
        failed = machine.call("JS_Eval", context, source, len(b"throw 0"), name, 0)
        machine.call("JS_GetException", context)
        return cls(machine, Places(context, runtime, scratch, name, failed))

    def compile(self, source: str, name: str) -> int:
        """A script, read but not run. Raises GuestThrew with a SyntaxError."""
        machine, encoded = self._machine, source.encode("utf-8", "replace")
        text, file_name = _put(machine, encoded), _put(machine, name.encode())
        script = machine.call("JS_Eval", self.places.context, text, len(encoded), file_name, _COMPILE_ONLY)
        machine.call("free", text)
        machine.call("free", file_name)
        return self._checked(script)

    def execute(self, script: int) -> int:
        """Runs a compiled script as global code; its last value."""
        return self._checked(self._machine.call("JS_EvalFunction", self.places.context, script))

    def evaluate(self, source: str, name: str) -> int:
        return self.execute(self.compile(source, name))

    def parse(self, json: bytes) -> int:
        """JSON text as a JavaScript value."""
        address = _put(self._machine, json)
        places = self.places
        return self._checked(self._machine.call("JS_ParseJSON", places.context, address, len(json), places.name))

    def call(self, function: int, argument: int) -> int:
        places = self.places
        self._machine.write(places.scratch + 8, argument.to_bytes(8, "little", signed=True))
        return self._checked(
            self._machine.call("JS_Call", places.context, function, function, 1, places.scratch + 8),
        )

    def item(self, array: int, index: int) -> int:
        return self._checked(self._machine.call("JS_GetPropertyUint32", self.places.context, array, index))

    def buffer_address(self, buffer: int) -> int:
        return self._machine.call("JS_GetArrayBuffer", self.places.context, self.places.scratch, buffer)

    def text(self, value: int, max_bytes: int) -> bytes:
        """A value as UTF-8. Raises TooLong, or GuestThrew where it has no text."""
        machine, places = self._machine, self.places
        address = machine.call("JS_ToCStringLen2", places.context, places.scratch, value, 0)
        if not address:
            raise GuestThrew(None)
        length = int.from_bytes(machine.read(places.scratch, 4), "little")
        if length > max_bytes:
            raise TooLong
        return machine.read(address, length)

    def run_jobs(self) -> None:
        """Runs what promises and microtasks have queued, until nothing is left or time is up."""
        places, machine = self.places, self._machine
        while machine.call("JS_ExecutePendingJob", places.runtime, places.scratch):
            pass

    def _checked(self, value: int) -> int:
        if value == self.places.failed:
            raise GuestThrew(self._machine.call("JS_GetException", self.places.context))
        return value


def _put(machine: Machine, data: bytes) -> int:
    """Copies bytes and a closing zero into memory of the guest; their address."""
    address = machine.call("malloc", len(data) + 1)
    if not address:
        raise NoRoom
    machine.write(address, data + b"\0")
    return address
