"""How long a second start takes to its first page, and what all processes hold in memory when idle.

    .venv/bin/python -m benchmarks.startup [--starts 5]

Starts `manage.py serve` on a scratch database that has the demo in it, asks for the sign-in page until it answers,
waits until the processes are idle, and sums their proportional set sizes (PSS, which counts shared pages once). Beside
it stands the plain alternative: the same two servers started apart, with nothing shared. Linux only.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IDLE_S = 8.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def started(commands: list[list[str]], environment: dict[str, str]) -> Iterator[list[int]]:
    processes = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    try:
        yield [process.pid for process in processes]
    finally:
        for process in processes:
            process.send_signal(signal.SIGINT)
        for process in processes:
            process.wait(timeout=60)


def seconds_to_first_page(port: int, since: float) -> float:
    while time.monotonic() - since < 60:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/sign-in/", timeout=5) as reply:
                reply.read()
            return time.monotonic() - since
        except OSError:
            time.sleep(0.01)
    raise TimeoutError("no page within a minute")


def family(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [pid, *(each for child in listed.stdout.split() for each in family(int(child)))]


def pss_mb(pids: list[int]) -> float:
    kilobytes = 0
    for one in {each for pid in pids for each in family(pid)}:
        for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                kilobytes += int(line.split()[1])
    return kilobytes / 1024


def measure(commands: list[list[str]], port: int, environment: dict[str, str]) -> tuple[float, float]:
    since = time.monotonic()
    with started(commands, environment) as pids:
        seconds = seconds_to_first_page(port, since)
        time.sleep(IDLE_S)
        return seconds, pss_mb(pids)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=5)
    starts = parser.parse_args().starts
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "EVALSTUDIO_DATA": folder, "DJANGO_SETTINGS_MODULE": "evalstudio.settings"}
        for command in ("migrate", "demo"):
            subprocess.run([sys.executable, "manage.py", command], cwd=ROOT, env=environment, check=True, stdout=2)
        port = free_port()
        served = [[sys.executable, "manage.py", "serve", "--port", str(port)]]
        apart = [
            [sys.executable, "-m", "gunicorn", "evalstudio.wsgi", "-b", f"127.0.0.1:{port}", "--threads", "8"],
            [sys.executable, "manage.py", "qcluster"],
        ]
        measure(served, port, environment)  # collects static files and writes bytecode once
        print(f"{'':24}{'first page, s':>16}{'idle PSS, MB':>16}")
        for name, commands in (("manage.py serve", served), ("started apart", apart)):
            seconds, megabytes = zip(*(measure(commands, port, environment) for _ in range(starts)), strict=True)
            print(f"{name:24}{statistics.median(seconds):16.2f}{statistics.median(megabytes):16.0f}")


if __name__ == "__main__":
    main()
