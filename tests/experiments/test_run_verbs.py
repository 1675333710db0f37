"""Stop, resume, retry, and what a run says about rows that wait."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from evalstudio.calls import leases
from evaluators.core import Status
from experiments.ledger import verbs
from experiments.ledger.blocked import why_not_yet, why_row_waits
from experiments.ledger.claim import CRASHES, claim
from experiments.ledger.progress import progress
from experiments.ledger.start import CannotStart, start
from experiments.ledger.sweep import sweep
from experiments.ledger.turn import work
from experiments.models import Evaluation, EvaluationBody, RunState, Slice

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("small_kinds")]


@pytest.fixture
def run(make_experiment, make_version, connection, alice):
    return start(make_version("asking", connection_id=connection.pk), make_experiment(30), alice)


def test_a_run_that_nobody_works_on_stops_at_once(run):
    verbs.stop(run)
    assert run.state == RunState.STOPPED
    work("net")
    assert progress(run).pending == 30


def test_a_stop_lets_calls_in_flight_land_and_starts_no_other(run, chat_server):
    release = chat_server.hold()
    worker = threading.Thread(target=work, args=("net",))
    worker.start()
    while chat_server.calls < 8:
        time.sleep(0.02)
    verbs.stop(run)
    assert run.state == RunState.STOPPING
    release.set()
    worker.join()
    run.refresh_from_db()
    assert run.state == RunState.STOPPED
    assert progress(run).scored == chat_server.calls < 30


def test_a_stopped_run_goes_on_when_it_is_resumed(run):
    verbs.stop(run)
    OrmQ.objects.all().delete()
    verbs.resume(run)
    assert run.state == RunState.ACTIVE
    assert OrmQ.objects.count() == 1
    work("net")
    run.refresh_from_db()
    assert (run.state, progress(run).scored) == (RunState.FINISHED, 30)


def test_retry_asks_again_for_what_has_no_score_and_for_nothing_else(run, chat_server):
    said = chat_server.reply
    chat_server.reply = lambda body: "?" if "answer 7" in body["messages"][0]["content"] else said(body)
    work("net")
    run.refresh_from_db()
    assert (progress(run).scored, progress(run).unscored) == (29, 1)
    assert Evaluation.objects.get(run=run, state=Status.UNSCORED).body.reason == "The model did not say."
    chat_server.reply = said
    assert verbs.retry(run, failed_only=True) == 0
    assert verbs.retry(run) == 1
    assert run.state == RunState.ACTIVE
    work("net")
    run.refresh_from_db()
    assert (run.state, progress(run).scored, chat_server.calls) == (RunState.FINISHED, 30, 31)
    assert EvaluationBody.objects.count() == 30


@pytest.mark.parametrize("verb", [verbs.resume, verbs.retry])
def test_a_run_that_has_spent_what_it_may_is_not_asked_for_more(run, verb):
    verbs.stop(run)
    Evaluation.objects.update(state=Status.FAILED, settled_at=timezone.now())
    type(run).objects.update(limit_usd=1.0, spent_usd=1.25)
    run.refresh_from_db()
    with pytest.raises(CannotStart, match=r"It has spent what it may\. It goes on when its limit is raised\."):
        verb(run)
    assert (run.state, progress(run).failed) == (RunState.STOPPED, 30)


def test_an_endpoint_that_refuses_the_key_fails_every_row_with_the_reason(run, chat_server):
    chat_server.key = "another"
    work("net")
    run.refresh_from_db()
    assert (run.state, progress(run).failed) == (RunState.FINISHED, 30)


@pytest.mark.parametrize("asked_s", [3600, 1.7e12, float("inf")])
def test_an_endpoint_that_wants_long_peace_keeps_its_rows_pending(run, chat_server, connection, asked_s):
    from tests.local_chat_server import too_many

    chat_server.then(*[too_many(retry_after=asked_s)] * 8)
    work("net")
    connection.refresh_from_db()
    assert timezone.now() < connection.blocked_until < timezone.now() + timedelta(days=1, hours=1)
    assert (progress(run).failed, progress(run).unscored) == (0, 0)
    (waiting,) = why_not_yet(run)
    assert waiting.rows == progress(run).pending > 0
    assert "left alone" in waiting.why
    assert waiting.until == connection.blocked_until


def test_an_endpoint_that_puts_off_a_row_that_is_tried_alone_is_left_alone(run, chat_server, connection):
    from tests.local_chat_server import too_many

    Slice.objects.update(crashes=CRASHES)
    chat_server.then(too_many(retry_after=3600))
    OrmQ.objects.all().delete()
    work("net")
    connection.refresh_from_db()
    assert chat_server.calls == 1
    assert connection.blocked_until > timezone.now()
    assert OrmQ.objects.count() == 0


class TestWhyNotYet:
    def test_nobody_has_come_yet(self, run):
        (waiting,) = why_not_yet(run)
        assert (waiting.rows, waiting.why) == (30, "A worker has been called and is about to begin.")

    def test_nobody_will_come(self, run):
        OrmQ.objects.update(lock=timezone.now() - timedelta(seconds=42))
        assert why_not_yet(run)[0].why == "No background worker has answered for 42 s. Is it running?"

        OrmQ.objects.update(lock=timezone.now() - timedelta(seconds=4000))
        said = "No background worker has answered for 1 h 6 min. Is it running?"
        assert why_not_yet(run)[0].why.replace("\N{NO-BREAK SPACE}", " ") == said

    def test_a_worker_has_some_of_them(self, run):
        lease = leases.take("net")
        claim("net", lease.pk, 8, run.connection_id)
        held, free = sorted(why_not_yet(run), key=lambda waiting: waiting.rows)
        assert (held.rows, free.rows) == (8, 22)
        assert held.why == "A worker has them: they are being evaluated or next in line."
        assert free.why == "Next in line: a worker takes them as soon as it has room."

    def test_their_worker_has_ended(self, run):
        lease = leases.take("net")
        claim("net", lease.pk, 30, run.connection_id)
        type(lease).objects.update(pid_start="long ago")
        (waiting,) = why_not_yet(run)
        assert "has ended" in waiting.why
        sweep()
        assert "about to begin" in why_not_yet(run)[0].why

    def test_the_connection_was_archived(self, run, connection):
        connection.archived_at = timezone.now()
        connection.save()
        run.refresh_from_db()
        assert why_not_yet(run)[0].why == "The connection “local” is archived. Use it again, or choose another."
        work("net")
        assert progress(run).pending == 30

    def test_the_run_was_stopped(self, run):
        verbs.stop(run)
        assert why_not_yet(run)[0].why == "The run was stopped. It goes on when it is resumed."

    def test_everything_is_settled(self, run):
        work("net")
        run.refresh_from_db()
        assert why_not_yet(run) == []

    def test_each_row_says_the_same(self, run):
        lease = leases.take("net")
        claim("net", lease.pk, 8, run.connection_id)
        rows = Evaluation.objects.filter(run=run).order_by("pk").select_related("run__connection")
        assert why_row_waits(rows[0]).why.startswith("A worker has them")
        assert why_row_waits(rows[29]).why.startswith("Next in line")

    def test_it_costs_the_same_however_many_rows_wait(self, run, make_experiment, django_assert_max_num_queries):
        Slice.objects.update(crashes=0)
        with django_assert_max_num_queries(8):
            why_not_yet(run)
