"""Workers are killed with SIGKILL at any moment. Nothing may be lost, nothing doubled, little asked twice."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager

import pytest
from django.db import connections, transaction
from django.utils import timezone

from benchmarks.chaos import Watch, look
from evalstudio.calls.models import Call, ConnectionShare, Lease
from evaluators.core import Status, Why
from experiments.ledger.progress import progress
from experiments.ledger.start import start
from experiments.ledger.sweep import bury, sweep
from experiments.models import Evaluation, Run, RunState
from tests.experiments.nursery import Nursery
from tests.local_chat_server import broken, cut_off, says, slow, too_many

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("small_kinds")]
UNFLUSHED = 64


@pytest.fixture
def nursery():
    with Nursery() as nursery:
        yield nursery


def wait_for(condition: Callable[[], bool], within_s: float = 20.0) -> None:
    give_up_at = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < give_up_at, "It did not happen in time."
        time.sleep(0.02)


def settled(run: Run) -> int:
    return Evaluation.objects.filter(run=run, state__gt=Status.AWAITING).count()


def kill(nursery: Nursery, worker: int) -> None:
    os.kill(worker, signal.SIGKILL)
    nursery.wait(worker)


def test_a_killed_worker_loses_nothing_and_another_goes_on_at_once(
    nursery, make_experiment, make_version, connection, chat_server, alice
):
    release = chat_server.hold(after=24)
    run = start(make_version("asking", connection_id=connection.pk), make_experiment(64), alice)
    worker = nursery.spawn("net")
    wait_for(lambda: settled(run) >= 10)
    kill(nursery, worker)
    before, dead = settled(run), Lease.objects.get(lane="net")
    release.set()
    successor = nursery.spawn("net")
    wait_for(lambda: settled(run) > before)
    assert timezone.now() < dead.expires_at, "nobody waited for the lease"
    nursery.wait(successor)
    run.refresh_from_db()
    assert (run.state, progress(run).scored) == (RunState.FINISHED, 64)
    assert Call.objects.count() == 64
    assert chat_server.calls <= 64 + connection.max_in_flight + UNFLUSHED


@contextmanager
def locked_now_and_then():
    """Somebody else holds what every settlement needs: on SQLite the database, elsewhere the rows of the runs."""
    over = threading.Event()

    def hold() -> None:
        while not over.wait(0.4):
            with transaction.atomic():
                list(Run.objects.select_for_update().values_list("pk"))
                over.wait(0.3)
        connections.close_all()

    thread = threading.Thread(target=hold)
    thread.start()
    yield
    over.set()
    thread.join()


def test_chaos(monkeypatch, make_experiment, make_version, connection, chat_server, alice):
    monkeypatch.setenv("EVALSTUDIO_CALL_TIMEOUT", "2")  # of workers, for endpoints that hang
    rows, kills, dice, watch = 200, 5, random.Random(7), Watch()
    connection.max_in_flight = 16
    connection.save()
    chat_server.latency_s = 0.05
    faults = [too_many(ms=20)] * 10 + [broken()] * 6 + [cut_off()] * 4 + [says("?")] * 4 + [slow(60)] * 2
    chat_server.then(*dice.sample(faults, len(faults)))
    version = make_version("asking", deadly="answer 17", connection_id=connection.pk)
    run = start(version, make_experiment(rows), alice)
    with Nursery() as nursery, locked_now_and_then():
        for _ in range(kills):
            worker = nursery.spawn("net")
            time.sleep(dice.uniform(0.1, 0.7))
            look(run.pk, rows, watch)
            kill(nursery, worker)
        while look(run.pk, rows, watch) < rows:
            nursery.wait(nursery.spawn("net"))
            sweep()
    run.refresh_from_db()
    assert watch.wrong == []
    without = dict(run.evaluation_set.exclude(state=Status.SCORED).values_list("output__case__key", "why"))
    assert without.pop("case-17") == Why.ENDED_WORKER
    assert set(without.values()) <= {"unparsed"}
    assert len(without) <= 4
    assert (run.state, progress(run).total) == (RunState.FINISHED, rows)
    deaths = kills + 5  # the deadly row ends two workers beside others and three alone
    assert chat_server.calls <= rows + len(faults) + deaths * (16 + UNFLUSHED)
    assert not Lease.objects.exists()


@pytest.mark.parametrize(("kind", "lane"), [("length", "cpu"), ("asking", "net")])
def test_a_row_that_ends_its_worker_fails_and_takes_nothing_with_it(
    kind, lane, nursery, make_experiment, make_version, connection, alice
):
    version = make_version(kind, deadly="answer 17", connection_id=connection.pk)
    run = start(version, make_experiment(40), alice)
    for _ in range(10):
        nursery.wait(nursery.spawn(lane))
        sweep()
        if settled(run) == 40:
            break
    deadly = Evaluation.objects.get(run=run, state=Status.FAILED)
    assert (deadly.output.case.key, deadly.why) == ("case-17", Why.ENDED_WORKER)
    run.refresh_from_db()
    assert (run.state, progress(run).scored) == (RunState.FINISHED, 39)


def test_two_workers_share_a_connection_reach_its_limit_together_and_never_exceed_it(
    nursery, make_experiment, make_version, connection, chat_server, alice
):
    chat_server.latency_s = 0.15
    run = start(make_version("asking", connection_id=connection.pk), make_experiment(400), alice)
    workers = [nursery.spawn("net"), nursery.spawn("net")]
    seen: list[list[int]] = []
    while settled(run) < 400:
        seen.append(list(ConnectionShare.objects.values_list("slots", flat=True)))
        if [4, 4] in seen and chat_server.max_in_flight == connection.max_in_flight:
            chat_server.latency_s = 0.0  # all that takes time has been seen
        time.sleep(0.05)
    for worker in workers:
        nursery.wait(worker)
    assert all(sum(slots) <= connection.max_in_flight for slots in seen)
    assert [4, 4] in seen
    assert chat_server.max_in_flight == connection.max_in_flight
    assert chat_server.calls == 400


def test_a_worker_that_was_taken_for_dead_settles_what_it_asked_and_takes_nothing_more(
    nursery, make_experiment, make_version, connection, chat_server, alice
):
    release = chat_server.hold()
    run = start(make_version("asking", connection_id=connection.pk), make_experiment(24), alice)
    zombie = nursery.spawn("net")
    wait_for(lambda: chat_server.calls >= 8)
    bury(Lease.objects.get(lane="net"), blame=True)
    release.set()
    successor = nursery.spawn("net")
    for worker in (zombie, successor):
        assert nursery.wait(worker) == 0
    run.refresh_from_db()
    assert (run.state, progress(run).scored) == (RunState.FINISHED, 24)
    assert chat_server.calls <= 24 + connection.max_in_flight + UNFLUSHED
    assert not Lease.objects.exists()
