"""The chat client alone: 1,000 calls of 200 ms, beside a bare loop of the openai package in the same run.

    python -m benchmarks.judge_client [--calls 1000]

Each line is one process: seconds from the first call to the last reply, processor seconds for them, and the most memory
that the process held. Nothing is stored here; `faults` is the median of five prompt sets with 5 % 429 (Retry-After 1 s)
and 2 % cut-off replies, of which none may be lost.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.chat_endpoint import running

ROOT = Path(__file__).resolve().parent.parent
FAULTS = {"rate_429": 0.05, "retry_after": 1, "rate_cut": 0.02}
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string"}, "label": {"enum": ["good", "bad"]}},
    "required": ["reason", "label"],
    "additionalProperties": False,
}


def prompt(prompt_set: int, number: int) -> str:
    return (
        f"Set {prompt_set}, answer {number}. Is the answer below supported by the context? " + "A sentence of it. " * 60
    )


async def timed(calls: int, pullers: int, one: Callable[[int], Awaitable[Any]]) -> dict[str, float]:
    """Seconds and processor seconds for so many calls, pulled by so many coroutines from one iterator."""
    numbers = iter(range(calls))

    async def pull() -> None:
        for number in numbers:
            await one(number)

    await one(-1)  # connections, imports and first look-ups are not what is measured
    began, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(pull() for _ in range(pullers)))
    return {
        "seconds": time.perf_counter() - began,
        "processor": time.process_time() - used,
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


async def bare(url: str, calls: int, slots: int, prompt_set: int) -> dict[str, float]:
    """What a script would do: the openai package as it comes, one coroutine per slot."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=url, api_key="unused")

    async def one(number: int) -> None:
        await client.chat.completions.create(
            model="bench",
            messages=[{"role": "user", "content": prompt(prompt_set, number)}],
            temperature=0,
            max_tokens=1024,
            response_format={"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}},
        )

    async with client:
        return await timed(calls, slots, one)


async def studio(url: str, calls: int, slots: int, prompt_set: int) -> dict[str, float]:
    """The product's client with a cache to look into that holds nothing."""
    from evalstudio.calls.chat import ChatClient, Endpoint
    from evalstudio.calls.guard import Guard
    from evalstudio.calls.replies import Ask

    class Store:
        def endpoint(self, connection_id: int) -> Endpoint:
            return Endpoint(url, "unused", max_in_flight=slots)

        def find(self, keys: Any) -> dict:
            return {}

        def remember_traits(self, *known: Any) -> None:
            raise AssertionError("The endpoint of the benchmark refuses nothing.")

    async def one(number: int) -> None:
        message = {"role": "user", "content": prompt(prompt_set, number)}
        reply = await client.ask(Ask(1, "bench", (message,), schema=SCHEMA))
        assert reply.text.startswith("{")

    with ThreadPoolExecutor(1) as thread:
        async with ChatClient(Store(), thread, Guard(may_be_private=True)) as client:
            return await timed(calls, 2 * slots, one)


CLIENTS = {"bare": bare, "studio": studio}


def measure(client: str, url: str, calls: int, slots: int, prompt_set: int = 0) -> dict[str, float]:
    """One client in a fresh process."""
    words = ["--client", client, "--url", url, "--calls", calls, "--slots", slots, "--prompt-set", prompt_set]
    command = [sys.executable, "-m", "benchmarks.judge_client", *map(str, words)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def report(title: str, figures: dict[str, float], budget: str = "") -> None:
    print(
        f"{title:34} {figures['seconds']:6.2f} s {figures['processor']:6.2f} s processor"
        f" {figures['memory_mb']:5.0f} MB   {budget}"
    )


def compare(calls: int) -> None:
    with running(latency_ms=200) as url:
        for slots, budget in ((64, "budget 3.5 s, 0.9 s processor"), (256, "budget 1.6 s")):
            report(f"bare openai loop, {slots} at once", measure("bare", url, calls, slots))
            report(f"chat client, {slots} at once", measure("studio", url, calls, slots), budget)
    with running(latency_ms=200, **FAULTS) as url:
        runs = [measure("studio", url, calls, 64, prompt_set) for prompt_set in range(5)]
    median = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    seconds = ", ".join(f"{run['seconds']:.2f}" for run in runs)
    report("chat client, 64 at once, faults", median, f"budget 5.0 s ({seconds})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--client", choices=CLIENTS)
    parser.add_argument("--url")
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--prompt-set", type=int, default=0)
    asked = parser.parse_args()
    if asked.client is None:
        compare(asked.calls)
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalstudio.settings")
    import django

    django.setup()
    figures = asyncio.run(CLIENTS[asked.client](asked.url, asked.calls, asked.slots, asked.prompt_set))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
