"""Grading with a long queue: the next item and a submitted grade, rendered in this process.

    python -m benchmarks.grading [--items 10000] [--grades 200]

Times are those of whole requests through Django's test client: session, access, queries, template. A submission
settles the run of people and brings the item after the next. The exit status is 1 when a median misses its budget by
processor time, which a busy computer disturbs less than the wall clock.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import tempfile
import time
from typing import Any

NEXT_MS, SUBMIT_MS = 20, 25
ANSWER = "Since you cancelled after the 20th, December is still billed in full, so there is no refund for it. " * 4


def stage(items: int) -> tuple[Any, Any]:
    """A signed-in client and a queue of so many items."""
    from django.core.management import call_command
    from django.test import Client

    call_command("migrate", verbosity=0)
    from annotations.models import Queue
    from annotations.queueing import fill
    from benchmarks.stage import make_evaluator, make_experiment
    from evalstudio.projects.models import Project, User
    from experiments.models import Output

    owner = User.objects.create_user("owner", password="a-long-password")
    project = Project.start("Benchmark", owner)
    options = [{"label": label, "percentage": share, "description": ""} for label, share in (("Good", 100), ("Bad", 0))]
    config = {
        "instructions": "Does it help?",
        "scoring": {"type": "enum", "options": options},
        "scale": None,
        "threshold": None,
        "direction": "higher",
        "runs_on": "result",
    }
    version = make_evaluator(project, "human", config)
    experiment = make_experiment(project, [f"{ANSWER} {number}" for number in range(items)])
    queue = Queue.objects.create(project=project, name="Week 47", author=owner)
    queue.versions.add(version)
    began = time.perf_counter()
    fill(queue, experiment, None, Output.objects.filter(experiment=experiment), owner)
    print(f"a queue of {items:,} items made in {time.perf_counter() - began:.2f} s")
    client = Client()
    client.force_login(owner)
    return client, queue


def measure(client: Any, queue: Any, grades: int) -> dict[str, tuple[list[float], list[float]]]:
    """Milliseconds by wall clock and processor of every request, by what was asked."""
    page = f"/p/{queue.project.slug}/review/queues/{queue.pk}/grade/"
    field = f"grade-{queue.versions.get().pk}"
    times: dict[str, tuple[list[float], list[float]]] = {"next item": ([], []), "submit": ([], [])}

    def timed(name: str, send: Any) -> Any:
        wall, processor = time.perf_counter(), time.process_time()
        reply = send()
        times[name][0].append((time.perf_counter() - wall) * 1000)
        times[name][1].append((time.process_time() - processor) * 1000)
        assert reply.status_code == 200, reply.status_code
        return reply

    for _ in range(grades):
        shown = timed("next item", lambda: client.get(page)).content.decode()
        item, after = re.findall(r'data-item="(\d+)"', shown)[:2]
        said = {field: "Good", "do": "submit", "seconds": "7", "shown": after}
        url = f"/p/{queue.project.slug}/review/items/{item}/grade/"
        timed("submit", lambda url=url, said=said: client.post(url, said, headers={"HX-Request": "true"}))
    return times


def report(times: dict[str, tuple[list[float], list[float]]]) -> bool:
    print(f"{'':<12}{'p50':>8}{'p95':>8}{'p50 cpu':>9}   load {os.getloadavg()[0]:.1f}")
    held = True
    for name, budget in (("next item", NEXT_MS), ("submit", SUBMIT_MS)):
        wall, processor = times[name]
        middle, late = statistics.median(wall), statistics.quantiles(wall, n=20)[-1]
        cpu = statistics.median(processor)
        held = held and cpu <= budget
        print(f"{name:<12}{middle:8.1f}{late:8.1f}{cpu:9.1f}   {'ok' if cpu <= budget else 'OVER'} (budget {budget})")
    return held


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--grades", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"EVALSTUDIO_DATA": folder, "DJANGO_SETTINGS_MODULE": "benchmarks.pages_settings"}
        import django

        django.setup()
        client, queue = stage(options.items)
        measure(client, queue, 5)
        held = report(measure(client, queue, options.grades))
    sys.exit(0 if held else 1)


if __name__ == "__main__":
    main()
