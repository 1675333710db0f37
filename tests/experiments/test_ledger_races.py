"""What a person asks of a run and what its workers do at the same moment: neither undoes the other.

On SQLite one transaction writes at a time; these orders of events matter on PostgreSQL, where several do.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections, transaction
from django.utils import timezone

from evalstudio.calls import leases
from evaluators.core import Score, Status, Why
from experiments.ledger import verbs
from experiments.ledger.claim import TOGETHER, _lease_slices, claim
from experiments.ledger.finish import close_slices, finish_run
from experiments.ledger.progress import progress
from experiments.ledger.settle import Book, settle
from experiments.ledger.start import prepare, start
from experiments.ledger.turn import work
from experiments.models import Evaluation, Run, RunState, Slice
from tests.experiments.conftest import add_outputs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("small_kinds")]


@pytest.fixture
def run(make_experiment, make_version, alice) -> Run:
    """A run of two rows in one slice, held by a worker, both failed but not yet closed."""
    run = start(make_version("length"), make_experiment(2), alice)
    claimed = claim("cpu", leases.take("cpu").pk, 8)
    failed = [(pk, Score.failed(Why.THROWN, "no")) for pk in Evaluation.objects.values_list("pk", flat=True)]
    settle(Book(run.pk), failed)
    assert len(claimed.slices) == 1
    return run


@contextmanager
def meanwhile(act: Callable[[], Any]) -> Iterator[None]:
    """Does something in a transaction of its own that starts within the block and may have to wait for its end."""

    def go() -> None:
        try:
            act()
        finally:
            connections.close_all()

    other = threading.Thread(target=go)
    with transaction.atomic():
        yield
        other.start()
        time.sleep(0.5)
    other.join(20)


def test_a_slice_whose_rows_are_asked_again_is_not_closed(run):
    part = Slice.objects.get()
    with meanwhile(lambda: close_slices([part.pk])):
        verbs.retry(run)
    part.refresh_from_db()
    assert not part.done


def test_a_slice_that_was_just_closed_is_opened_for_rows_that_are_asked_again(run):
    part = Slice.objects.get()
    with meanwhile(lambda: verbs.retry(run)):
        close_slices([part.pk])
    part.refresh_from_db()
    assert not part.done


def test_a_run_whose_rows_are_asked_again_is_not_finished(run):
    close_slices(Slice.objects.values_list("pk", flat=True))
    with meanwhile(lambda: finish_run(run.pk)):
        verbs.retry(run)
    run.refresh_from_db()
    assert run.state == RunState.ACTIVE


def test_rows_that_are_asked_again_at_the_end_of_a_run_are_evaluated(run):
    with meanwhile(lambda: [close_slices([part.pk]) and finish_run(run.pk) for part in Slice.objects.all()]):
        verbs.retry(run)
    Slice.objects.update(lease=None)
    work("cpu")
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    assert set(Evaluation.objects.values_list("state", flat=True)) == {Status.SCORED}


def test_nothing_is_taken_of_a_run_that_was_stopped_in_the_meantime(make_experiment, make_version, alice):
    run = start(make_version("length"), make_experiment(2), alice)
    seen_active = Run.objects.get(pk=run.pk)
    verbs.stop(run)
    assert _lease_slices(seen_active, leases.take("cpu").pk, TOGETHER, 8) == []
    assert not Slice.objects.filter(lease__isnull=False).exists()


def test_a_stop_between_two_batches_of_a_retry_wins(make_experiment, make_version, alice):
    run = start(make_version("length"), make_experiment(4), alice)
    verbs.stop(run)
    Evaluation.objects.update(state=Status.FAILED, settled_at=timezone.now())
    first, *others = Evaluation.objects.order_by("pk").values_list("pk", flat=True)
    assert verbs._reopen_rows(run, Status.FAILED, first, first, wakes=True) == 1
    run.refresh_from_db()
    assert run.state == RunState.ACTIVE
    verbs.stop(run)
    assert verbs._reopen_rows(run, Status.FAILED, others[0], others[-1], wakes=False) == 0
    run.refresh_from_db()
    assert (run.state, progress(run).failed) == (RunState.STOPPED, 3)


def test_outputs_that_come_while_a_run_is_being_stopped_do_not_wake_it(make_experiment, make_version, alice):
    experiment = make_experiment(3)
    experiment.output_set.last().delete()
    run = start(make_version("length"), experiment, alice)
    verbs.stop(run)
    add_outputs(experiment)
    prepare(run.pk)  # by somebody who saw it active
    run.refresh_from_db()
    assert (run.state, progress(run).pending) == (RunState.STOPPED, 3)
    verbs.resume(run)
    work("cpu")
    assert progress(run).scored == 3
