"""Pages that decide, over a project of 50 results with 100,000 evaluations each, one run of a classifier, 20 in pairs.

    python -m benchmarks.decide [--requests 40] [--results 50] [--cases 100000] [--keep FOLDER]

The runs are made as workers leave them: rows, and what a finished run gets ready for pages; what was worked out of
several is forgotten first. A page is opened first in a process that is loaded as served ones and has shown another
page, which may take 400 ms; then again and again, by Django's test client, within the budgets of every page (p50 35 ms,
p95 50 ms, 15 queries). What the page does not answer itself is worked out by the worker's function here, and its time
told apart; strengths from comparisons in pairs in a process of their own, which says how much memory they take. Times
are by the wall clock and of the processor; the load of the computer stands beside them, since others may be at work on
it. The exit status is 1 when a budget is missed by processor time.
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
from pathlib import Path

from benchmarks.large_results import COMPARED, database, fill
from benchmarks.pages import Timed, _time, _took

FIRST_MS = 400


# --- The measurements -------------------------------------------------------------------------------------------------
def pages() -> list[tuple[str, str]]:
    from django.urls import reverse

    from experiments.models import Run

    board, charts = reverse("leaderboard", args=["large"]), reverse("leaderboard-charts", args=["large"])
    run = Run.objects.get(version__evaluator__kind="classification")
    classes, results = reverse("run-classes", args=["classified", run.pk]), run.results_url
    return [
        ("runs, a plain list to compare with", reverse("run-list", args=["large"])),
        ("leaderboard", board),
        ("leaderboard, by cost", f"{board}?sort=cost"),
        ("leaderboard, one split", f"{board}?split=test"),
        ("charts of the leaderboard", charts),
        (f"leaderboard in pairs, {COMPARED} compared", reverse("leaderboard-pairs", args=["large"])),
        ("classes", classes),
        ("classes, at a threshold", f"{classes}?at=0.6&of=contract"),
        ("classes, a cell opened", f"{classes}?at=0.6&expected=billing&called=contract"),
        ("results, one split", f"{results}&split=test"),
        ("results, one topic", f"{results}&field=topic&value=topic+3"),
        ("results, a cell opened", f"{results}&expected=billing&label=contract"),
    ]


def first(address: str) -> tuple[float, float]:
    """Milliseconds of the first opening, by wall clock and processor, in a process loaded as served ones."""
    script = (
        "import sys, time, django; django.setup()\n"
        "from evalstudio.serving.children import load_everything; load_everything()\n"
        "from django.test import Client; from evalstudio.projects.models import User\n"
        "client = Client(); client.force_login(User.objects.get()); client.get('/p/large/runs/')\n"
        "began, used = time.perf_counter(), time.process_time(); assert client.get(sys.argv[1]).status_code == 200\n"
        "print((time.perf_counter() - began) * 1000, (time.process_time() - used) * 1000)"
    )
    said = subprocess.run([sys.executable, "-c", script, address], capture_output=True, text=True, check=True)
    wall, used = map(float, said.stdout.split())
    return wall, used


def first_said(opened: tuple[float, float]) -> str:
    wall, used = opened
    return f"   first {wall:6.0f} ms, {used:4.0f} of the processor {'ok' if used <= FIRST_MS else 'OVER'}"


def work_off() -> tuple[int, float, float]:
    """Does what pages have queued, as a worker would: tasks, seconds and processor seconds."""
    from django.utils.module_loading import import_string
    from django_q.models import OrmQ

    tasks = [row.task for row in OrmQ.objects.all()]
    OrmQ.objects.all().delete()
    wall, used = _took(lambda: [import_string(task["func"])(*task["args"]) for task in tasks])
    return len(tasks), wall, used


def strengths() -> str:
    """What strengths from all comparisons in pairs take of a worker, which has looked at nothing else."""
    script = (
        "import re, time, django; django.setup()\n"
        "from experiments.analysis.pairwise_strengths import strengths; from experiments.models import Run\n"
        "most = lambda: int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) / 1024\n"
        "runs = list(Run.objects.exclude(baseline=None).order_by('pk').values_list('pk', 'baseline'))\n"
        "before, began, used = most(), time.perf_counter(), time.process_time()\n"
        "assert strengths([run for run, _ in runs], runs[0][1])['strengths']\n"
        "wall, used = time.perf_counter() - began, time.process_time() - used\n"
        "print(f'{len(runs)} runs, {wall:.1f} s, {used:.1f} s of the processor, {most() - before:.0f} MB more')"
    )
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()


def measure(requests: int) -> list[tuple[Timed, float]]:
    from django.test import Client

    from evalstudio.projects.models import User
    from experiments.models import Derived

    client = Client()
    client.force_login(User.objects.get())
    Derived.objects.all().delete()
    found = []
    for name, address in pages():
        opened = first(address)
        tasks, wall, used = work_off()
        if tasks:
            print(f"  {name}: {tasks} answers by a worker, {wall:.1f} s, {used:.1f} s of the processor")
        gc.freeze()  # what a worker's work leaves behind is none of the page's
        timed = _time(client, name, address, requests)
        print(f"{timed}{first_said(opened)}", flush=True)
        found.append((timed, opened[1]))
    return found


def main() -> int:
    said = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    said.add_argument("--requests", type=int, default=40)
    said.add_argument("--results", type=int, default=50)
    said.add_argument("--cases", type=int, default=100_000)
    said.add_argument("--keep", type=Path)
    asked = said.parse_args()
    said_of_it = f"{asked.results} results of {asked.cases:,} evaluations"
    with database(asked.keep, lambda: fill(asked.results, asked.cases), said_of_it):
        found = measure(asked.requests)
        print(f"\nstrengths of a leaderboard in pairs: {strengths()}")
        print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB in this process")
    return 0 if all(timed.is_within and opened <= FIRST_MS for timed, opened in found) else 1


if __name__ == "__main__":
    sys.exit(main())
