"""Judging 1,000 cases for real: run, queue, background worker, every score stored, beside a bare openai loop.

    python -m benchmarks.judge [--cases 1000]

The endpoint replies after 200 ms. Each line is one run of the product in a fresh database with a cluster that was idle:
seconds from the first call to the last commit and from the click to the first call, processor seconds of the whole
cluster from click to end, memory (PSS) of the cluster at the end. With faults, 5 % of the calls get 429 (Retry-After
1 s) and 2 % are cut off; the line is the median of five sets of prompts, and none of the cases may be lost or guessed.
Which calls fail depends on the prompts alone, so for each set it is known what a client without any cost would need.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks import ideal, processes
from benchmarks.chat_endpoint import Endpoint, running
from benchmarks.judge_client import FAULTS, ROOT
from benchmarks.judge_client import measure as measure_client

PROMPT = """# Task
Is the answer supported by the reference answer?

# Reference answer
{{ expectedOutputs.value }}

# Answer to judge
{{ outputs.value }}
"""
SCORING = {
    "type": "enum",
    "options": [
        {"label": "good", "percentage": 100, "description": "It is supported."},
        {"label": "bad", "percentage": 0, "description": "It is not."},
    ],
}


def judged_run(url: str, cases: int, slots: int, prompt_set: int) -> dict[str, float]:
    """In a process of its own with an empty database: set up, start the cluster, click, wait for the end."""
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    version, experiment = set_up(url, cases, slots, prompt_set)
    with _cluster() as pid:
        return _clicked(pid, url, version, experiment)


def _clicked(pid: int, url: str, version: Any, experiment: Any) -> dict[str, float]:
    from django.db import connection

    from evaluators.core import Status
    from experiments.ledger.progress import progress
    from experiments.ledger.start import start

    before, clicked = processes.cpu_s(pid), time.monotonic()
    run = start(version, experiment)
    with connection.cursor() as cursor:  # cheap, so that watching costs the run nothing
        while cursor.execute("SELECT state FROM experiments_run").fetchone()[0] != "finished":
            time.sleep(0.02)
    used = processes.cpu_s(pid) - before
    stats = json.load(urllib.request.urlopen(url.removesuffix("/v1") + "/stats"))
    run.refresh_from_db()
    counts = progress(run)
    assert counts.scored == counts.total == experiment.output_set.count(), counts
    last = run.evaluation_set.filter(state=Status.SCORED).latest("settled_at").settled_at
    first = stats["first_at"] + time.time() - time.monotonic()
    return {
        "seconds": last.timestamp() - first,
        "to_first_call": stats["first_at"] - clicked,
        "processor": used,
        "memory_mb": processes.pss_mb(pid),
        "ideal": _ideal_s(run, stats),
        "requests": stats["requests"],
        "max_in_flight": stats["max_in_flight"],
    }


def _ideal_s(run: Any, stats: dict[str, float]) -> float:
    from evaluators.engine import work_of
    from experiments.samples import sample_of

    work = work_of(run.version)
    outputs = run.experiment.output_set.select_related("case", "body").order_by("pk")
    messages = [work.kind.message(work.config, sample_of(output)).messages for output in outputs]
    prompts = [sent[-1]["content"].encode() for sent in messages]
    settings = {name: stats[name] for name in ("latency_s", "rate_429", "retry_after_s", "rate_cut")}
    return ideal.seconds(Endpoint(**settings), prompts, run.connection.max_in_flight)


def set_up(url: str, cases: int, slots: int, prompt_set: int) -> tuple[Any, Any]:
    from benchmarks.stage import make_connection, make_evaluator, make_experiment, make_project

    project = make_project()
    connection = make_connection(project, url, slots)
    config = {
        "prompt": PROMPT,
        "guide": "",
        "connection_id": connection.pk,
        "model": "bench",
        "scoring": SCORING,
        "threshold": None,
        "direction": "higher",
        "temperature": 0.0,
        "max_tokens": 1024,
        "seed": None,
    }
    answer = "A sentence of it. " * 60
    experiment = make_experiment(project, [f"Set {prompt_set}, answer {i}. {answer}" for i in range(cases)])
    return make_evaluator(project, "judge", config), experiment


@contextmanager
def _cluster() -> Iterator[int]:
    """A background worker that is ready for work; its process id."""
    with subprocess.Popen([sys.executable, "manage.py", "worker"], cwd=ROOT, start_new_session=True) as process:
        try:
            _wait_until_idle(process.pid)
            yield process.pid
        finally:
            process.terminate()
            process.wait(20)


def _wait_until_idle(pid: int) -> None:
    """Until the cluster has started all its processes and then done next to nothing for a second."""
    used = -1.0
    while len(list(processes.family(pid))) < 6 or processes.cpu_s(pid) - used > 0.05:
        used = processes.cpu_s(pid)
        time.sleep(1)


def measure(url: str, cases: int, slots: int, prompt_set: int = 0) -> dict[str, float]:
    words = ["--url", url, "--cases", cases, "--slots", slots, "--prompt-set", prompt_set]
    with tempfile.TemporaryDirectory(prefix="evalstudio-bench-") as folder:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.judge", *map(str, words)],
            cwd=ROOT,
            env={**os.environ, "EVALSTUDIO_DATA": folder},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return json.loads(done.stdout)


def report(title: str, figures: dict[str, float], budget: str = "") -> None:
    click = f", click to first call {figures['to_first_call']:.2f} s" if "to_first_call" in figures else ""
    print(
        f"{title:34} {figures['seconds']:6.2f} s {figures['processor']:6.2f} s processor"
        f" {figures['memory_mb']:5.0f} MB{click}   {budget}",
        flush=True,
    )


def compare(cases: int) -> None:
    for slots, budget in ((64, "budget 3.7 s, 1.2 s processor, click 0.7 s"), (256, "budget 1.6 s")):
        with running(latency_ms=200) as url:
            report(f"bare openai loop, {slots} at once", measure_client("bare", url, cases, slots))
        with running(latency_ms=200) as url:
            report(f"judged and stored, {slots} at once", measure(url, cases, slots), budget)
    runs = []
    for prompt_set in range(5):
        with running(latency_ms=200, **FAULTS) as url:
            runs.append(measure(url, cases, 64, prompt_set))
    median = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
    report("judged and stored, 64, faults", median, f"budget 5.0 s, without any cost {median['ideal']:.2f} s")
    for run in runs:
        print(f"{'':34} {run['seconds']:6.2f} s, without any cost {run['ideal']:.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--url")
    parser.add_argument("--slots", type=int, default=64)
    parser.add_argument("--prompt-set", type=int, default=0)
    asked = parser.parse_args()
    if asked.url is None:
        compare(asked.cases)
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalstudio.settings")
    import django

    django.setup()
    print(json.dumps(judged_run(asked.url, asked.cases, asked.slots, asked.prompt_set)))


if __name__ == "__main__":
    main()
