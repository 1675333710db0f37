"""Turns: asked for when there is work, no more than there is room for, and over when others wait."""

from __future__ import annotations

import os
import signal
import time
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import transaction
from django.utils import timezone
from django_q.models import OrmQ, Schedule
from django_q.tasks import async_task

from evalstudio.calls import leases
from evaluators.core import Status
from evaluators.models import EvaluatorVersion
from experiments import upkeep
from experiments.ledger import start as starting
from experiments.ledger import turns
from experiments.ledger.claim import CRASHES
from experiments.ledger.progress import progress
from experiments.ledger.shift import LONGEST_S, ONE_OF_SEVERAL_S, ONLY_ONE_S, Shift
from experiments.ledger.start import start
from experiments.ledger.turn import work
from experiments.models import Evaluation, RunState, Slice
from tests.experiments.conftest import add_outputs
from tests.experiments.nursery import Nursery

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("small_kinds")]
ALIVE = SimpleNamespace(is_lost=False, is_fresh=True)


@pytest.fixture
def run(make_experiment, make_version, alice):
    return start(make_version("length"), make_experiment(20), alice)


def lasted(seconds: float) -> Shift:
    shift = Shift("cpu", ALIVE, _began=time.monotonic() - seconds)
    shift.time_to_look()
    return shift


def take_tasks() -> None:
    """As a cluster does when it takes tasks from the queue."""
    OrmQ.objects.update(lock=timezone.now() + timedelta(hours=1))


class TestAsking:
    def test_a_turn_that_is_queued_already_is_not_queued_again(self):
        assert [turns.ask_for_turns("net"), turns.ask_for_turns("net"), turns.ask_for_turns("cpu")] == [1, 0, 1]

    def test_a_task_that_was_taken_may_have_died_with_its_worker(self):
        turns.ask_for_turns("net")
        take_tasks()
        assert turns.ask_for_turns("net") == 1

    def test_a_turn_at_work_counts(self):
        leases.take("net")
        assert [turns.ask_for_turns("net"), turns.ask_for_turns("net", wanted=2)] == [0, 1]

    def test_more_slots_and_more_rows_are_worth_more_turns(self, run, connection):
        asking = SimpleNamespace(lane="net", connection=connection)
        for slots, wanted in ((8, 1), (96, 1), (97, 2), (256, 3)):
            connection.max_in_flight = slots
            assert turns.wanted_for(asking, 1000) == wanted
        assert [turns.wanted_for(run, rows) for rows in (10, 499, 2000)] == [1, 1, 5]


class TestEntering:
    def test_a_turn_returns_at_once_when_enough_are_at_work(self, run, settings):
        for _ in range(turns.room_on_this_host("cpu")):
            leases.take("cpu")
        work("cpu")
        assert progress(run).pending == 20

    def test_calling_it_again_does_nothing(self, run):
        for _ in range(3):
            work("cpu")
        run.refresh_from_db()
        assert (run.state, run.revision, progress(run).scored) == (RunState.FINISHED, run.revision, 20)

    def test_a_version_that_can_no_longer_be_read_fails_its_rows_with_the_reason(self, run, make_version):
        EvaluatorVersion.objects.filter(pk=run.version_id).update(config=["no mapping"])
        work("cpu")
        run.refresh_from_db()
        assert (run.state, progress(run).failed) == (RunState.FINISHED, 20)
        assert "EvalStudio itself failed here" in Evaluation.objects.filter(run=run)[0].body.reason


class TestMakingRoom:
    def test_a_turn_goes_on_while_nothing_else_waits(self):
        assert not lasted(LONGEST_S - 10).is_over
        assert lasted(LONGEST_S + 1).is_over

    def test_it_ends_after_a_minute_when_another_lane_has_nobody(
        self, make_experiment, make_version, connection, alice
    ):
        start(make_version("asking", connection_id=connection.pk), make_experiment(3), alice)
        assert not lasted(ONLY_ONE_S - 10).is_over
        assert lasted(ONLY_ONE_S + 1).is_over
        leases.take("net")
        assert not lasted(ONLY_ONE_S + 1).is_over

    def test_it_ends_when_there_are_more_tasks_than_workers(self, settings):
        leases.take("cpu")
        for _ in range(settings.WORKERS):
            async_task("experiments.datasets.importing.tasks.run_import", 1)
        OrmQ.objects.update(lock=timezone.now() - timedelta(seconds=10))
        assert lasted(ONLY_ONE_S + 1).is_over

    def test_one_of_several_ends_at_once(self, make_experiment, make_version, connection, alice):
        start(make_version("asking", connection_id=connection.pk), make_experiment(3), alice)
        leases.take("cpu"), leases.take("cpu")
        assert lasted(ONE_OF_SEVERAL_S + 1).is_over

    def test_it_ends_when_its_lease_is_lost(self):
        assert Shift("cpu", SimpleNamespace(is_lost=True)).is_over


