"""The page of two results and of three, each with 100,000 outputs that five evaluators judged.

    python -m benchmarks.compare [--requests 40] [--cases 100000] [--keep FOLDER]

Four evaluators judged every result alone, one compares the first two. A page is opened first in a process that has
shown another page only, and while nothing of the comparison is known: that may take 400 ms. Then it is asked for again
and again within the budgets of every page. Times and the exit status are as in `benchmarks.decide`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from benchmarks.decide import FIRST_MS, first, first_said
from benchmarks.large_results import cases_of, database, version_of
from benchmarks.pages import ANSWER, _sql, _time

EVALUATORS = ("Correctness", "Tone", "Length", "Cites a source")
RESULTS = 3


# --- The database -----------------------------------------------------------------------------------------------------
def fill(cases: int) -> None:
    """Three results over one data set; does nothing where they are there."""
    from django.core.management import call_command

    from evalstudio.projects.models import Project, User
    from experiments.models import Dataset, DatasetVersion

    call_command("migrate", verbosity=0)
    if Project.objects.exists():
        return
    owner = User.objects.create_user("owner", password="a-long-password")
    project = Project.start("Large", owner)
    dataset = Dataset.objects.create(project=project, name="questions", latest_version=1)
    dataset_version = DatasetVersion.objects.create(dataset=dataset, number=1, n_cases=cases)
    cases_of(dataset, cases)
    versions = [version_of(project, owner, name) for name in EVALUATORS]
    results = [_result(project, owner, dataset_version, number) for number in range(RESULTS)]
    for number, result in enumerate(results):
        for place, version in enumerate(versions):
            _judge(version, result, None, 7 * number + place)
    _judge(version_of(project, owner, "Preference", runs_on="comparison"), results[1], results[0], 99)
    _sql("ANALYZE")


def _result(project: Any, owner: Any, dataset_version: Any, number: int) -> Any:
    from experiments.models import Experiment, System

    system = System.objects.create(project=project, name=f"system {number + 1}")
    experiment = Experiment.objects.create(
        project=project, system=system, dataset_version=dataset_version, source="file", author=owner
    )
    _sql(
        """INSERT INTO experiments_output (experiment_id, case_id, attempt, content_hash, error, latency_ms, cost_usd)
           SELECT %s, id, 0, content_hash, '', 900, 0.0003 FROM experiments_case ORDER BY id""",
        experiment.pk,
    )
    _sql(
        """INSERT INTO experiments_outputbody (output_id, outputs)
           SELECT id, '{"value": "' || CASE case_id %% 3 WHEN 0 THEN '' ELSE 'By ' || %s || ': ' END || %s || '"}'
           FROM experiments_output WHERE experiment_id = %s""",
        number,
        ANSWER,
        experiment.pk,
    )
    return experiment


def _judge(version: Any, experiment: Any, baseline: Any, seed: int) -> None:
    """Scores from a few steps, so that many are equal; one of forty rows has none."""
    from django.db import transaction

    from experiments.analysis.readying import ready
    from experiments.models import Run, RunState

    with transaction.atomic():
        run = Run.objects.create(
            version=version, experiment=experiment, baseline=baseline, lane="cpu", state=RunState.FINISHED, revision=1
        )
        _sql(
            """INSERT INTO experiments_evaluation (run_id, output_id, baseline_output_id, repeat, state, score, passed,
                                                   why, latency_ms, settled_at)
               SELECT %s, id, partner, 0, state, CASE WHEN state = 2 THEN score END,
                      CASE WHEN state = 2 THEN score >= 0.6 END, CASE WHEN state = 3 THEN 'unparsed' ELSE '' END,
                      300, '2026-01-01 00:00:00'
               FROM (SELECT id, partner, CASE mixed %% 40 WHEN 7 THEN 3 ELSE 2 END AS state,
                            MIN(1.0, (mixed %% 11 + %s %% 3) / 10.0) AS score
                     FROM (SELECT mine.id, theirs.id AS partner, (mine.case_id * 7919 + %s * 104729) %% 1000003 AS mixed
                           FROM experiments_output AS mine
                           LEFT JOIN experiments_output AS theirs
                             ON theirs.experiment_id = %s AND theirs.case_id = mine.case_id AND theirs.attempt = 0
                           WHERE mine.experiment_id = %s)) AS kept ORDER BY id""",
            run.pk,
            seed,
            seed,
            baseline.pk if baseline else None,
            experiment.pk,
        )
    ready(run.pk)


# --- The measurements -------------------------------------------------------------------------------------------------
def pages() -> list[tuple[str, str]]:
    from experiments.models import Experiment, Output, Run

    old, new, other = Experiment.objects.order_by("pk")
    pair = new.url_against(old.pk)
    run = Run.objects.filter(experiment=new, baseline=None).order_by("pk")[2]
    middle = Output.objects.filter(experiment=new).order_by("pk")[Output.objects.filter(experiment=new).count() // 2]
    return [
        ("two results", pair),
        ("two results, by one evaluator, best first", f"{pair}?by={run.pk}&sort=high&show=improved"),
        ("two results, evaluators disagree", f"{pair}?show=disagree"),
        ("two results, page in the middle", f"{pair}?after={middle.pk}"),
        ("two results, cases found by key", f"{pair}?q=777"),
        ("two results, with their texts", f"{pair}?as=texts&text=inline"),
        ("two results, text changed", f"{pair}?show=changed"),
        ("a case beside the list", f"{pair}?peek={middle.pk}"),
        ("a case in the peek panel", f"{pair}peek/{middle.pk}/"),
        ("three results", f"{pair}?also={other.pk}"),
        ("three results, page in the middle", f"{pair}?also={other.pk}&after={middle.pk}&show=regressed"),
    ]


def measure(requests: int) -> bool:
    from django.test import Client

    from evalstudio.projects.models import User
    from experiments.models import PairColumn

    client, is_within = Client(), True
    client.force_login(User.objects.get())
    PairColumn.objects.all().delete()
    for number, (name, address) in enumerate(pages()):
        opened = first(address) if number == 0 else None
        client.get(address)  # what it works out once is not told apart but for the first page
        timed = _time(client, name, address, requests)
        print(f"{timed}{first_said(opened) if opened else ''}", flush=True)
        is_within &= timed.is_within and (opened is None or opened[1] <= FIRST_MS)
    return is_within


def main() -> int:
    said = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    said.add_argument("--requests", type=int, default=40)
    said.add_argument("--cases", type=int, default=100_000)
    said.add_argument("--keep", type=Path)
    asked = said.parse_args()
    said_of_it = f"{RESULTS} results of {asked.cases:,} outputs"
    with database(asked.keep, lambda: fill(asked.cases), said_of_it):
        return 0 if measure(asked.requests) else 1


if __name__ == "__main__":
    sys.exit(main())
