"""The driver: samples in the air together, batches on the processor, and no error of one sample reaching another."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from evalstudio.calls.replies import NotNow
from evaluators.core import Needs, Sample, Score, Status, Why
from evaluators.engine import Boarding, Computation, Flight, Landing, Work, evaluate_now


class Waiting:
    """A calling kind that does what the sample's inputs say: a number of seconds to wait, or a word."""

    def needs(self, config):
        return Needs("net")

    async def one(self, config, sample, tools):
        if sample.inputs == "broken":
            raise RuntimeError("a fault of this kind")
        if sample.inputs == "not now":
            raise NotNow("Later, please.")
        if sample.inputs == "endless":
            return Score(Status.SCORED, value=float("inf"))
        if sample.inputs == "for a slot":
            await asyncio.sleep(60)
        tools.chat.sending.add(asyncio.current_task())
        await asyncio.sleep(sample.inputs)
        return Score(Status.SCORED, value=0.5)


class Halving:
    """A computing kind: half of the inputs."""

    def __init__(self, prepared=None):
        self.prepared = prepared

    def needs(self, config):
        return Needs("cpu")

    def prepare(self, config, tools):
        if self.prepared:
            raise self.prepared
        return lambda samples: [Score(Status.SCORED, value=sample.inputs / 2) for sample in samples]


class Chat:
    """Knows which tasks have a question on the wire, as the client does."""

    def __init__(self):
        self.sending = set()

    def is_sending(self, task):
        return task in self.sending


@asynccontextmanager
async def tools():
    yield SimpleNamespace(chat=Chat())


WAITING = Work(Waiting(), None, Needs("net"))


def boarding(ticket, inputs, group="run"):
    return Boarding(ticket, group, WAITING, Sample(inputs=inputs))


def collect(flight: Flight, n: int) -> dict[object, Landing]:
    landings: list[Landing] = []
    while len(landings) < n:
        landings += flight.landed(0.5)
    return {landing.ticket: landing for landing in landings}


def test_samples_fly_together():
    with Flight(tools) as flight:
        began = time.monotonic()
        flight.admit(boarding(i, 0.2) for i in range(50))
        landings = collect(flight, 50)
        assert time.monotonic() - began < 10, "as long as it takes one after the other"
    assert all(landing.score.value == 0.5 and landing.score.latency_ms >= 190 for landing in landings.values())
    assert flight.in_the_air == 0


def test_an_error_of_a_kind_is_a_failed_score_of_one_sample():
    with Flight(tools) as flight:
        flight.admit([boarding("good", 0), boarding("broken", "broken"), boarding("endless", "endless")])
        landings = collect(flight, 3)
    assert landings["good"].score.status is Status.SCORED
    assert landings["broken"].score.why is Why.BROKEN
    assert "a fault of this kind" in landings["broken"].score.reason
    assert landings["endless"].score.why is Why.BROKEN


def test_what_is_put_off_lands_without_a_score_and_with_the_reason():
    with Flight(tools) as flight:
        flight.admit([boarding("later", "not now")])
        assert collect(flight, 1)["later"] == Landing("later", None, "Later, please.")


def test_a_group_that_is_called_back_lands_what_is_on_the_wire_and_nothing_else():
    with Flight(tools) as flight:
        flight.admit([boarding("sent", 0.3, "stopped"), boarding("other", 0.3, "another")])
        flight.admit([boarding("waits", "for a slot", "stopped")])
        while len(flight.on_loop(lambda tools: tools.chat.sending)) < 2:
            time.sleep(0.01)
        flight.call_back("stopped")
        landings = collect(flight, 3)
    assert landings["sent"].score.value == landings["other"].score.value == 0.5
    assert landings["waits"] == Landing("waits", None)


def test_landings_are_collected_in_handfuls_and_at_once_when_all_are_down():
    with Flight(tools, collect=10) as flight:
        flight.admit(boarding(i, 0) for i in range(3))
        began = time.monotonic()
        assert len(flight.landed(60)) == 3
        assert time.monotonic() - began < 60


def test_a_flight_that_is_closed_leaves_nobody_behind():
    with Flight(tools) as flight:
        flight.admit([boarding("slow", 60)])
        time.sleep(0.05)
    assert not flight._thread.is_alive()


class TestComputation:
    def test_a_batch_gives_a_score_for_each_sample_in_order(self):
        scores = Computation(Work(Halving(), None, Needs("cpu")), None).scores([Sample(0.2), Sample(0.6)])
        assert [score.value for score in scores] == [0.1, 0.3]

    def test_a_sample_that_breaks_spoils_no_other(self):
        scores = Computation(Work(Halving(), None, Needs("cpu")), None).scores([Sample(1), Sample("one"), Sample(1)])
        assert [score.status for score in scores] == [Status.SCORED, Status.FAILED, Status.SCORED]

    def test_a_kind_that_cannot_be_prepared_fails_every_sample(self):
        scores = Computation(Work(Halving(ValueError("no")), None, Needs("cpu")), None).scores([Sample(1)] * 3)
        assert [score.why for score in scores] == [Why.BROKEN] * 3


@pytest.mark.django_db
class TestNow:
    def test_one_sample_of_either_sort(self):
        assert evaluate_now(Waiting(), None, Sample(0), tools).value == 0.5
        assert evaluate_now(Halving(), None, Sample(1), None).value == 0.5

    def test_past_the_limit_it_has_failed(self):
        score = evaluate_now(Waiting(), None, Sample(5), tools, limit_s=0.1)
        assert (score.status, score.why, score.reason) == (Status.FAILED, Why.TIME, "There was no score within 0.1 s.")

    def test_what_is_put_off_is_not_a_score(self):
        with pytest.raises(NotNow):
            evaluate_now(Waiting(), None, Sample("not now"), tools)


class Grading:
    """A kind of people: nothing evaluates."""

    def needs(self, config):
        return Needs("people")


def test_what_people_do_is_awaited_by_the_bench_too():
    assert evaluate_now(Grading(), None, Sample(), None) == Score(Status.AWAITING)
