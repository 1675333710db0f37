"""Rules over 20,000 outputs in the background, every score stored: rows a second of one worker process.

    python -m benchmarks.rules [--rows 20000]

`plain` is a rule that costs nothing (the length of a text), so what is measured is the ledger: claim, read, settle.
`heuristic` is a user's JavaScript in the sandbox, a pristine machine for every row.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

CODE = "function evaluate({ outputs }) { return outputs.value.length > 900 ? 1 : 0; }"
BUDGETS = {"plain": 20_000, "heuristic": 2_000}


def _plain_kind() -> Any:
    from evaluators.core import Needs, Sample, Score, Status

    class Plain:
        key, schema = "plain", 1

        def load(self, stored: dict, schema: int) -> dict:
            return stored

        def needs(self, config: dict) -> Needs:
            return Needs("cpu")

        def prepare(self, config: dict, tools: Any) -> Callable[[Sequence[Sample]], list[Score]]:
            return lambda samples: [
                Score(Status.SCORED, value=min(1.0, len(sample.outputs["value"]) / 2000), passed=True)
                for sample in samples
            ]

    return Plain()


def measure(kind: str, rows: int) -> float:
    """Rows a second from the start of a turn to its last commit."""
    from benchmarks.stage import make_evaluator, make_experiment, make_project
    from evaluators import kinds
    from evaluators.scoring import PERCENTAGE
    from experiments.ledger.progress import progress
    from experiments.ledger.start import start
    from experiments.ledger.turn import work
    from experiments.models import RunState

    kinds.KINDS["plain"] = _plain_kind()
    project = make_project(kind)
    experiment = make_experiment(project, [f"Answer {i}. " + "A sentence of it. " * 45 for i in range(rows)])
    config = {"code": CODE, "scoring": {"type": PERCENTAGE}, "threshold": None, "direction": "higher", "seed": 0}
    run = start(make_evaluator(project, kind, config), experiment)
    began = time.perf_counter()
    work("cpu")
    took = time.perf_counter() - began
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    assert progress(run).scored == rows
    return rows / took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    asked = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalstudio.settings")
    with tempfile.TemporaryDirectory(prefix="evalstudio-bench-") as folder:
        os.environ["EVALSTUDIO_DATA"] = folder
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        for kind, budget in BUDGETS.items():
            rate = measure(kind, asked.rows)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{kind:12} {rate:8,.0f} rows/s  {memory:4.0f} MB   budget {budget:,}", flush=True)


if __name__ == "__main__":
    main()
