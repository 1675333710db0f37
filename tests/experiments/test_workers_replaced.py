"""Background workers as they are installed are stopped, started again and replaced by another release in mid-run.

Nothing is lost, and nothing that was paid for is asked again.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings

from benchmarks.judge import set_up
from evalstudio.calls.models import Lease
from evaluators.core import Status
from experiments.ledger.progress import progress
from experiments.ledger.start import start
from experiments.models import Evaluation, Run, RunState
from tests.experiments.nursery import url_of_test_database

ROWS, SLOTS = 120, 8
SAID, SAID_NEXT = "You judge one case.", "You are the judge of one case."
pytestmark = pytest.mark.django_db(transaction=True)


class Workers:
    """`manage.py worker` on the test's database, from this tree or another."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._all: list[subprocess.Popen] = []

    def start(self, tree: Path = settings.BASE_DIR) -> subprocess.Popen:
        env = {
            **os.environ,
            "PYTHONPATH": str(tree),
            "DJANGO_SETTINGS_MODULE": "evalstudio.settings",
            "DATABASE_URL": url_of_test_database(),
            "EVALSTUDIO_DATA": str(settings.DATA_DIR),
        }
        with self._log.open("ab") as out:
            command = [sys.executable, "manage.py", "worker"]
            self._all.append(subprocess.Popen(command, cwd=tree, env=env, stdout=out, stderr=out, process_group=0))
        return self._all[-1]

    def stop(self, worker: subprocess.Popen) -> None:
        worker.terminate()
        assert worker.wait(30) == 0, self._log.read_text()

    def wait_for(self, condition: Callable[[], bool]) -> None:
        give_up_at = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < give_up_at, self._log.read_text()
            time.sleep(0.05)

    def end_all(self) -> None:
        for worker in self._all:
            if worker.poll() is None:
                self.stop(worker)


@pytest.fixture
def workers(tmp_path):
    workers = Workers(tmp_path / "workers.log")
    yield workers
    workers.end_all()


@pytest.fixture
def run(chat_server) -> Run:
    chat_server.latency_s = 0.3
    return start(*set_up(chat_server.url, ROWS, SLOTS, prompt_set=0))


@pytest.fixture
def next_release(tmp_path) -> Path:
    """The product with another sentence in what a judge is told, so that each call shows which release made it."""
    tree = tmp_path / "next"
    for name in ("evalstudio", "evaluators", "experiments", "annotations", "templates", "static"):
        shutil.copytree(settings.BASE_DIR / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("manage.py", "pyproject.toml", "requirements.txt"):
        shutil.copy(settings.BASE_DIR / name, tree)
    framing = tree / "evaluators" / "framing.py"
    before = framing.read_text()
    assert SAID in before
    framing.write_text(before.replace(SAID, SAID_NEXT))
    return tree


def settled(run: Run) -> int:
    return Evaluation.objects.filter(run=run, state__gt=Status.AWAITING).count()


def is_finished(run: Run) -> bool:
    run.refresh_from_db()
    return run.state == RunState.FINISHED


def test_a_worker_that_is_told_to_stop_ends_its_calls_and_the_next_one_goes_on(workers, run, chat_server):
    first = workers.start()
    workers.wait_for(lambda: settled(run) >= 2 * SLOTS)
    workers.stop(first)
    before = settled(run)
    assert chat_server.calls == before < ROWS, "what was asked has been stored"
    assert not Lease.objects.exists()
    workers.start()
    workers.wait_for(lambda: is_finished(run))
    assert (progress(run).scored, chat_server.calls) == (ROWS, ROWS)


def test_a_worker_that_is_killed_with_all_its_processes_costs_the_calls_in_flight(workers, run, chat_server):
    first = workers.start()
    workers.wait_for(lambda: settled(run) >= 2 * SLOTS)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    workers.start()
    workers.wait_for(lambda: is_finished(run))
    assert progress(run).scored == ROWS
    assert chat_server.calls <= ROWS + SLOTS + 64


def test_another_release_takes_over_while_the_first_still_works(workers, run, next_release, chat_server):
    first = workers.start()
    workers.wait_for(lambda: settled(run) >= 2 * SLOTS)
    workers.start(next_release)
    workers.wait_for(lambda: asked_by(chat_server, SAID_NEXT) > 0 or settled(run) >= 6 * SLOTS)
    workers.stop(first)
    workers.wait_for(lambda: is_finished(run))
    assert (progress(run).scored, chat_server.calls) == (ROWS, ROWS)
    assert asked_by(chat_server, SAID) + asked_by(chat_server, SAID_NEXT) == ROWS
    assert asked_by(chat_server, SAID_NEXT) > 0
    assert chat_server.max_in_flight <= SLOTS


def asked_by(chat_server, sentence: str) -> int:
    return sum(sentence in body["messages"][0]["content"] for body in chat_server.bodies)
