"""Pages that decide, over a project of 50 results with 100,000 evaluations each.

    python -m benchmarks.decide [--requests 40] [--results 50] [--cases 100000] [--keep FOLDER]

The runs are made as workers leave them: rows, and what a finished run gets ready for pages. A page is opened first in
a process that has shown nothing yet, which may take 400 ms; then again and again, by Django's test client, within the
budgets of every page (p50 35 ms, p95 50 ms, 15 queries). What the page does not answer itself is worked out by the
worker's function here, and its time told apart. Times are by the wall clock and of the processor; the load of the
computer stands beside them, since others may be at work on it. The exit status is 1 when a budget is missed by
processor time.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.pages import Timed, _sql, _time, _took

FIRST_MS = 400
TOPICS = 12


# --- The database -----------------------------------------------------------------------------------------------------
def fill(results: int, cases: int) -> None:
    """A project with as many results over one data set, each judged once; does nothing where it is there."""
    from django.core.management import call_command

    from evalstudio.projects.models import Project, User
    from evaluators.models import Evaluator
    from experiments.models import Dataset, DatasetVersion

    call_command("migrate", verbosity=0)
    if Project.objects.exists():
        return
    owner = User.objects.create_user("owner", password="a-long-password")
    project = Project.start("Large", owner)
    dataset = Dataset.objects.create(project=project, name="questions", latest_version=1)
    dataset_version = DatasetVersion.objects.create(dataset=dataset, number=1, n_cases=cases)
    _cases(dataset, cases)
    config = {"code": "", "scoring": {"type": "percentage"}, "threshold": 0.6, "direction": "higher", "seed": 0}
    evaluator = Evaluator.objects.create(project=project, name="Correctness", kind="heuristic")
    version = evaluator.revise(config, schema=1, author=owner)
    for number in range(results):
        _result(project, owner, dataset_version, version, number)
    _sql("ANALYZE")


def _cases(dataset: Any, cases: int) -> None:
    _sql(
        """WITH RECURSIVE counted(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n + 1 < %s)
           INSERT INTO experiments_case
             (dataset_id, key, content_hash, inputs, expected_outputs, metadata, split, inputs_hash)
           SELECT %s, 'case-' || n, n, '{"question": "Question ' || n || '"}', '{"value": "Answer"}',
                  '{"topic": "topic ' || n %% %s || '"}', CASE n %% 5 WHEN 0 THEN 'test' ELSE 'train' END, ''
           FROM counted""",
        cases,
        dataset.pk,
        TOPICS,
    )
    _sql(
        """INSERT INTO experiments_casespan (dataset_id, case_id, key, position, added_in, removed_in)
           SELECT dataset_id, id, key, id, 1, 2147483647 FROM experiments_case"""
    )


def _result(project: Any, owner: Any, dataset_version: Any, version: Any, number: int) -> None:
    """A system whose scores lie a little above those of the one before it, on every case with noise of its own."""
    from django.db import transaction

    from experiments.analysis.readying import ready
    from experiments.models import Experiment, Run, RunState, System

    with transaction.atomic():
        system = System.objects.create(project=project, name=f"system {number + 1}")
        experiment = Experiment.objects.create(
            project=project, system=system, dataset_version=dataset_version, source="file", author=owner
        )
        _sql(
            """INSERT INTO experiments_output
                 (experiment_id, case_id, attempt, content_hash, error, latency_ms, cost_usd)
               SELECT %s, id, 0, content_hash, '', 900 + id %% 700, %s FROM experiments_case ORDER BY id""",
            experiment.pk,
            0.0003 + number / 100_000,
        )
        run = Run.objects.create(
            version=version, experiment=experiment, lane="cpu", state=RunState.FINISHED, revision=1
        )
        _sql(
            """INSERT INTO experiments_evaluation
                 (run_id, output_id, repeat, state, score, passed, why, latency_ms, cost_usd, settled_at)
               SELECT %s, id, 0, state, CASE WHEN state = 2 THEN score END, CASE WHEN state = 2 THEN score >= 0.6 END,
                      CASE WHEN state = 3 THEN 'unparsed' ELSE '' END, 300, 0.0002, '2026-01-01 00:00:00'
               FROM (SELECT id, CASE mixed %% 40 WHEN 7 THEN 3 ELSE 2 END AS state,
                            MIN(1.0, ((mixed %% 1000) + 3.0 * %s) / 1150.0) AS score
                     FROM (SELECT id, (id * 7919 + %s * 104729) %% 1000003 AS mixed FROM experiments_output
                           WHERE experiment_id = %s)) AS kept ORDER BY id""",
            run.pk,
            number % 40,
            number,
            experiment.pk,
        )
    ready(run.pk)


# --- The measurements -------------------------------------------------------------------------------------------------
def pages() -> list[tuple[str, str]]:
    from django.urls import reverse

    board, charts = reverse("leaderboard", args=["large"]), reverse("leaderboard-charts", args=["large"])
    return [
        ("runs, a plain list to compare with", reverse("run-list", args=["large"])),
        ("leaderboard", board),
        ("leaderboard, by cost", f"{board}?sort=cost"),
        ("leaderboard, one split", f"{board}?split=test"),
        ("charts of the leaderboard", charts),
        ("leaderboard in pairs, none compared", reverse("leaderboard-pairs", args=["large"])),
    ]


def first(address: str) -> float:
    """Milliseconds of the first opening, in a process of its own that is loaded as served ones and has shown a page."""
    script = (
        "import sys, time, django; django.setup()\n"
        "from evalstudio.serving.children import load_everything; load_everything()\n"
        "from django.test import Client; from evalstudio.projects.models import User\n"
        "client = Client(); client.force_login(User.objects.get()); client.get('/p/large/runs/')\n"
        "began = time.perf_counter(); assert client.get(sys.argv[1]).status_code == 200\n"
        "print((time.perf_counter() - began) * 1000)"
    )
    said = subprocess.run([sys.executable, "-c", script, address], capture_output=True, text=True, check=True)
    return float(said.stdout)


def work_off() -> tuple[int, float, float]:
    """Does what pages have queued, as a worker would: tasks, seconds and processor seconds."""
    from django.utils.module_loading import import_string
    from django_q.models import OrmQ

    tasks = [row.task for row in OrmQ.objects.all()]
    OrmQ.objects.all().delete()
    wall, used = _took(lambda: [import_string(task["func"])(*task["args"]) for task in tasks])
    return len(tasks), wall, used


def measure(requests: int) -> list[tuple[Timed, float]]:
    from django.test import Client

    from evalstudio.projects.models import User

    client = Client()
    client.force_login(User.objects.get())
    found = []
    for name, address in pages():
        opened = first(address)
        tasks, wall, used = work_off()
        if tasks:
            print(f"  {name}: {tasks} answers by a worker, {wall:.1f} s, {used:.1f} s of the processor")
        timed = _time(client, name, address, requests)
        print(f"{timed}   first {opened:6.0f} ms {'ok' if opened <= FIRST_MS else 'OVER'}", flush=True)
        found.append((timed, opened))
    return found


def main() -> int:
    said = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    said.add_argument("--requests", type=int, default=40)
    said.add_argument("--results", type=int, default=50)
    said.add_argument("--cases", type=int, default=100_000)
    said.add_argument("--keep", type=Path)
    asked = said.parse_args()
    with tempfile.TemporaryDirectory(prefix="evalstudio-decide-") as folder:
        os.environ["EVALSTUDIO_DATA"] = str(asked.keep or folder)
        os.environ.pop("DATABASE_URL", None)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.pages_settings")
        import django

        from evalstudio.serving.children import load_everything

        django.setup()
        load_everything()
        began = time.perf_counter()
        fill(asked.results, asked.cases)
        print(f"{asked.results} results of {asked.cases:,} evaluations, ready in {time.perf_counter() - began:.0f} s")
        print(f"load {Path('/proc/loadavg').read_text().split()[0]}\n")
        print(f"{'':<46}{'wall p50':>8}{'p95':>8}{'proc. p50':>8}{'p95':>8}{'queries':>9}")
        found = measure(asked.requests)
        print(f"\nat most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB in this process")
    return 0 if all(timed.is_within and opened <= FIRST_MS for timed, opened in found) else 1


if __name__ == "__main__":
    sys.exit(main())
