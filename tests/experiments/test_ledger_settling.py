"""Settling: each row once, together with its words and replies, whatever a score holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evalstudio.calls.models import Call
from evalstudio.calls.replies import Reply
from evaluators.core import Score, Status, Why
from experiments.ledger.settle import Book, settle
from experiments.ledger.start import start
from experiments.models import Evaluation, EvaluationBody, Run, RunLabel

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("small_kinds")]


@pytest.fixture
def run(make_experiment, make_version, connection, alice):
    return start(make_version("asking", connection_id=connection.pk), make_experiment(5), alice)


@pytest.fixture
def ids(run):
    return list(Evaluation.objects.filter(run=run).order_by("pk").values_list("pk", flat=True))


def scored(value: float = 1.0, **more) -> Score:
    return Score(Status.SCORED, value=value, label="good", passed=True, reason="Because.", **more)


def reply_to(run: Run, key: str, **more) -> Reply:
    return Reply(key=key, connection_id=run.connection_id, model_asked="tiny", text="yes", cost_usd=0.25, **more)


def test_the_first_score_counts_and_a_late_one_changes_nothing(run, ids):
    assert settle(Book(run.pk), [(ids[0], scored(0.75))]) == {ids[0]}
    late = scored(0.0, replies=(reply_to(run, "late"),))
    assert settle(Book(run.pk), [(ids[0], late), (ids[1], scored())]) == {ids[1]}
    row = Evaluation.objects.get(pk=ids[0])
    assert (row.score, row.passed, row.body.call_keys) == (0.75, True, None)
    assert EvaluationBody.objects.count() == 2
    assert Call.objects.get().key == "late"  # it was paid for, and may serve as a cached reply


def test_all_states_are_stored_as_they_are(run, ids):
    settle(
        Book(run.pk),
        [
            (ids[0], scored(latency_ms=12.5)),
            (ids[1], Score.unscored(Why.MISSING, "No outputs.value.")),
            (ids[2], Score.failed(Why.TIME, "Too slow.", logs=("one", "two"))),
        ],
    )
    rows = Evaluation.objects.filter(pk__in=ids[:3]).order_by("pk").select_related("body")
    assert [(row.state, row.score, row.why) for row in rows] == [
        (Status.SCORED, 1.0, ""),
        (Status.UNSCORED, None, "missing"),
        (Status.FAILED, None, "time limit"),
    ]
    assert rows[0].latency_ms == 12.5
    assert (rows[2].body.reason, rows[2].body.logs) == ("Too slow.", ["one", "two"])
    assert all(row.settled_at for row in rows)


def test_every_settling_counts_as_a_change_and_adds_up_the_cost(run, ids):
    revision = Run.objects.get(pk=run.pk).revision
    first = scored(replies=(reply_to(run, "a"), reply_to(run, "b", left_out=("seed",))))
    settle(Book(run.pk), [(ids[0], first)])
    cached = scored(replies=(reply_to(run, "a", from_cache=True),))
    settle(Book(run.pk), [(ids[1], cached)])
    run.refresh_from_db()
    assert (run.revision, run.spent_usd, run.left_out) == (revision + 2, 0.5, ["seed"])
    assert Evaluation.objects.get(pk=ids[1]).cost_usd == 0.25


def test_labels_are_numbered_once_for_the_run(run, ids):
    settle(Book(run.pk), [(ids[0], scored()), (ids[1], replace(scored(), label="bad"))])
    settle(Book(run.pk), [(ids[2], scored())])  # another worker, which remembers nothing
    labels = dict(RunLabel.objects.values_list("label_id", "label"))
    assert sorted(labels.values()) == ["bad", "good"]
    assert [labels[row.label_id] for row in Evaluation.objects.filter(pk__in=ids[:3]).order_by("pk")] == [
        "good", "bad", "good",
    ]  # fmt: skip


def test_texts_that_no_database_holds_are_stored_without_what_it_cannot(run, ids):
    odd = "nul \0 half \ud800 end"
    score = replace(
        scored(replies=(replace(reply_to(run, "odd"), text=odd),), logs=(odd,)),
        reason=odd,
        label=odd,
        measures={"good": 1.0, "nan": float("nan")},
    )
    settle(Book(run.pk), [(ids[0], score)])
    body = EvaluationBody.objects.get()
    assert body.reason == "nul � half ? end"
    assert body.logs == ["nul � half ? end"]
    assert body.measures == {"good": 1.0}
    assert Call.objects.get().text == "nul � half ? end"


def test_a_score_that_the_database_refuses_fails_alone(run, ids):
    impossible = Score(Status.SCORED, value=None)  # scored, but without a score
    settle(Book(run.pk), [(ids[0], scored()), (ids[1], impossible), (ids[2], scored())])
    states = Evaluation.objects.filter(pk__in=ids[:3]).order_by("pk").values_list("state", "why")
    assert list(states) == [(Status.SCORED, ""), (Status.FAILED, "broken"), (Status.SCORED, "")]


def test_a_reply_that_could_not_be_read_gives_way_and_one_that_could_stays(run, ids):
    def keep(text: str, *, reusable: bool) -> None:
        reply = replace(reply_to(run, "same"), text=text, reusable=reusable)
        settle(Book(run.pk), [(ids[0], scored(replies=(reply,)))])

    keep("gibberish", reusable=False)
    keep("a verdict", reusable=True)
    keep("another", reusable=True)
    assert Call.objects.get().text == "a verdict"
