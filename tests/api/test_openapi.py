"""The schema of the API is exactly what is served: requests made up from it, answers held against it."""

from __future__ import annotations

import re
from typing import Any

import pytest
import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.management import call_command
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

from annotations.answers import Answer
from annotations.grading import Subject, submit
from annotations.holding import at_hand
from annotations.models import GradeState, Item, Queue
from evalstudio.projects.models import ApiToken, Scope
from evaluators.exchange import exported
from evaluators.models import Evaluator, EvaluatorVersion
from experiments.analysis.change import Trial
from experiments.ledger.turn import work
from experiments.models import Experiment
from tests.experiments.scored_labels import ANIMALS, scored
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


def always(people_version: int, experiment: int) -> dict[str, dict[str, Any]]:
    """What bodies of an operation need to mean something, whatever else was made up."""
    return {
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
        "POST /api/projects/{project}/queues/": {"versions": [people_version], "show": "all", "q": ""},
        "POST /api/projects/{project}/queues/{id}/grades/": {
            "grades": [{"case": "case-0", "label": "Solved", "person": "alice"}],
        },
        "POST /api/projects/{project}/evaluators/{id}/grades/": {
            "grades": [{"case": "case-0", "experiment": experiment, "label": "Solved"}],
        },
        "POST /api/projects/{project}/items/{id}/grade/": {"grades": {str(people_version): "Solved"}},
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
def places(stage, alice) -> dict[str, int]:  # noqa: F811
    """What addresses name that the stage has not: outputs that people graded, one of them not yet; two classified runs.

    Keys are what follows the kind of thing in the address, after the kind where others are followed by it, too.
    """
    work("cpu")
    queue = Queue.objects.get(pk=stage.ids["queue"])
    at_hand(queue, alice)
    graded, people = queue.items.last(), queue.versions.get()
    item = Item.objects.select_related("queue", "output__experiment", "baseline_output").get(pk=graded.pk)
    submit(Subject.of(item), alice, {people.pk: Answer(GradeState.GRADED, "Solved", 1.0)})
    Evaluator.objects.filter(pk=stage.ids["evaluator"]).update(reference=people.evaluator_id)
    runs = [scored(stage.project, ANIMALS, system=f"classifier {number}").pk for number in (1, 2)]
    return {
        "agreement": people.evaluator_id,
        "judges": people.evaluator_id,
        "evaluator/grades": people.evaluator_id,
        "confusion": runs[0],
        "classes": runs[0],
        "baseline": runs[1],
        "people_version": people.pk,
    }


@pytest.fixture
def sensible(stage, places) -> dict[str, Any]:  # noqa: F811
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
        "reviewers": [],
        "adjudicator": None,
        "graders": 1,
        "repeated": 0,
        "do": "submit",
        "outputs": [{"case": "case-0", "attempt": 5, "outputs": {"value": "x"}}],
    }


LEFT_OUT = frozenset(("against", "baseline", "versions", "client_key"))  # of a body that is to mean something


def test_every_answer_is_as_the_schema_says(schema, stage, places, headers, sensible, subtests):  # noqa: F811
    needed = always(places["people_version"], stage.ids["experiment"])
    for found in schema.get_all_operations():
        operation = found.ok()
        meant = {**sensible, "version": stage.ids["version"]} if operation.label.endswith("/runs/") else sensible
        with subtests.test(operation.label):
            path = _place(operation.path, stage, places)
            statuses = _answers(operation, path, headers, meant, needed.get(operation.label, {}))
            assert any(status < 300 for status in statuses), statuses


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("patch", "runs/{id}/"),
        ("post", "runs/{id}/resume/"),
        ("post", "runs/{id}/retry/"),
        ("post", "experiments/"),
        ("post", "experiments/prompt/"),
    ],
)
def test_a_refusal_that_depends_on_what_there_is_stands_in_the_schema(schema, method, path):
    assert "409" in schema.raw_schema["paths"][f"/api/projects/{{project}}/{path}"][method]["responses"]


def test_the_schema_is_made_without_a_doubt(db, capsys):
    call_command("spectacular", fail_on_warn=True, validate=True)
    assert "Warning" not in capsys.readouterr().err


def _place(path: str, stage: Any, places: dict[str, int]) -> dict[str, Any]:  # noqa: F811
    """What the address of an operation names on the stage."""
    thing = re.search(r"([\w-]+)s/\{id\}/(\w*)", path)
    known = {"project": stage.project.slug, "number": 1, "baseline": places["baseline"]}
    if thing:
        known["id"] = places.get(f"{thing[1]}/{thing[2]}") or places.get(thing[2]) or stage.ids[thing[1]]
    return {name: known[name] for name in re.findall(r"\{(\w+)\}", path)}


def _answers(
    operation: Any, path: dict[str, Any], headers: dict[str, str], meant: dict[str, Any], needed: dict[str, Any]
) -> set[int]:
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
                case.body = kept | needed
        with transaction.atomic():
            statuses.add(case.call_and_validate(headers=headers, checks=CHECKS).status_code)
            transaction.set_rollback(True)

    ask()
    return statuses
