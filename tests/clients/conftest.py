"""A live server, a worker beside it, and the client as a pipeline opens it."""

from __future__ import annotations

import threading

import pytest
from django.db import connections
from evalstudio_client import EvalStudio

from evalstudio.projects.models import ApiToken, Scope
from evaluators.models import Evaluator
from experiments.ledger.turn import work
from experiments.ledger.turns import LANES
from tests.experiments.compared import comparative
from tests.experiments.conftest import make_experiment  # noqa: F401

SHORT = "function evaluate({ outputs }) { return outputs.value.length < 12 ? 1 : 0.25; }"


@pytest.fixture
def secret(project, alice) -> str:
    return ApiToken.issue(project, alice, "pipeline", Scope.WRITE)[1]


@pytest.fixture
def studio(live_server, project, secret):
    with EvalStudio(live_server.url, secret, project.slug) as studio:
        yield studio


@pytest.fixture
def environment(live_server, project, secret, monkeypatch):
    """Where the project is, as CI tells it."""
    told = {"EVALSTUDIO_URL": live_server.url, "EVALSTUDIO_TOKEN": secret, "EVALSTUDIO_PROJECT": project.slug}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    return told


@pytest.fixture
def worker(transactional_db):
    """Takes turns in the background until the test is over."""
    over = threading.Event()

    def take_turns() -> None:
        try:
            while not over.wait(0.05):
                for lane in LANES:
                    work(lane)
        finally:
            connections.close_all()

    thread = threading.Thread(target=take_turns)
    thread.start()
    yield
    over.set()
    thread.join()


@pytest.fixture
def short(project, alice):
    """The published version of "Short": 1 for outputs of fewer than twelve characters, else 0.25; 0.5 passes."""
    config = {"code": SHORT, "scoring": {"type": "percentage"}, "threshold": 0.5, "direction": "higher", "seed": 0}
    evaluator = Evaluator.objects.create(project=project, name="Short", kind="heuristic")
    version = evaluator.revise(config, schema=1, author=alice)
    Evaluator.objects.filter(pk=evaluator.pk).update(published_version=version)
    return version


@pytest.fixture
def shorter(project):
    """The published version of "Shorter output", which compares two outputs."""
    version = comparative(project)
    Evaluator.objects.filter(pk=version.evaluator_id).update(published_version=version, compares=True)
    return version


@pytest.fixture
def questions(make_experiment) -> str:  # noqa: F811
    """A data set of 30 cases, "case-0" and so on."""
    return make_experiment(30).dataset_version.dataset.name


def outputs(n: int, text: str = "brief"):
    """n outputs as a pipeline produces them, one after the other."""
    for number in range(n):
        yield {"case": f"case-{number}", "outputs": {"value": f"{text} {number}"}, "latency_ms": 12.0}
