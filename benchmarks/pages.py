"""Pages over a large project, rendered in this process, and the export of one experiment.

    python -m benchmarks.pages [--requests 60] [--experiments 20] [--keep FOLDER]

Each experiment has 10,000 outputs with 5 finished runs; twenty of them hold 1,000,000 evaluations. A page's time is
that of the whole request through Django's test client: session, access, queries, template. It is given by the wall
clock and as processor time, which a busy computer disturbs less; nothing here waits for anything else, so on an idle
one they are the same. The exit status is 1 when a page's p50 or p95 or an export misses its budget by processor time,
or a page needs more than 15 queries. With --keep the database stays in that folder and is used again.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CASES = 10_000
RUNS = 5
P50_MS, P95_MS, QUERIES, EXPORT_S = 35, 50, 15, 1.0
INPUT = (
    "I cancelled my contract on the 24th, but the app still shows a bill for December. The help page says that whoever "
    "cancels before the end of a month is not charged for the next one. When do I get my money back, and where to? "
)
ANSWER = (
    "Sorry about the confusion. Since you cancelled after the 20th, December is still billed in full, so the amount is "
    "correct and there is no refund for it. Your contract ends on 31 December and nothing is charged after that. If "
    "you think the date is wrong, reply with your cancellation number and a colleague checks it."
)
REASON = "The answer names the date and the amount, and both stand in the article. It leaves out where to look them up."


@dataclass(frozen=True)
class Timed:
    """What one page took: milliseconds at median and 95th percentile, by both clocks; queries of one request."""

    name: str
    wall: tuple[float, float]
    processor: tuple[float, float]
    queries: int

    @property
    def is_within(self) -> bool:
        p50, p95 = self.processor
        return p50 <= P50_MS and p95 <= P95_MS and self.queries <= QUERIES

    def __str__(self) -> str:
        sign = "ok" if self.is_within else "OVER"
        times = "".join(f"{each:8.1f}" for each in (*self.wall, *self.processor))
        return f"{self.name:<46}{times}{self.queries:9}   {sign}"


# --- The database -----------------------------------------------------------------------------------------------------
def fill(experiments: int) -> None:
    """A project with as many experiments of 10,000 outputs and 5 finished runs each; does nothing where it is there."""
    from django.core.management import call_command

    from evalstudio.projects.models import Project, User

    call_command("migrate", verbosity=0)
    if Project.objects.exists():
        return
    owner = User.objects.create_user("owner", password="a-long-password")
    Project.start("Empty", owner)
    project = Project.start("Large", owner)
    dataset_version = _dataset(project)
    versions = [_version(project, owner, number) for number in range(RUNS)]
    for number in range(experiments):
        _experiment(project, owner, dataset_version, versions, number)
    _sql("ANALYZE")


def _dataset(project: Any) -> Any:
    from experiments.models import Case, CaseSpan, Dataset, DatasetVersion

    dataset = Dataset.objects.create(project=project, name="questions", latest_version=1)
    version = DatasetVersion.objects.create(dataset=dataset, number=1, n_cases=CASES)
    cases = Case.objects.bulk_create(
        (
            Case(
                dataset=dataset,
                key=f"case-{number:05}",
                content_hash=f"{number}",
                inputs={"question": f"{number}. {INPUT}"},
                expected_outputs={"value": ANSWER},
                metadata={"topic": f"topic {number % 12}"},
            )
            for number in range(CASES)
        ),
        batch_size=500,
    )
    CaseSpan.objects.bulk_create(
        (
            CaseSpan(dataset=dataset, case=case, key=case.key, position=position, added_in=1)
            for position, case in enumerate(cases)
        ),
        batch_size=500,
    )
    return version


def _version(project: Any, owner: Any, number: int) -> Any:
    from evaluators.models import Evaluator

    config = {"code": "", "scoring": {"type": "percentage"}, "threshold": 0.6, "direction": "higher", "seed": number}
    evaluator = Evaluator.objects.create(project=project, name=f"Evaluator {number + 1}", kind="heuristic")
    return evaluator.revise(config, schema=1, author=owner)


def _experiment(project: Any, owner: Any, dataset_version: Any, versions: list[Any], number: int) -> None:
    from django.db import transaction

    from experiments.analysis.summary import summaries
    from experiments.models import Experiment, Run, RunState, System

    with transaction.atomic():
        system = System.objects.create(project=project, name=f"system {number + 1}")
        experiment = Experiment.objects.create(
            project=project, system=system, dataset_version=dataset_version, source="file", author=owner
        )
        _outputs(experiment)
        runs = [
            Run.objects.create(version=version, experiment=experiment, lane="cpu", state=RunState.FINISHED, revision=1)
            for version in versions
        ]
        for run in runs:
            _evaluations(run, with_reasons=number == 0)
    summaries(runs)


def _outputs(experiment: Any) -> None:
    _sql(
        """INSERT INTO experiments_output (experiment_id, case_id, attempt, content_hash, error, latency_ms, cost_usd)
           SELECT %s, id, 0, content_hash, '', 900 + id %% 700, 0.0003 FROM experiments_case ORDER BY id""",
        experiment.pk,
    )
    _sql(
        """INSERT INTO experiments_outputbody (output_id, outputs)
           SELECT id, '{"value": "' || id || ' ' || %s || '"}' FROM experiments_output WHERE experiment_id = %s""",
        ANSWER,
        experiment.pk,
    )


def _evaluations(run: Any, *, with_reasons: bool) -> None:
    """Nineteen of twenty rows scored, the others unscored or failed, in an order that repeats but looks mixed."""
    _sql(
        """INSERT INTO experiments_evaluation
             (run_id, output_id, repeat, state, score, passed, why, latency_ms, cost_usd, settled_at)
           SELECT %s, id, 0, kept.state,
                  CASE WHEN kept.state = 2 THEN kept.score END,
                  CASE WHEN kept.state = 2 THEN kept.score >= 0.6 END,
                  CASE WHEN kept.state = 3 THEN 'unparsed' WHEN kept.state = 4 THEN 'time limit' ELSE '' END,
                  300 + kept.mixed %% 400, 0.0002, '2026-01-01 00:00:00'
           FROM (SELECT id, mixed, (mixed %% 1000) / 999.0 AS score,
                        CASE mixed %% 40 WHEN 7 THEN 3 WHEN 23 THEN 4 ELSE 2 END AS state
                 FROM (SELECT id, (id * 7919 + %s * 104729) %% 1000003 AS mixed FROM experiments_output
                       WHERE experiment_id = %s)) AS kept
           ORDER BY id""",
        run.pk,
        run.version_id,
        run.experiment_id,
    )
    if with_reasons:
        _sql(
            """INSERT INTO experiments_evaluationbody (evaluation_id, reason)
               SELECT id, %s FROM experiments_evaluation WHERE run_id = %s""",
            REASON,
            run.pk,
        )


def _sql(statement: str, *parameters: Any) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)


# --- The measurements -------------------------------------------------------------------------------------------------
def measure(requests: int) -> list[Timed]:
    from django.test import Client

    from evalstudio.projects.models import User

    client = Client()
    client.force_login(User.objects.get())
    return [_time(client, name, address, requests) for name, address in _pages()]


def _pages() -> list[tuple[str, str]]:
    from django.urls import reverse

    from evaluators.models import Evaluator
    from experiments.models import Experiment, Output, Run

    experiment, run = Experiment.objects.first(), Run.objects.order_by("pk")[2]
    first = Output.objects.filter(experiment=experiment).order_by("pk")[1]
    middle = Output.objects.filter(experiment=experiment).order_by("pk")[CASES // 2]
    grid = reverse("experiment-page", args=["large", experiment.pk])
    return [
        ("an empty list: the frame of every page", reverse("run-list", args=["empty"])),
        ("experiments", reverse("experiment-list", args=["large"])),
        ("results, worst first", grid),
        ("results, by the third evaluator, best first", f"{grid}?by={run.pk}&sort=high"),
        ("results, in the order of the data set", f"{grid}?sort=case"),
        ("results, failed", f"{grid}?show=failed"),
        ("results, below threshold, third evaluator", f"{grid}?by={run.pk}&show=below"),
        ("results, cases found by key", f"{grid}?q=777"),
        ("results, page in the middle", f"{grid}?after={_cursor_in_the_middle(run)}&by={run.pk}"),
        ("results with a case beside them", f"{grid}?sort=case&peek={first.pk}"),
        ("a case in the peek panel", reverse("experiment-peek", args=["large", experiment.pk, middle.pk])),
        ("runs", reverse("run-list", args=["large"])),
        ("one run", reverse("run-page", args=["large", run.pk])),
        ("runs of an evaluator", reverse("evaluator-runs", args=["large", Evaluator.objects.first().pk])),
        ("home", reverse("home-results", args=["large"])),
    ]


def _cursor_in_the_middle(run: Any) -> str:
    from evalstudio.web.pagination import Order, page_of
    from evaluators.core import Status
    from experiments.models import Evaluation

    rows = Evaluation.objects.filter(run=run, state=Status.SCORED, score__gt=0.5)
    return page_of(rows, Order("score"), {}).next or ""


def _time(client: Any, name: str, address: str, requests: int) -> Timed:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with CaptureQueriesContext(connection) as seen:
        answer = client.get(address)
    queries = len(seen)  # now, since the next request forgets them
    assert answer.status_code == 200, (name, answer.status_code)
    took = [_took(lambda: client.get(address)) for _ in range(requests)]
    return Timed(
        name, _median_and_p95([wall for wall, _ in took]), _median_and_p95([used for _, used in took]), queries
    )


def _median_and_p95(seconds: list[float]) -> tuple[float, float]:
    return statistics.median(seconds) * 1000, sorted(seconds)[int(len(seconds) * 0.95)] * 1000


def export(form: str) -> tuple[float, float]:
    """Seconds and processor seconds until the last line of an export of 10,000 rows has been written."""
    from django.test import Client
    from django.urls import reverse

    from evalstudio.projects.models import User
    from experiments.models import Experiment

    client = Client()
    client.force_login(User.objects.get())
    address = reverse("experiment-export", args=["large", Experiment.objects.first().pk, form])
    lines = 0

    def read() -> None:
        nonlocal lines
        lines = sum(part.count(b"\n") for part in client.get(address).streaming_content)

    took = min((_took(read) for _ in range(3)), key=lambda pair: pair[1])
    assert lines >= CASES, lines
    return took


def _took(act: Callable[[], Any]) -> tuple[float, float]:
    """Seconds by the wall clock and of the processor."""
    began, used = time.perf_counter(), time.process_time()
    act()
    return time.perf_counter() - began, time.process_time() - used


def main() -> int:
    said = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    said.add_argument("--requests", type=int, default=60)
    said.add_argument("--experiments", type=int, default=20)
    said.add_argument("--keep", type=Path)
    asked = said.parse_args()
    with tempfile.TemporaryDirectory(prefix="evalstudio-pages-") as folder:
        os.environ["EVALSTUDIO_DATA"] = str(asked.keep or folder)
        os.environ.pop("DATABASE_URL", None)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.pages_settings")
        import django

        django.setup()
        wall, _ = _took(lambda: fill(asked.experiments))
        print(f"{asked.experiments * CASES * RUNS:,} evaluations, ready in {wall:.1f} s\n")
        print(f"{'':<46}{'wall p50':>8}{'p95':>8}{'proc. p50':>8}{'p95':>8}{'queries':>9}")
        pages = measure(asked.requests)
        print("\n".join(map(str, pages)))
        exports = {form: export(form) for form in ("jsonl", "csv")}
        for form, (wall, used) in exports.items():
            print(f"{CASES:,} rows with {RUNS} scores each as {form}: {wall:.2f} s, {used:.2f} s of the processor")
    within = all(page.is_within for page in pages) and all(used <= EXPORT_S for _, used in exports.values())
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