@pytest.mark.parametrize(("kind", "rows"), [("length", 1100), ("asking", 100)])
def test_slices_that_a_killed_worker_settled_and_did_not_close_end_no_turn(
    kind, rows, make_experiment, make_version, connection, alice
):
    config = {"connection_id": connection.pk} if kind == "asking" else {}
    run = start(make_version(kind, **config), make_experiment(rows), alice)
    *all_but_one, last = Slice.objects.filter(run=run).order_by("pk")
    assert len(all_but_one) >= 3
    Evaluation.objects.filter(run=run, id__lt=last.first_id).update(
        state=Status.SCORED, score=0.5, settled_at=timezone.now()
    )
    work(run.lane)
    run.refresh_from_db()
    assert (run.state, progress(run).scored) == (RunState.FINISHED, rows)


def test_an_interrupted_worker_lands_its_calls_and_leaves_in_order(
    make_experiment, make_version, connection, chat_server, alice
):
    release = chat_server.hold(after=8)
    run = start(make_version("asking", connection_id=connection.pk), make_experiment(60), alice)
    with Nursery() as nursery:
        worker = nursery.spawn("net")
        while chat_server.calls < 12:
            time.sleep(0.02)
        os.kill(worker, signal.SIGINT)
        release.set()
        assert nursery.wait(worker) == 0
    assert progress(run).scored == chat_server.calls < 60
    assert not Slice.objects.exclude(lease=None, crashes=0).exists()
    assert not Evaluation.objects.filter(run=run, state=Status.FAILED).exists()


def test_an_interrupted_worker_does_not_wait_long_for_a_row_that_it_tries_alone(
    make_experiment, make_version, connection, chat_server, alice
):
    chat_server.hold()
    run = start(make_version("asking", connection_id=connection.pk), make_experiment(8), alice)
    Slice.objects.update(crashes=CRASHES)
    with Nursery() as nursery:
        worker = nursery.spawn("net")
        while chat_server.calls < 1:
            time.sleep(0.02)
        os.kill(worker, signal.SIGINT)
        assert nursery.wait(worker) == 0
    assert (progress(run).pending, chat_server.calls) == (8, 1)
    assert not Slice.objects.exclude(lease=None, crashes=CRASHES).exists()


class TestUpkeep:
    def test_a_starting_worker_schedules_the_sweep_once_and_calls_for_turns(self, run):
        OrmQ.objects.all().delete()
        upkeep.begin()
        upkeep.begin()
        assert Schedule.objects.get().func == "experiments.upkeep.sweep"
        assert [row.task["args"] for row in OrmQ.objects.all()] == [("cpu",)]

    def test_it_goes_on_with_a_run_whose_start_was_cut_off(self, run):
        Evaluation.objects.filter(run=run).delete()
        Slice.objects.filter(run=run).delete()
        type(run).objects.update(state=RunState.PREPARING, created_at=timezone.now() - timedelta(minutes=1))
        upkeep.sweep()
        run.refresh_from_db()
        assert (run.state, progress(run).pending) == (RunState.ACTIVE, 20)

    def test_it_finishes_what_was_settled_by_a_worker_that_did_not_get_to_the_end(self, run):
        Evaluation.objects.filter(run=run).update(state=Status.UNSCORED, settled_at=timezone.now())
        work("cpu")
        run.refresh_from_db()
        assert run.state == RunState.FINISHED

    def test_rows_for_new_outputs_are_not_forgotten_when_their_start_was_cut_off(self, run):
        work("cpu")
        run.experiment.output_set.last().delete()
        add_outputs(run.experiment)
        run.refresh_from_db()
        with transaction.atomic():  # so far a process got that was killed then
            starting._insert_rows(run, 0, run.experiment.output_set.last().pk)
            starting._insert_slices(run, 8)
            starting._reopen(run)
        type(run).objects.update(created_at=timezone.now() - timedelta(minutes=1))
        upkeep.sweep()
        run.refresh_from_db()
        assert (run.state, progress(run).pending) == (RunState.ACTIVE, 1)
