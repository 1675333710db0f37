"""Evaluators whose versions are tried on samples: a judge that asks the local chat server, and heuristics."""

from __future__ import annotations

import random
from typing import Any

from evaluators.kinds import KINDS
from evaluators.models import Evaluator, EvaluatorVersion
from experiments.ledger.turn import work
from experiments.models import Run

OPTIONS = [
    {"label": "Right", "percentage": 100, "description": ""},
    {"label": "Partly", "percentage": 50, "description": ""},
    {"label": "Wrong", "percentage": 0, "description": ""},
]


def judge_version(
    project: Any, connection: Any, prompt: str = "Judge {{ outputs.value }}", **more: Any
) -> EvaluatorVersion:
    """The next version of the judge "Correctness", which answers Right, Partly or Wrong."""
    kind = KINDS["judge"]
    config = kind.blank() | {
        "connection_id": connection.pk,
        "model": "tiny",
        "prompt": prompt,
        "scoring": {"type": "enum", "options": OPTIONS},
        "threshold": 0.6,
    }
    return _revised(project, "Correctness", "judge", config | more)


def heuristic_version(project: Any, code: str, name: str = "Short", **more: Any) -> EvaluatorVersion:
    """The next version of a heuristic with this body: "return 1"."""
    config = KINDS["heuristic"].blank() | {
        "code": f"function evaluate({{ outputs, comparison }}) {{ {code} }}",
        "scoring": {"type": "percentage"},
    }
    return _revised(project, name, "heuristic", config | more)


def _revised(project: Any, name: str, kind: str, config: dict[str, Any]) -> EvaluatorVersion:
    evaluator = Evaluator.objects.get_or_create(project=project, name=name, kind=kind)[0]
    return evaluator.revise(config, schema=KINDS[kind].schema, author=None)


def says_at_random(seed: int = 1) -> Any:
    """A reply of the chat server that is another one every time."""
    random_ = random.Random(seed)
    return lambda body: reply(random_.choice(["Right", "Right", "Partly", "Wrong"]))


def reply(label: str) -> str:
    return f'{{"reason": "It seems {label.lower()}.", "label": "{label}"}}'


def finish(run: Run) -> Run:
    """Work on its lane until the run is over."""
    work(run.lane)
    run.refresh_from_db()
    return run
