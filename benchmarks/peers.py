"""What a user would pick instead, in one run and on the same cases: each judges them once and keeps the scores.

    python -m benchmarks.peers [--cases 1000] [--slots 64] [--python PATH …] [--promptfoo PATH]

Interpreters are named that have deepeval, ragas or inspect-ai, in environments apart, because they agree on versions
neither with this project nor with each other; what is not there is skipped with a line. The endpoint replies
after 200 ms and says what each of them wants to hear. Apart are stated: from the click (the start of the command) to
the first call, from there to the last commit (the end of the command, when its results are in a file), processor
seconds, and memory. EvalStudio's worker runs before the click, as it does where it is installed; its memory is that of
all its processes, for the others it is the most that their largest process held.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chat_endpoint import running
from benchmarks.judge import measure, report

FOLDER = Path(__file__).parent / "peers"
QUIET = {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "RAGAS_DO_NOT_TRACK": "true", "PROMPTFOO_DISABLE_TELEMETRY": "1"}


class DidNotRun(Exception):
    """The last line of what it said."""


@dataclass(frozen=True)
class Peer:
    name: str
    says: str  # a proper reply of the endpoint
    package: str = ""

    @property
    def script(self) -> Path:
        return FOLDER / f"{self.name.replace('-', '_')}.py"


PEERS = (
    Peer("openai-loop", '{"reason": "It says so.", "label": "good"}', "openai"),
    Peer("inspect-ai", '{"reason": "It says so.", "label": "good"}', "inspect_ai"),
    Peer("deepeval", '{"reason": "It says so.", "score": 10}', "deepeval"),
    Peer("ragas", '{"reason": "It says so.", "value": "good"}', "ragas"),
    Peer("promptfoo", '{"reason": "It says so.", "pass": true, "score": 1}'),
)


def make_cases(folder: Path, count: int) -> Path:
    """The cases of `benchmarks.judge`, a line each, with the message that asks about them."""
    path, answer = folder / "cases.jsonl", "A sentence of it. " * 60
    with path.open("w") as file:
        for number in range(count):
            case = {"reference": "A sentence of it.", "answer": f"Set 0, answer {number}. {answer}"}
            asked = "Is the answer supported by the reference answer? Reply in JSON with reason and label, good or bad."
            prompt = f"{asked}\n\n# Reference answer\n{case['reference']}\n\n# Answer to judge\n{case['answer']}"
            file.write(json.dumps({**case, "id": f"case-{number}", "prompt": prompt}) + "\n")
    return path


def measure_peer(peer: Peer, python: str, cases: Path, count: int, slots: int) -> dict[str, float]:
    scores = cases.with_name(f"{peer.name}.jsonl")
    with running(latency_ms=200, says=peer.says) as url, cases.with_name(f"{peer.name}.log").open("w+") as log:
        words = [python, "-P", peer.script, url, cases, scores, slots]
        env = {**os.environ, **QUIET, "OPENAI_API_KEY": "unused", "NO_COLOR": "1"}
        clicked = time.monotonic()
        process = subprocess.Popen([*map(str, words)], cwd=cases.parent, env=env, stdout=log, stderr=log)
        _, status, used = os.wait4(process.pid, 0)
        ended = time.monotonic()
        stats = json.load(urllib.request.urlopen(url.removesuffix("/v1") + "/stats"))
        log.seek(0)
        if status:
            raise DidNotRun(log.read().strip().rpartition("\n")[2])
    kept = [json.loads(line)["score"] for line in scores.read_text().splitlines()]
    assert kept == [1.0] * count, f"{len(kept)} scores of {count}: {set(kept)}"
    return {
        "seconds": ended - stats["first_at"],
        "to_first_call": stats["first_at"] - clicked,
        "processor": used.ru_utime + used.ru_stime,
        "memory_mb": used.ru_maxrss / 1024,
        "requests": stats["requests"],
        "max_in_flight": stats["max_in_flight"],
    }


def interpreter(peer: Peer, pythons: list[str], promptfoo: str) -> str:
    """The first interpreter that has the package of a peer; "" where none has."""
    if not peer.package:
        return sys.executable if promptfoo else ""
    found = f"import importlib.util as u, sys; sys.exit(u.find_spec({peer.package!r}) is None)"
    has = (python for python in pythons if subprocess.run([python, "-P", "-c", found], check=False).returncode == 0)
    return next(has, "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--python", nargs="*", default=[])
    parser.add_argument("--promptfoo", default=shutil.which("promptfoo") or "")
    asked = parser.parse_args()
    os.environ["PROMPTFOO"] = asked.promptfoo
    print(f"{asked.cases:,} cases, {asked.slots} at once, load {os.getloadavg()[0]:.1f}", flush=True)
    with running(latency_ms=200) as url:
        report("evalstudio, stored", measure(url, asked.cases, asked.slots))
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        cases = make_cases(Path(folder), asked.cases)
        for peer in PEERS:
            python = interpreter(peer, [sys.executable, *asked.python], asked.promptfoo)
            if not python:
                print(f"{peer.name:34} skipped: it is not installed", flush=True)
                continue
            try:
                figures = measure_peer(peer, python, cases, asked.cases, asked.slots)
            except DidNotRun as error:
                print(f"{peer.name:34} did not run: {error}", flush=True)
                continue
            report(peer.name, figures, f"{figures['requests']:.0f} calls, {figures['max_in_flight']:.0f} at once")


if __name__ == "__main__":
    main()
