"""Large results for benchmarks, as workers leave them: rows, and what a finished run gets ready for pages."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.pages import _sql

TOPICS = 12
LABELS = ("billing", "contract", "delivery", "returns", "other")
COMPARED = 20  # results that are compared with the first, pair by pair


@contextmanager
def database(keep: Path | None, fill_it: Callable[[], None], said: str) -> Iterator[None]:
    """A filled database, in a folder that is kept or goes with this, in a process loaded as `serve` loads its own."""
    with tempfile.TemporaryDirectory(prefix="evalstudio-benchmark-") as folder:
        os.environ["EVALSTUDIO_DATA"] = str(keep or folder)
        os.environ.pop("DATABASE_URL", None)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "benchmarks.pages_settings")
        import django

        from evalstudio.serving.children import load_everything

        django.setup()
        load_everything()
        began = time.perf_counter()
        fill_it()
        print(f"{said}, ready in {time.perf_counter() - began:.0f} s")
        print(f"load {Path('/proc/loadavg').read_text().split()[0]}\n")
        print(f"{'':<46}{'wall p50':>8}{'p95':>8}{'proc. p50':>8}{'p95':>8}{'queries':>9}")
        yield


def fill(results: int, cases: int) -> None:
    """A project with as many results over one data set, each judged once; does nothing where it is there."""
    from django.core.management import call_command

    from evalstudio.projects.models import Project, User
    from experiments.models import Experiment

    call_command("migrate", verbosity=0)
    if Project.objects.exists():
        return
    owner = User.objects.create_user("owner", password="a-long-password")
    project = Project.start("Large", owner)
    dataset_version = _dataset(project, cases)
    version = version_of(project, owner, "Correctness")
    for number in range(results):
        _result(project, owner, dataset_version, version, number)
    comparative = version_of(project, owner, "Preference", runs_on="comparison")
    baseline, *others = Experiment.objects.filter(project=project).order_by("pk")[: COMPARED + 1]
    for experiment in others:
        _compared(comparative, experiment, baseline)
    _classified(owner, cases)
    _sql("ANALYZE")


def _dataset(project: Any, cases: int) -> Any:
    from experiments.models import Dataset, DatasetVersion

    dataset = Dataset.objects.create(project=project, name="questions", latest_version=1)
    cases_of(dataset, cases)
    return DatasetVersion.objects.create(dataset=dataset, number=1, n_cases=cases)


def version_of(project: Any, owner: Any, name: str, **more: Any) -> Any:
    from evaluators.models import Evaluator

    config = {"code": "", "scoring": {"type": "percentage"}, "threshold": 0.6, "direction": "higher", "seed": 0}
    evaluator = Evaluator.objects.create(project=project, name=name, kind="heuristic")
    scale = {"scale": None} if more else {}
    return evaluator.revise(config | scale | more, schema=2 if more else 1, author=owner)


def cases_of(dataset: Any, cases: int) -> None:
    _sql(
        """WITH RECURSIVE counted(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n + 1 < %s)
           INSERT INTO experiments_case
             (dataset_id, key, content_hash, inputs, expected_outputs, metadata, split, inputs_hash)
           SELECT %s, 'case-' || n, n, '{"question": "Question ' || n || '"}', '{"value": "Answer"}',
                  '{"topic": "topic ' || (n %% %s) || '"}', CASE n %% 5 WHEN 0 THEN 'test' ELSE 'train' END, ''
           FROM counted""",
        cases,
        dataset.pk,
        TOPICS,
    )
    _sql(
        """INSERT INTO experiments_casespan (dataset_id, case_id, key, position, added_in, removed_in)
           SELECT dataset_id, id, key, id, 1, 2147483647 FROM experiments_case WHERE dataset_id = %s""",
        dataset.pk,
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


def _compared(version: Any, experiment: Any, baseline: Any) -> None:
    """Wins, losses and ties of one result against another one, case by case."""
    from django.db import transaction

    from experiments.analysis.readying import ready
    from experiments.models import Run, RunState

    with transaction.atomic():
        run = Run.objects.create(
            version=version, experiment=experiment, baseline=baseline, lane="cpu", state=RunState.FINISHED, revision=1
        )
        _sql(
            """INSERT INTO experiments_evaluation
                 (run_id, output_id, baseline_output_id, repeat, state, score, why, latency_ms, settled_at)
               SELECT %s, mine.id, theirs.id, 0, 2, ((mine.id * 7919) %% 1000003 %% 5 < 3) * 0.5
                      + ((mine.id * 104729) %% 1000003 %% 2) * 0.5, '', 300, '2026-01-01 00:00:00'
               FROM experiments_output AS mine
               JOIN experiments_output AS theirs
                 ON theirs.experiment_id = %s AND theirs.case_id = mine.case_id AND theirs.attempt = 0
               WHERE mine.experiment_id = %s ORDER BY mine.id""",
            run.pk,
            baseline.pk,
            experiment.pk,
        )
    ready(run.pk)


def _classified(owner: Any, cases: int) -> None:
    """A project with one result, whose classifier gave every label a score."""
    from django.db import transaction

    from evalstudio.projects.models import Project
    from evaluators.models import Evaluator
    from evaluators.starters import STARTERS
    from experiments.analysis.readying import ready
    from experiments.models import Experiment, Run, RunLabel, RunState, System

    project = Project.start("Classified", owner)
    config = STARTERS["classification_roc_auc"].config | {"mode": "multiclass", "labels": list(LABELS)}
    evaluator = Evaluator.objects.create(project=project, name="Intent", kind="classification")
    version = evaluator.revise(config, schema=2, author=owner)
    dataset_version = _dataset(project, cases)
    with transaction.atomic():
        experiment = Experiment.objects.create(
            project=project,
            system=System.objects.create(project=project, name="system 1"),
            dataset_version=dataset_version,
            source="file",
            author=owner,
        )
        run = Run.objects.create(
            version=version, experiment=experiment, lane="cpu", state=RunState.FINISHED, revision=1
        )
        RunLabel.objects.bulk_create(
            RunLabel(run=run, label_id=number, label=label) for number, label in enumerate(LABELS, 1)
        )
        _sql(
            """INSERT INTO experiments_output (experiment_id, case_id, attempt, content_hash, error)
               SELECT %s, id, 0, content_hash, '' FROM experiments_case WHERE dataset_id = %s ORDER BY id""",
            experiment.pk,
            dataset_version.dataset_id,
        )
        _labelled(run, experiment)
    ready(run.pk)


def _labelled(run: Any, experiment: Any) -> None:
    """Each row with its expected label, the one of the highest score, and the scores of all."""
    raw = ", ".join(
        f"((id * {7919 + 104 * number}) %% 1000003 %% 1000) / 1000.0 + (expected = {number}) * 0.5 AS s{number}"
        for number in range(1, len(LABELS) + 1)
    )
    highest = f"MAX({', '.join(f's{number}' for number in range(1, len(LABELS) + 1))})"
    given = " ".join(f"WHEN s{number} = {highest} THEN {number}" for number in range(1, len(LABELS) + 1))
    members = " || ',' || ".join(
        f"""'"{number}":' || ROUND(s{number} / 1.5, 3)""" for number in range(1, len(LABELS) + 1)
    )
    rows = f"""SELECT id, expected, CASE {given} END AS given, '{{' || {members} || '}}' AS scores
               FROM (SELECT id, expected, {raw}
                     FROM (SELECT id, 1 + (id * 31) %% {len(LABELS)} AS expected FROM experiments_output
                           WHERE experiment_id = {experiment.pk}))"""
    _sql(
        f"""INSERT INTO experiments_evaluation
              (run_id, output_id, repeat, state, score, passed, label_id, expected_id, why, latency_ms, settled_at)
            SELECT %s, id, 0, 2, given = expected, given = expected, given, expected, '', 1, '2026-01-01 00:00:00'
            FROM ({rows}) ORDER BY id""",
        run.pk,
    )
    _sql(
        f"""INSERT INTO experiments_evaluationbody (evaluation_id, reason, label_scores)
            SELECT evaluation.id, '', made.scores FROM ({rows}) AS made
            JOIN experiments_evaluation AS evaluation ON evaluation.run_id = %s AND evaluation.output_id = made.id""",
        run.pk,
    )
