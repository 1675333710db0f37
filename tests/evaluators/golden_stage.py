"""Evaluators with golden cases, for the tests of golden cases, publishing and exchange."""

from __future__ import annotations

from typing import Any

from evalstudio.calls.models import Connection
from evalstudio.projects.models import Project
from evaluators.golden import keep
from evaluators.kinds import KINDS
from evaluators.models import Evaluator, EvaluatorVersion, GoldenCase

SHORT = "function evaluate({ outputs }) { return outputs.value.length < 10 ? 1 : 0; }"
ALWAYS = "function evaluate() { return 1; }"
YES_NO = {
    "type": "enum",
    "options": [
        {"label": "Yes", "percentage": 100.0, "description": ""},
        {"label": "No", "percentage": 0.0, "description": "Anything else."},
    ],
}


def heuristic_config(code: str = SHORT, **more: Any) -> dict[str, Any]:
    """A function that passes at one half."""
    return {**KINDS["heuristic"].blank(), "code": code, "threshold": 0.5, **more}


def judge_config(connection: Connection, **more: Any) -> dict[str, Any]:
    """A judge that says Yes or No."""
    prompt = "Is it right? {{ outputs.value }}"
    said = {"prompt": prompt, "connection_id": connection.pk, "model": connection.model, "scoring": YES_NO}
    return {**KINDS["judge"].blank(), **said, "threshold": 0.5, **more}


def version_of(project: Project, name: str, config: dict[str, Any], kind: str = "heuristic") -> EvaluatorVersion:
    """The next version of an evaluator, or its first."""
    evaluator, _ = Evaluator.objects.get_or_create(project=project, name=name, kind=kind)
    return evaluator.revise(config, schema=KINDS[kind].schema, author=None)


def keep_case(evaluator: Evaluator, answer: str, must: dict[str, Any]) -> GoldenCase:
    return keep(evaluator, {"outputs": {"value": answer}}, must, title=answer, author=None)[0]


def four_cases(evaluator: Evaluator) -> None:
    """Two short answers that must pass; two long ones that must not."""
    for answer in ("brief", "short"):
        keep_case(evaluator, answer, {"passed": True})
    for answer in ("a rambling answer", "another rambling answer"):
        keep_case(evaluator, answer, {"passed": False})
