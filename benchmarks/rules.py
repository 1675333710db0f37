"""Rules over 20,000 outputs in the background, every score stored: rows a second of one worker process.

    python -m benchmarks.rules [--rows 20000]

`plain` is a rule that costs nothing (the length of a text), so what is measured is the ledger: claim, read, settle.
`heuristic` is a user's JavaScript in the sandbox, a pristine machine for every row. The others are entries of the
catalogue of built-in evaluators, which store their measures with every score and a reason with every failure.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

CODE = "function evaluate({ outputs }) { return outputs.value.length > 900 ? 1 : 0; }"
BUDGETS = {
    "plain": 20_000,
    "heuristic": 2_000,
    "contains": 20_000,
    "equals": 20_000,
    "length_between": 20_000,
    "regex_match": 20_000,
    "json_schema": 10_000,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "answer": {"type": "string", "minLength": 1},
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}},
    },
    "required": ["answer", "score"],
    "additionalProperties": False,
}
PARAMETERS: dict[str, dict[str, Any]] = {
    "contains": {"keyword": "Answer 1", "case_sensitive": False},
    "length_between": {"min_length": 10, "max_length": 830},
    "regex_match": {"pattern": r"\bAnswer (\d*[02468])\."},
    "json_schema": {"json_schema": SCHEMA},
}


def _plain_kind() -> Any:
    from evaluators.core import Needs, Sample, Score, Status

    class Plain:
        key, schema = "plain", 1

        def load(self, stored: dict, schema: int) -> dict:
            return stored

        def needs(self, config: dict) -> Needs:
            return Needs("cpu")

        def paths(self, config: dict) -> tuple[str, ...]:
            return ("outputs.value",)

        def prepare(self, config: dict, tools: Any) -> Callable[[Sequence[Sample]], list[Score]]:
            return lambda samples: [
                Score(Status.SCORED, value=min(1.0, len(sample.outputs["value"]) / 2000), passed=True)
                for sample in samples
            ]

    return Plain()


def _version(project: Any, what: str) -> Any:
    """A version of one of the two kinds, or of an entry of the catalogue."""
    from benchmarks.stage import make_evaluator
    from evaluators import catalogue, kinds
    from evaluators.scoring import PERCENTAGE

    if what in ("plain", "heuristic"):
        kinds.KINDS["plain"] = _plain_kind()
        config = {"code": CODE, "scoring": {"type": PERCENTAGE}, "threshold": None, "direction": "higher", "seed": 0}
        return make_evaluator(project, what, config)
    config = kinds.get_kind("builtin").start(catalogue.get(what))
    config["parameters"] |= PARAMETERS.get(what, {})
    return make_evaluator(project, "builtin", config)


def _answer(what: str, i: int) -> str:
    words = "A sentence of it. " * 45
    if what == "json_schema":
        return json.dumps({"answer": words, "score": 0.5, "tags": ["a", "b"][: i % 3]})
    return f"Answer {i}. {words}"


def measure(what: str, rows: int) -> float:
    """Rows a second from the start of a turn to its last commit."""
    from benchmarks.stage import make_experiment, make_project
    from experiments.ledger.progress import progress
    from experiments.ledger.start import start
    from experiments.ledger.turn import work
    from experiments.models import RunState

    project = make_project(what)
    experiment = make_experiment(project, [_answer(what, i) for i in range(rows)])
    run = start(_version(project, what), experiment)
    gc.collect()  # what the stage left behind is no part of a turn
    began = time.perf_counter()
    work("cpu")
    took = time.perf_counter() - began
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    assert progress(run).scored == rows, progress(run)
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
        for what, budget in BUDGETS.items():
            rate = measure(what, asked.rows)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{what:14} {rate:8,.0f} rows/s  {memory:4.0f} MB   budget {budget:,}", flush=True)


if __name__ == "__main__":
    main()
