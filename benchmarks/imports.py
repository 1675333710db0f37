"""Imports of 10,000 rows, from the file's arrival to the last commit, beside a plain loop over the same rows.

    python -m benchmarks.imports [--rows 10000] [--rounds 5]

A row is about 1 kB of JSON. `cases` brings cases alone, `cases and outputs` an experiment as well, `again` the same
file a second time, which changes nothing. `plain loop` is what one writes first: a `get_or_create` of the case and its
span for every row in one transaction, on a tenth of the rows, scaled; it checks nothing and cannot be resumed. The
rounds take turns; the best of each counts, since the machine is shared. Exit status 1 if `cases` misses its budget.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BUDGET_S = 1.5
WORDS = "the of a refund parcel order customer late delivery asks policy days address wrong tracking number support"
OUTPUTS_LEFT_OUT = {"outputs.value": "ignore", "latency_ms": "ignore"}


def write_rows(path: Path, rows: int) -> None:
    chance, vocabulary = random.Random(1), WORDS.split()

    def text(words: int) -> str:
        return " ".join(chance.choices(vocabulary, k=words))

    with path.open("w") as file:
        for number in range(rows):
            row = {
                "id": f"case-{number}",
                "inputs": {"question": f"{text(20)} {number}", "context": text(60)},
                "expectedOutputs": {"value": text(25)},
                "outputs": {"value": text(30)},
                "metadata": {"source": "web", "lang": "en"},
                "latency_ms": chance.random() * 1000,
            }
            file.write(json.dumps(row) + "\n")


def bring(project: Any, path: Path, dataset: str, **options: Any) -> float:
    """Seconds to check, read and store the file."""
    from django.core.files import File

    from experiments.datasets.importing import running
    from experiments.datasets.importing.starting import prepare_import
    from experiments.models import ImportState

    began = time.perf_counter()
    with path.open("rb") as file:
        job = prepare_import(project, None, File(file), {"dataset": dataset, **options})
    running.run(job.pk)
    took = time.perf_counter() - began
    job.refresh_from_db()
    assert job.state == ImportState.DONE
    assert not job.counts["bad"]
    return took


def plain_loop(project: Any, path: Path, dataset: str, rows: int) -> float:
    """Seconds for all rows, measured on the first tenth."""
    from django.db import transaction

    from experiments.models import Case, CaseSpan, Dataset

    part = rows // 10
    began = time.perf_counter()
    with path.open() as file, transaction.atomic():
        target = Dataset.objects.create(project=project, name=dataset)
        for position, line in zip(range(part), file, strict=False):
            row = json.loads(line)
            content = {
                "inputs": row["inputs"],
                "expected_outputs": row["expectedOutputs"],
                "metadata": row["metadata"],
                "content_hash": str(position),
            }
            case, _ = Case.objects.get_or_create(dataset=target, key=row["id"], defaults=content)
            CaseSpan.objects.get_or_create(
                dataset=target, key=row["id"], defaults={"case": case, "position": position, "added_in": 1}
            )
    return (time.perf_counter() - began) * rows / part


def measure(path: Path, rows: int, rounds: int) -> dict[str, list[float]]:
    from evalstudio.projects.models import Project

    project = Project.objects.create(name="Benchmark", slug="benchmark")
    took: dict[str, list[float]] = {}
    for turn in range(rounds):
        dataset = f"cases {turn}"
        took.setdefault("cases", []).append(bring(project, path, dataset, targets=OUTPUTS_LEFT_OUT))
        took.setdefault("again", []).append(bring(project, path, dataset, targets=OUTPUTS_LEFT_OUT))
        took.setdefault("cases and outputs", []).append(bring(project, path, f"both {turn}", system="bot"))
        took.setdefault("plain loop", []).append(plain_loop(project, path, f"loop {turn}", rows))
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalstudio.settings")
    with tempfile.TemporaryDirectory(prefix="evalstudio-bench-") as folder:
        os.environ["EVALSTUDIO_DATA"] = folder
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        path = Path(folder) / "rows.jsonl"
        write_rows(path, asked.rows)
        took = measure(path, asked.rows, asked.rounds)
    print(f"{asked.rows:,} rows        best   median   rows/s")
    for name, seconds in took.items():
        best, median = min(seconds), sorted(seconds)[len(seconds) // 2]
        print(f"{name:18} {best:5.2f} s  {median:5.2f} s  {asked.rows / best:7,.0f}")
    budget = BUDGET_S * asked.rows / 10_000
    print(f"budget for cases   {budget:5.2f} s")
    sys.exit(min(took["cases"]) > budget)


if __name__ == "__main__":
    main()
