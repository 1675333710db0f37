"""The schema of the API is exactly what is served: requests made up from it, answers held against it."""

from __future__ import annotations

import re
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as settings_of
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from evalstudio.projects.models import ApiToken, Scope
from evaluators.exchange import exported
from evaluators.models import Evaluator, EvaluatorVersion
from experiments.analysis.change import Trial
from experiments.models import Experiment
from tests.test_every_door import make_experiment, stage  # noqa: F401

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
few = settings_of(
    max_examples=16,  # of each operation
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
SENSELESS = {  # nothing on the stage classifies, nor have people graded anything
    "GET /api/projects/{project}/runs/{id}/confusion/",
    "GET /api/projects/{project}/runs/{id}/classes/",
    "GET /api/projects/{project}/runs/{id}/classes/beside/{baseline}/",
    "GET /api/projects/{project}/evaluators/{id}/agreement/",
    "GET /api/projects/{project}/evaluators/{id}/judges/",
    "GET /api/projects/{project}/evaluators/{id}/people/",
}


@pytest.fixture
def schema(db):
    """The schema with the application behind it, in this process and in the transaction of the test."""
    ends = (request_started, request_finished)
    for signal in ends:
        signal.disconnect(close_old_connections)
    yield schemathesis.openapi.from_wsgi("/api/schema/?format=json", WSGIHandler())
    for signal in ends:
        signal.connect(close_old_connections)


@pytest.fixture
def headers(stage, alice, settings) -> dict[str, str]:  # noqa: F811
    settings.API_PER_MINUTE = 100_000
    return {"Authorization": f"Bearer {ApiToken.issue(stage.project, alice, 'made up', Scope.WRITE)[1]}"}


@pytest.fixture
def sensible(stage) -> dict[str, Any]:  # noqa: F811
    """Values that mean something on the stage, by the names of fields and parameters."""
    evaluator = Evaluator.objects.get(pk=stage.ids["evaluator"])
    before = EvaluatorVersion.objects.get(evaluator=evaluator)
    config = before.config
    after = evaluator.revise({**config, "threshold": 0.5}, schema=1, author=None)
    experiment = Experiment.objects.get(pk=stage.ids["experiment"])
    Trial(before, after, experiment, 2).start(None)
    Experiment.objects.filter(pk=experiment.pk).update(is_open=True)
    ids = {name: stage.ids[name] for name in ("experiment", "baseline")}
    return {
        **ids,
        "from": 1,
        "to": 2,
        "n": 2,
        "repeats": 2,
        "version": 1,
        "dataset_version": 1,
        "fields": ["scores"],
        "kind": "heuristic",
        "config": config,
        "scoring": {"type": "percentage"},
        "evaluator": exported(evaluator),
        "name": "Made up",
        "system": "maker",
        "dataset": "2 questions",
        "note": "",
        "title": "A sample",
        "user_message": "{{ inputs.question }}",
        "models": [{"connection": stage.ids["connection"], "model": "rehearsal"}],
        "sample": {"outputs": {"value": 2}},
        "must": {"value": 1.0},
        "code": "function process() { return {}; }",
        "base": 0,
        "evaluators": [],
        "outputs": [{"case": "case-0", "attempt": 5, "outputs": {"value": "x"}}],
    }


ALWAYS = {  # what bodies of an operation need to mean something, whatever else was made up
    "POST /api/projects/{project}/imports/": {
        "file": b"id,question\n1,Why?\n",
        "system": "",
        "targets": {},
        "types": {},
    },
    "POST /api/projects/{project}/files/": {"file": b"\x89PNG\r\n\x1a\n"},
    "POST /api/projects/{project}/evaluators/{id}/noise/": {"outputs": 2},
    "POST /api/projects/{project}/experiments/{id}/scores/": {
        "evaluator": "Made elsewhere",
        "scores": [{"case": "case-0", "score": 0.5}],
    },
    "POST /api/projects/{project}/evaluators/import/": {"name": "Made up", "connections": {}},
}
LEFT_OUT = frozenset(("against", "baseline", "versions", "client_key"))  # of a body that is to mean something


def test_every_answer_is_as_the_schema_says(schema, stage, headers, sensible, subtests):  # noqa: F811
    for found in schema.get_all_operations():
        operation = found.ok()
        meant = {**sensible, "version": stage.ids["version"]} if operation.label.endswith("/runs/") else sensible
        with subtests.test(operation.label):
            statuses = _answers(operation, _place(operation.path, stage), headers, meant)
            assert operation.label in SENSELESS or any(status < 300 for status in statuses), statuses


def _place(path: str, stage: Any) -> dict[str, Any]:  # noqa: F811
    """What the address of an operation names on the stage."""
    thing = re.search(r"([\w-]+)s/\{id\}", path)
    known = {"project": stage.project.slug, "number": 1, "id": stage.ids[thing[1]] if thing else None}
    return {name: known[name] for name in re.findall(r"\{(\w+)\}", path)}


def _answers(operation: Any, path: dict[str, Any], headers: dict[str, str], meant: dict[str, Any]) -> set[int]:
    """The statuses of the answers to made-up requests, each of which is undone."""
    modes = [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if operation.body or operation.query else [])]
    cases = st.one_of(operation.as_strategy(generation_mode=mode, path_parameters=path) for mode in modes)
    statuses = set()

    @few
    @given(case=cases, means_well=st.booleans())
    def ask(case: Any, means_well: bool) -> None:
        case.path_parameters = path
        if means_well:
            case.query = {one.name: meant[one.name] for one in operation.query if one.name in meant}
            if isinstance(case.body, dict):
                kept = {name: meant.get(name, value) for name, value in case.body.items() if name not in LEFT_OUT}
                case.body = kept | ALWAYS.get(operation.label, {})
        with transaction.atomic():
            statuses.add(case.call_and_validate(headers=headers, checks=CHECKS).status_code)
            transaction.set_rollback(True)

    ask()
    return statuses
