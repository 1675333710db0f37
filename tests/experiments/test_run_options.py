"""Options of runs: which outputs, how often, what is kept; limits on spend and time; priority."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from evalstudio.calls import leases
from evalstudio.calls.models import Call
from evaluators.core import Status
from experiments.ledger import verbs
from experiments.ledger.asked import Asked, Take, selected
from experiments.ledger.blocked import why_not_yet
from experiments.ledger.claim import claim
from experiments.ledger.limits import affordable
from experiments.ledger.progress import progress
from experiments.ledger.start import CannotStart, follow, start
from experiments.ledger.sweep import sweep
from experiments.ledger.turn import work
from experiments.models import Case, Evaluation, EvaluationBody, Priority, Run, RunState, StopReason
from tests.experiments.conftest import add_outputs

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("small_kinds")]


@pytest.fixture
def version(make_version, connection):
    return make_version("asking", connection_id=connection.pk)


@pytest.fixture
def priced(connection, chat_server):
    """Every call costs two dollars and takes a moment."""
    connection.usd_per_million_in, connection.usd_per_million_out = 0, 1_000_000
    connection.save()
    chat_server.latency_s = 0.05
    return connection


def keys_of(run: Run) -> list[str]:
    rows = Evaluation.objects.filter(run=run).order_by("output", "repeat")
    return list(rows.values_list("output__case__key", flat=True))


def waiting_of(run: Run) -> list[tuple[int, str]]:
    run.refresh_from_db()
    return [(group.rows, group.why) for group in why_not_yet(run)]


# --- Which outputs ----------------------------------------------------------------------------------------------------
def test_the_first_few_are_judged_and_outputs_that_come_later_are_not(version, make_experiment):
    experiment = make_experiment(20)
    run = start(version, experiment, asked=Asked(Take.FIRST, n=3))
    assert keys_of(run) == ["case-0", "case-1", "case-2"]
    follow(experiment)
    assert start(version, experiment, asked=Asked(Take.FIRST, n=3)) == run
    assert len(keys_of(run)) == 3
    assert selected(run) == "the first 3"


def test_as_many_as_there_are_where_more_are_asked_for(version, make_experiment):
    for asked in (Asked(Take.FIRST, n=99), Asked(Take.RANDOM, n=99)):
        assert len(keys_of(start(version, make_experiment(5), asked=asked))) == 5


def test_a_seed_gives_the_same_outputs_and_another_seed_gives_others(version, make_experiment):
    experiment = make_experiment(60)
    chosen = [keys_of(start(version, experiment, asked=Asked(Take.RANDOM, n=10, seed=seed))) for seed in (7, 8, 7)]
    assert chosen[0] == chosen[2] != chosen[1]
    assert len(set(chosen[0])) == 10


def test_a_split_is_judged_with_its_outputs_that_come_later(version, make_experiment):
    experiment = make_experiment(6)
    Case.objects.filter(key__in=["case-1", "case-4"]).update(split="test")
    run = start(version, experiment, asked=Asked(Take.SPLIT, split="test"))
    assert keys_of(run) == ["case-1", "case-4"]
    late = {"dataset": experiment.dataset_version.dataset, "inputs": {}, "split": "test"}
    Case.objects.create(key="case-9", content_hash="9", **late)
    add_outputs(experiment)
    follow(experiment)
    assert keys_of(run) == ["case-1", "case-4", "case-9"]
    assert start(version, experiment, asked=Asked(Take.SPLIT, split="it's%s")).evaluation_set.count() == 0


# --- How often, and again ---------------------------------------------------------------------------------------------
def test_each_repeat_is_a_row_and_has_a_reply_of_its_own(version, make_experiment, chat_server):
    run = start(version, make_experiment(5), asked=Asked(repeats=3))
    work("net")
    assert progress(run).scored == 15
    assert chat_server.calls == Call.objects.count() == 15


def test_other_options_make_a_new_run_and_the_former_one_stays(version, make_experiment):
    experiment = make_experiment(4)
    first = start(version, experiment)
    second = start(version, experiment, asked=Asked(repeats=2))
    first.refresh_from_db()
    assert (first.is_current, second.is_current) == (False, True)
    assert len(keys_of(first)) == 4
    assert start(version, experiment, asked=Asked(repeats=2)) == second


def test_all_again_is_a_new_run_from_no_reply_that_is_kept(version, make_experiment, chat_server):
    experiment = make_experiment(4)
    start(version, experiment)
    work("net")
    again = start(version, experiment, asked=Asked(again=True))
    work("net")
    assert (progress(again).scored, chat_server.calls) == (4, 8)
    third = start(version, experiment, asked=Asked(again=True))
    assert third.first_repeat == 2
    assert Run.objects.filter(is_current=True).get() == third


def test_scores_only_keeps_numbers_and_no_words(version, make_experiment, chat_server):
    said = chat_server.reply
    chat_server.reply = lambda body: "?" if "answer 3" in body["messages"][0]["content"] else said(body)
    run = start(version, make_experiment(4), asked=Asked(keeps_details=False))
    work("net")
    assert (progress(run).scored, progress(run).unscored) == (3, 1)
    assert Evaluation.objects.get(run=run, state=Status.UNSCORED).why == "unparsed"
    assert not EvaluationBody.objects.exists()
    assert not Call.objects.exists()


@pytest.mark.parametrize("asked", [Asked(repeats=2), Asked(limit_s=60)])
def test_what_people_grade_has_neither_repeats_nor_limits(project, make_experiment, asked):
    from tests.experiments.test_human_runs import human_version

    with pytest.raises(CannotStart, match="neither repeats nor limits"):
        start(human_version(project), make_experiment(2), asked=asked)
    assert not Run.objects.exists()


# --- What it may spend ------------------------------------------------------------------------------------------------
def test_a_run_stops_cleanly_when_it_has_spent_what_it_may(version, make_experiment, priced, chat_server):
    run = start(version, make_experiment(60), asked=Asked(limit_usd=20))
    work("net")
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (RunState.STOPPED, StopReason.SPEND)
    assert run.spent_usd == 2 * chat_server.calls
    assert 20 <= run.spent_usd <= 20 + 2 * priced.max_in_flight, "more than what was in flight"
    left = 60 - chat_server.calls
    spent = f"It may spend $20.00, and has spent ${run.spent_usd:.2f}. It goes on when its limit is raised."
    assert waiting_of(run) == [(left, spent)]


def test_a_higher_limit_lets_it_go_on(version, make_experiment, priced):
    run = start(version, make_experiment(40), asked=Asked(limit_usd=20))
    work("net")
    with pytest.raises(CannotStart, match="It may spend"):
        verbs.resume(run)
    with pytest.raises(CannotStart, match="It may spend"):
        verbs.bound(run, {"limit_usd": 10})
    with pytest.raises(CannotStart, match="It may spend"):
        start(version, run.experiment)
    verbs.bound(run, {"limit_usd": 1000})
    work("net")
    run.refresh_from_db()
    assert (run.state, run.stop_reason, progress(run).scored) == (RunState.FINISHED, "", 40)


def test_what_workers_hold_is_reserved(version, make_experiment, priced):
    run = start(version, make_experiment(64), asked=Asked(limit_usd=40))
    ids = list(run.evaluation_set.order_by("pk").values_list("pk", flat=True)[:10])
    Evaluation.objects.filter(pk__in=ids).update(state=Status.SCORED, score=1, settled_at=timezone.now())
    Run.objects.filter(pk=run.pk).update(spent_usd=20)
    run.refresh_from_db()
    assert affordable(run) == 10
    lease = leases.take("net")
    while claim("net", lease.pk, 100, run.connection_id):
        assert affordable(run) < 10
    assert affordable(run) == 0
    held = why_not_yet(run)[-1].rows
    assert 10 <= held < 10 + 8, "at most the rest of a slice beyond what it may spend"
    assert "What is in flight may use up the limit of $40.00" in waiting_of(run)[0][1]


def test_replies_that_are_kept_cost_nothing(version, make_experiment, priced, chat_server):
    experiment = make_experiment(6)
    start(version, experiment)
    work("net")
    Call.objects.update(reusable=True)
    run = start(version, experiment, asked=Asked(keeps_details=False, limit_usd=1))
    work("net")
    run.refresh_from_db()
    assert (run.state, run.spent_usd, chat_server.calls) == (RunState.FINISHED, None, 6)


def test_a_limit_that_could_not_be_kept_is_refused(version, make_experiment):
    with pytest.raises(CannotStart, match="Give its prices, or limit the time"):
        start(version, make_experiment(3), asked=Asked(limit_usd=1))
    assert not Run.objects.exists()


# --- How long it may go on --------------------------------------------------------------------------------------------
def test_a_run_stops_when_its_time_is_over_and_resuming_gives_it_as_much_again(version, make_experiment, chat_server):
    chat_server.latency_s = 0.3
    run = start(version, make_experiment(200), asked=Asked(limit_s=1))
    work("net")
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (RunState.STOPPED, StopReason.TIME)
    assert 0 < progress(run).scored < 200
    assert [why.replace("\N{NO-BREAK SPACE}", " ") for _, why in waiting_of(run)] == [
        "It may go on for 1.00 s at a time. It goes on when it is resumed."
    ]
    verbs.resume(run)
    assert (run.state, run.stop_reason) == (RunState.ACTIVE, "")
    assert run.ends_at > timezone.now()


@pytest.mark.parametrize("limit", [{"limit_s": 60}, {"limit_usd": 1.0, "spent_usd": 2.0}])
def test_another_priority_alone_resumes_nothing(version, make_experiment, priced, limit):
    run = start(version, make_experiment(3))
    Run.objects.update(**limit, ends_at=timezone.now() - timedelta(seconds=1))
    sweep()
    run.refresh_from_db()
    reason = run.stop_reason
    verbs.bound(run, {"priority": Priority.HIGH, **{name: limit[name] for name in limit if name != "spent_usd"}})
    run.refresh_from_db()
    assert (run.state, run.stop_reason, run.priority) == (RunState.STOPPED, reason, Priority.HIGH)
    verbs.bound(run, {"limit_s": 600, "limit_usd": None})
    assert (run.state, run.stop_reason) == (RunState.ACTIVE, "")


def test_the_sweep_stops_a_run_whose_time_passes_while_nobody_works(version, make_experiment):
    run = start(version, make_experiment(3), asked=Asked(limit_s=60))
    Run.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    assert waiting_of(run) == [(3, "The run has reached its limit and is about to stop.")]
    sweep()
    run.refresh_from_db()
    assert (run.state, run.stop_reason) == (RunState.STOPPED, StopReason.TIME)


# --- Who comes first --------------------------------------------------------------------------------------------------
def test_a_higher_priority_is_served_first(version, make_version, make_experiment, connection):
    plain = start(version, make_experiment(30))
    urgent_version = make_version("asking", connection_id=connection.pk, name="urgent")
    urgent = start(urgent_version, make_experiment(30, "other"), asked=Asked(priority=Priority.HIGH))
    lease = leases.take("net")
    assert claim("net", lease.pk, 8, connection.pk).run == urgent
    assert claim("net", lease.pk, 8, connection.pk).run == urgent
    assert waiting_of(plain)[0][1].endswith("has a higher priority and is served first.")
    verbs.bound(urgent, {"priority": Priority.LOW})
    assert claim("net", lease.pk, 8, connection.pk).run == plain


# --- Outputs that came while it was stopped ---------------------------------------------------------------------------
def test_a_resumed_run_takes_up_outputs_that_came_meanwhile(version, make_experiment):
    experiment = make_experiment(4)
    run = start(version, experiment)
    verbs.stop(run)
    late = {"dataset": experiment.dataset_version.dataset, "inputs": {}}
    Case.objects.create(key="case-9", content_hash="9", **late)
    add_outputs(experiment)
    follow(experiment)
    assert progress(run).total == 4
    verbs.resume(run)
    assert (run.state, progress(run).pending) == (RunState.ACTIVE, 5)
    work("net")
    run.refresh_from_db()
    assert (run.state, progress(run).scored) == (RunState.FINISHED, 5)


def test_a_resumption_that_is_cut_off_is_completed_by_the_sweep(version, make_experiment):
    run = start(version, make_experiment(4))
    verbs.stop(run)
    Run.objects.update(state=RunState.PREPARING, created_at=timezone.now() - timedelta(minutes=5))
    sweep()
    run.refresh_from_db()
    assert run.state == RunState.ACTIVE
