"""The sandbox of a process: compiled scripts, and a machine for each thread that runs them.

Machines are dear to make (0.3 ms) and cheap to restore, so every thread keeps one. Nothing is built before the first
compile, and nothing of what a parent process built is used after a fork: a child has none of its parent's threads, and
may hold a copy of a lock that nobody will ever release.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from .limits import DEFAULT, Limits
from .outcome import Outcome

if TYPE_CHECKING:
    from .engine import Engine
    from .machine import Machine
    from .program import Program

SCRIPTS_KEPT = 32
MOST_BYTES_KEPT = 64 << 20  # code may fill its memory while it is loaded


class Sandbox:
    """Compiles evaluators' code. Make one per process and share it between threads.

    cache_dir: where machine code of the JavaScript engine may be kept, which saves each new process a second. Only this
    user may be able to write there.
    """

    def __init__(self, cache_dir: Path | None = None) -> None:
        self._cache_dir = cache_dir
        self._processes: dict[int, _Process] = {}

    def compile(self, code: str, *, limits: Limits = DEFAULT, name: str = "evaluate") -> Script:
        """Loads code, whose function of this name is called; the same again costs nothing. Raises CodeFault."""
        return Script(self._here().program(code, limits, name), self)

    def _here(self) -> _Process:
        pid = os.getpid()
        return self._processes.get(pid) or self._processes.setdefault(pid, _Process(self._cache_dir))


class Script:
    """Loaded code. May be used by any thread, and by processes forked from this one."""

    def __init__(self, program: Program, sandbox: Sandbox) -> None:
        self._program = program
        self._sandbox = sandbox

    def run(self, sample: Mapping[str, Any], *, seed: int = 0) -> Outcome:
        """Calls the function with one sample, in a machine that knows of no other call.

        Never raises for what the code does. Raises TypeError for a sample that is not JSON data (NaN becomes null).
        """
        return self.run_many([sample], [seed])[0]

    def run_many(self, samples: Iterable[Mapping[str, Any]], seeds: Iterable[int] | None = None) -> list[Outcome]:
        """One outcome per sample, each from a machine of its own as in `run`. Without seeds every seed is 0."""
        process = self._sandbox._here()
        with process.engine.ticker:
            return [
                process.run(self._program, sample, seed)
                for sample, seed in zip(samples, repeat(0) if seeds is None else seeds, strict=seeds is not None)
            ]


class _Process:
    """What one process has built. Left alone, not torn down, in a process forked from it."""

    def __init__(self, cache_dir: Path | None) -> None:
        self._cache_dir = cache_dir
        self._lock = threading.Lock()
        self._built: Engine | None = None
        self._programs: OrderedDict[tuple[str, Limits, str], Program] = OrderedDict()
        self._mine = threading.local()

    @property
    def engine(self) -> Engine:
        if self._built is None:
            with self._lock:
                if self._built is None:
                    from .engine import Engine

                    self._built = Engine(self._cache_dir)
        return self._built

    def program(self, code: str, limits: Limits, name: str) -> Program:
        key = code, limits, name
        with self._lock:
            if key in self._programs:
                self._programs.move_to_end(key)
                return self._programs[key]
        program = self._load(*key)
        with self._lock:
            self._programs[key] = program
            while len(self._programs) > 1 and self._is_keeping_too_much():
                self._programs.popitem(last=False)
        return program

    def _is_keeping_too_much(self) -> bool:
        kept = self._programs.values()
        return len(kept) > SCRIPTS_KEPT or sum(program.snapshot.held for program in kept) > MOST_BYTES_KEPT

    def run(self, program: Program, sample: Mapping[str, Any], seed: int) -> Outcome:
        start = time.perf_counter()
        packet = b"[%d,%d,%b]" % (seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF, _encoded(sample))
        machine = self._machine_for(program)
        value, fault, lines = program.ask(machine, packet)
        self._keep(machine, program)
        return Outcome(value, lines, fault, (time.perf_counter() - start) * 1000)

    def _load(self, code: str, limits: Limits, name: str) -> Program:
        from .machine import Machine
        from .program import load

        machine = Machine(self.engine, limits.memory_mb)
        program = load(machine, code, limits, name)
        self._keep(machine, program)
        return program

    def _machine_for(self, program: Program) -> Machine:
        machine: Machine | None = self._mine.__dict__.pop("machine", None)
        if machine is not None and machine.memory_mb == program.limits.memory_mb and machine.fits(program.snapshot):
            return machine
        from .machine import Machine

        return Machine(self.engine, program.limits.memory_mb)

    def _keep(self, machine: Machine, program: Program) -> None:
        """Keeps a machine for this thread's next call, unless it was cut short or has grown."""
        if machine.usable and machine.fits(program.snapshot):
            self._mine.machine = machine


def _encoded(sample: Mapping[str, Any]) -> bytes:
    data = sample if isinstance(sample, dict) else dict(sample)
    try:
        return orjson.dumps(data)
    except orjson.JSONEncodeError:  # lone surrogates, integers beyond 64 bits
        finite = json.loads(json.dumps(data), parse_constant=lambda _: None)
        return json.dumps(finite).encode()
