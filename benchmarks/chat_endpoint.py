"""An endpoint on loopback for load: replies after a fixed time, with faults that depend on the prompt alone.

    python -m benchmarks.chat_endpoint --port 0 --latency-ms 200 --rate-429 0.05 --retry-after 1 --rate-cut 0.02

prints its base URL. Which attempts at a prompt fail is a function of the prompt, the attempt's number and nothing else,
so that two clients meet the same faults: 429, 500, a reply that is cut off, one that holds no verdict, none at all.
`GET /stats` counts requests, faults and the most that were open at once. Whoever asks about the word of `--kill-asker`
is killed. `--says` is the text of a proper reply.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

SAYS = '{"reason": "It says so.", "label": "good"}'


@dataclass
class Endpoint:
    latency_s: float
    rate_429: float
    retry_after_s: float
    rate_cut: float
    rate_500: float = 0.0
    rate_malformed: float = 0.0
    rate_hang: float = 0.0
    kill_asker: str = ""
    says: str = SAYS
    attempts: Counter = field(default_factory=Counter)
    requests: int = 0
    faults: Counter = field(default_factory=Counter)
    open_calls: set[Wire] = field(default_factory=set)
    max_in_flight: int = 0
    first_at: float | None = None  # when the first question came, on the machine's monotonic clock

    def fate(self, prompt: bytes) -> float:
        """A number in [0, 1) for this attempt at this prompt."""
        self.attempts[prompt] += 1
        digest = hashlib.blake2b(b"%d %b" % (self.attempts[prompt], prompt), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2**64

    def stats(self) -> bytes:
        names = (
            *("latency_s", "rate_429", "retry_after_s", "rate_cut", "requests", "faults", "max_in_flight", "first_at"),
        )
        return json.dumps({name: getattr(self, name) for name in names}).encode()


class Wire(asyncio.Protocol):
    """Just enough HTTP/1.1 for one client that keeps its connections."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, end, rest = self.buffer.partition(b"\r\n\r\n")
        if not end:
            return
        length = next(
            (int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        if len(rest) >= length:
            self.buffer = rest[length:]
            self.handle(head.startswith(b"GET"), rest[:length])

    def handle(self, is_stats: bool, body: bytes) -> None:
        endpoint = self.endpoint
        if is_stats:
            self.send(b"200 OK", endpoint.stats())
            return
        endpoint.requests += 1
        endpoint.first_at = endpoint.first_at or time.monotonic()
        prompt = json.loads(body)["messages"][-1]["content"].encode()
        if endpoint.kill_asker and endpoint.kill_asker.encode() in prompt:
            endpoint.faults["killed"] += 1
            kill_owner_of(self.transport.get_extra_info("peername")[1], self.transport.get_extra_info("sockname")[1])
            return
        fault = self.fault(endpoint.fate(prompt))
        endpoint.faults[fault] += 1
        if fault == "429":
            wait = b"Retry-After: %g\r\n" % endpoint.retry_after_s
            self.send(b"429 Too Many Requests", b'{"error": {"message": "Slow down"}}', wait)
            return
        if fault == "500":
            self.send(b"500 Internal Server Error", b'{"error": {"message": "Something broke"}}')
            return
        endpoint.open_calls.add(self)
        if len(endpoint.open_calls) > endpoint.max_in_flight:
            endpoint.max_in_flight = max(endpoint.max_in_flight, sum(call.has_asker() for call in endpoint.open_calls))
        if fault != "hang":
            asyncio.get_running_loop().call_later(endpoint.latency_s, self.reply, prompt, fault)

    def fault(self, fate: float) -> str:
        """The fault that a fate means; empty for a proper reply."""
        endpoint, reached = self.endpoint, 0.0
        rates = {"429": endpoint.rate_429, "cut": endpoint.rate_cut, "500": endpoint.rate_500}
        for name, rate in (rates | {"malformed": endpoint.rate_malformed, "hang": endpoint.rate_hang}).items():
            reached += rate
            if fate < reached:
                return name
        return ""

    def connection_lost(self, error: Exception | None) -> None:
        self.close_call()

    def close_call(self) -> None:
        """The open call has ended, by a reply or because the asker is gone."""
        self.endpoint.open_calls.discard(self)

    def has_asker(self) -> bool:
        """Whether the asker is still there; one who was killed may be gone before the loop has heard of it."""
        if self.transport.is_closing():
            return False
        heard = select.poll()
        heard.register(self.transport.get_extra_info("socket").fileno(), select.POLLRDHUP)
        return not heard.poll(0)

    def reply(self, prompt: bytes, fault: str) -> None:
        self.close_call()
        said = "I would rather not say." if fault == "malformed" else self.endpoint.says
        message = {"role": "assistant", "content": said}
        payload = json.dumps(
            {
                "id": "chatcmpl-bench",
                "object": "chat.completion",
                "created": 1_700_000_000,
                "model": "bench",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {
                    "prompt_tokens": len(prompt) // 4,
                    "completion_tokens": 12,
                    "total_tokens": len(prompt) // 4 + 12,
                },
            }
        ).encode()
        self.send(b"200 OK", payload, cut=fault == "cut")

    def send(self, status: bytes, payload: bytes, headers: bytes = b"", cut: bool = False) -> None:
        head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%b\r\n" % (
            status,
            len(payload),
            headers,
        )
        self.transport.write(head + (payload[: len(payload) // 2] if cut else payload))
        if cut:
            self.transport.close()


def kill_owner_of(port: int, to: int) -> None:
    """SIGKILL for the process whose loopback connection leads from one port to the other."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ends = [f"0100007F:{port:04X}", f"0100007F:{to:04X}"]
    inodes = {f"socket:[{row[9]}]" for row in rows if row[1:3] == ends}
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) in inodes:
                os.kill(int(link.parts[2]), signal.SIGKILL)
                return
        except OSError:
            continue


@contextmanager
def running(**options: float | str) -> Iterator[str]:
    """The base URL of an endpoint in a process of its own."""
    words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    command = [sys.executable, "-m", "benchmarks.chat_endpoint", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def serve(endpoint: Endpoint, port: int) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Wire(endpoint), "127.0.0.1", port, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=200)
    parser.add_argument("--rate-429", type=float, default=0)
    parser.add_argument("--retry-after", type=float, default=1)
    for fault in ("cut", "500", "malformed", "hang"):
        parser.add_argument(f"--rate-{fault}", type=float, default=0)
    parser.add_argument("--kill-asker", default="")
    parser.add_argument("--says", default=SAYS)
    asked = parser.parse_args()
    rates = asked.rate_cut, asked.rate_500, asked.rate_malformed, asked.rate_hang
    endpoint = Endpoint(
        asked.latency_ms / 1000, asked.rate_429, asked.retry_after, *rates, asked.kill_asker, asked.says
    )
    asyncio.run(serve(endpoint, asked.port))


if __name__ == "__main__":
    main()
