"""A run from its start to its last score, with everything that may happen in between."""

from __future__ import annotations

import pytest
from django_q.models import OrmQ

from evalstudio.calls import leases
from evalstudio.calls.models import Call, ConnectionShare, Lease
from evaluators.core import Status
from experiments.ledger.claim import claim, read_rows
from experiments.ledger.progress import progress
from experiments.ledger.start import CannotStart, start
from experiments.ledger.turn import work
from experiments.models import Evaluation, EvaluationBody, OutputBody, RunLabel, RunState, Slice
from tests.experiments.conftest import add_outputs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("small_kinds")]


def test_starting_writes_a_row_for_every_output_and_calls_a_worker(make_experiment, make_version, alice):
    run = start(make_version("length"), make_experiment(30), alice)
    assert run.state == RunState.ACTIVE
    assert Evaluation.objects.filter(run=run, state=Status.PENDING).count() == 30
    slices = Slice.objects.filter(run=run).order_by("id")
    assert sum(part.last_id - part.first_id + 1 for part in slices) == 30
    assert [row.task["args"] for row in OrmQ.objects.all()] == [("cpu",)]


def test_starting_again_changes_nothing(make_experiment, make_version, alice):
    version, experiment = make_version("length"), make_experiment(30)
    first, again = start(version, experiment, alice), start(version, experiment, alice)
    assert first == again
    assert (Evaluation.objects.count(), OrmQ.objects.count()) == (30, 1)


def test_starting_again_adds_rows_for_new_outputs(make_experiment, make_version, alice):
    version, experiment = make_version("length"), make_experiment(10)
    first = start(version, experiment, alice)
    work("cpu")
    experiment.output_set.order_by("pk").last().delete()
    add_outputs(experiment)
    again = start(version, experiment, alice)
    assert (again.pk, again.state) == (first.pk, RunState.ACTIVE)
    assert (progress(again).scored, progress(again).pending) == (9, 1)
    work("cpu")
    again.refresh_from_db()
    assert (again.state, progress(again).scored) == (RunState.FINISHED, 10)


def test_a_run_over_nothing_is_finished_at_once(make_experiment, make_version, alice):
    assert start(make_version("length"), make_experiment(0), alice).state == RunState.FINISHED


def test_a_version_without_its_connection_cannot_start(make_experiment, make_version, connection, alice):
    version = make_version("asking", connection_id=connection.pk)
    connection.archived_at = connection.created_at
    connection.save()
    with pytest.raises(CannotStart, match="archived"):
        start(version, make_experiment(3), alice)


def test_computing_rows_are_scored_and_the_run_finishes(make_experiment, make_version, alice):
    run = start(make_version("length"), make_experiment(700), alice)
    work("cpu")
    run.refresh_from_db()
    now = progress(run)
    assert (run.state, now.scored, now.pending, now.is_over) == (RunState.FINISHED, 700, 0, True)
    assert run.finished_at is not None
    assert set(RunLabel.objects.filter(run=run).values_list("label", flat=True)) == {"short", "long"}
    assert not Slice.objects.filter(done=False).exists()
    assert not Lease.objects.exists()
    assert not EvaluationBody.objects.exists()  # there was nothing to say


def test_a_fault_in_a_kind_costs_one_row(make_experiment, make_version, alice):
    run = start(make_version("length", broken="answer 5"), make_experiment(20), alice)
    work("cpu")
    failed = Evaluation.objects.get(run=run, state=Status.FAILED)
    assert failed.why == "broken"
    assert "This kind has a fault." in failed.body.reason
    assert progress(run).scored == 19


def test_calling_rows_are_scored_and_their_replies_kept(make_experiment, make_version, connection, chat_server, alice):
    run = start(make_version("asking", connection_id=connection.pk), make_experiment(50), alice)
    work("net")
    run.refresh_from_db()
    assert (run.state, progress(run).scored) == (RunState.FINISHED, 50)
    assert (chat_server.calls, Call.objects.count()) == (50, 50)
    assert chat_server.max_in_flight <= 8
    assert EvaluationBody.objects.filter(reason="It did.").count() == 50
    assert not ConnectionShare.objects.exists()


def test_rows_hold_what_was_stored_to_the_last_digit(make_experiment, make_version, alice):
    """An amount of a currency with 18 decimals has more than 64 bits, and a float would make two amounts equal."""
    experiment = make_experiment(1)
    OutputBody.objects.update(outputs={"value": 2**70 + 1})
    start(make_version("length"), experiment, alice)
    claimed = claim("cpu", leases.take("cpu").pk, 10)
    assert read_rows(claimed)[0].sample.outputs == {"value": 2**70 + 1}
