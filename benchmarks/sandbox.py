"""Calls per second of the JavaScript sandbox, every call in a pristine machine.

    python benchmarks/sandbox.py [seconds per workload, 2 by default]

One thread, one core, batches of 5. `calls/s` is by the wall clock; `per core` by the processor time used; `best batch`
is what the same processor does when nothing else disturbs it. `restore` is the share of the processor time that goes
into making the machine pristine again. Budgets, for calls per core: 3,000 for the length check, 1,800 for the regular
expression. The exit status is 1 if the best batch misses one.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evalstudio.calls.javascript import Sandbox, Script

ANSWER = (
    "You can end a rental at any station with a free dock. Push the front wheel in until the light turns green, then "
    "check that the app says the trip is over; the trip costs nothing more from that moment. If every dock is taken, "
    "press Full Station on the screen and we add fifteen minutes, free of charge, so that you can ride to the next. "
    "A bike left outside a station keeps counting, and after two hours a fee of twenty euros is added for fetching. "
    "Should the light stay red, pull the bike out once and push it in again. When that does not help, take a picture "
    "of the bike in the dock and send it to us with the number on the frame: we close the rental at the time you "
    "wrote. Refunds for minutes counted by mistake reach your card within five days of our reply."
)
SAMPLE = {
    "inputs": {"value": "How do I end my rental?"},
    "expectedOutputs": {"value": "Put the bike into a free dock until the light turns green, then check the app."},
    "outputs": {"value": ANSWER},
    "steps": [],
}
LENGTH = "function evaluate({ outputs }) { return outputs.value.length < 1000; }"
REGEX = """
function evaluate({ outputs }) {
  const words = [...outputs.value.matchAll(/[a-z]+/gi)].map((match) => match[0].toLowerCase());
  return new Set(words).size / words.length;
}
"""
ASYNC = "async function evaluate({ outputs }) { await null; return outputs.value.length < 1000; }"
LOGGING = """
function evaluate({ inputs, outputs }) {
  console.log("question", inputs.value);
  console.log("answer", outputs);
  return { score: 1, reason: "logged" };
}
"""
SEEDED = "function evaluate() { return Math.random() < 0.5 && Date.now() > 0; }"


@dataclass(frozen=True)
class Workload:
    name: str
    code: str
    sample: dict[str, Any]
    budget: int | None = None


WORKLOADS = [
    Workload("length check, 800 characters", LENGTH, SAMPLE, 3_000),
    Workload("regular expression and Set, 800 characters", REGEX, SAMPLE, 1_800),
    Workload("async function", ASYNC, SAMPLE),
    Workload("two console lines, object returned", LOGGING, SAMPLE),
    Workload("Math.random and Date", SEEDED, SAMPLE),
    Workload("length check, 100,000 characters", LENGTH, SAMPLE | {"outputs": {"value": (ANSWER * 125)[:100_000]}}),
    Workload(
        "length check, 5 million characters", LENGTH, SAMPLE | {"outputs": {"value": (ANSWER * 6250)[:5_000_000]}}
    ),
]


@dataclass(frozen=True)
class Rates:
    """Calls per second."""

    wall: float
    processor: float
    best: float


def measure(batch: Callable[[], int], seconds: float) -> Rates:
    """`batch` returns how many calls it made."""
    batch()
    calls, best, start, start_processor = 0, 0.0, time.perf_counter(), time.thread_time()
    while time.perf_counter() - start < seconds:
        before = time.perf_counter()
        made = batch()
        best = max(best, made / (time.perf_counter() - before))
        calls += made
    return Rates(calls / (time.perf_counter() - start), calls / (time.thread_time() - start_processor), best)


def restore_s(script: Script) -> float:
    """Processor seconds of one restore after a call."""
    process = script._sandbox._here()
    machine, program = process._machine_for(script._program), script._program
    spent = 0.0
    for _ in range(200):
        program.ask(machine, b"[0,0,{}]")
        start = time.thread_time()
        machine.restore(program.snapshot)
        spent += time.thread_time() - start
    return spent / 200


def main(seconds: float) -> int:
    missed = False
    with tempfile.TemporaryDirectory() as directory:
        start = time.perf_counter()
        Sandbox(Path(directory)).compile(LENGTH)
        print(f"first compile, nothing cached   {(time.perf_counter() - start) * 1000:8.1f} ms")
        sandbox = Sandbox(Path(directory))
        start = time.perf_counter()
        sandbox.compile(LENGTH)
        print(f"first compile, machine code kept{(time.perf_counter() - start) * 1000:8.1f} ms")
        start = time.perf_counter()
        sandbox.compile(REGEX)
        print(f"another evaluator               {(time.perf_counter() - start) * 1000:8.1f} ms\n")
        print(f"{'workload':44}{'calls/s':>9}{'per core':>10}{'best batch':>12}{'budget':>8}{'restore':>9}")
        for workload in WORKLOADS:
            script = sandbox.compile(workload.code)
            batch = [workload.sample] * (5 if len(str(workload.sample)) < 10_000 else 1)
            assert not script.run(workload.sample).fault
            rates = measure(lambda script=script, batch=batch: len(script.run_many(batch)), seconds)
            share = restore_s(script) * rates.processor
            print(
                f"{workload.name:44}{rates.wall:9,.0f}{rates.processor:10,.0f}{rates.best:12,.0f}"
                f"{workload.budget or '':>8}{share:9.0%}"
            )
            missed |= workload.budget is not None and rates.best < workload.budget
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 2))
