"""Slots, turns and pace: who may ask now, and what refusals of the endpoint change about it."""

import asyncio
import time

import pytest

from evalstudio.calls.chat.gate import Gate, lower, raise_
from evalstudio.calls.replies import NotNow


def run(scene):
    return asyncio.run(asyncio.wait_for(scene, 10))


async def queue(gate, *names, again=False):
    """Let these stand in line; returns the list that their names go to as they are let in."""
    let_in = []

    async def come(name):
        await gate.enter(again=again)
        let_in.append(name)

    tasks = [asyncio.ensure_future(come(name)) for name in names]
    await asyncio.sleep(0)
    return let_in, tasks


async def breathe():
    for _ in range(5):
        await asyncio.sleep(0)


def test_no_more_are_let_in_than_there_are_slots():
    async def scene():
        gate = Gate(2)
        let_in, _ = await queue(gate, "a", "b", "c", "d")
        await breathe()
        assert let_in == ["a", "b"]
        gate.leave()
        await breathe()
        assert let_in == ["a", "b", "c"]
        assert (gate.in_flight, gate.waiting) == (2, 1)

    run(scene())


def test_who_must_try_again_goes_first():
    async def scene():
        gate = Gate(1)
        new, _ = await queue(gate, "inside", "new")
        again, _ = await queue(gate, "again", again=True)
        gate.leave()
        await breathe()
        assert (new, again) == (["inside"], ["again"])

    run(scene())


def test_one_who_gives_up_leaves_no_slot_behind():
    async def scene():
        gate = Gate(1)
        let_in, tasks = await queue(gate, "a", "b", "c")
        await breathe()
        tasks[1].cancel()
        gate.leave()
        await breathe()
        assert (let_in, gate.in_flight) == (["a", "c"], 1)
        _, [late] = await queue(gate, "late")
        gate.leave()
        late.cancel()  # let in, and gone before it knew
        await breathe()
        assert gate.in_flight == 0

    run(scene())


def test_no_slots_means_nobody_until_some_are_granted():
    async def scene():
        gate = Gate(0)
        let_in, _ = await queue(gate, "a", "b")
        await breathe()
        assert let_in == []
        gate.grant(1, None)
        await breathe()
        assert let_in == ["a"]
        gate.grant(0, None)
        gate.leave()
        await breathe()
        assert let_in == ["a"]

    run(scene())


def test_starts_are_paced():
    async def scene():
        gate = Gate(100, rpm=600)  # ten at once, then one every 100 ms
        began = time.monotonic()
        let_in, tasks = await queue(gate, *range(13))
        await breathe()
        assert let_in[:10] == [*range(10)]
        await asyncio.gather(*tasks)
        assert time.monotonic() - began >= 0.25

    run(scene())


def test_a_stray_refusal_changes_nothing():
    async def scene():
        gate = Gate(64)
        for _ in range(64):
            await gate.enter(again=False)
        for _ in range(4):
            gate.leave(refused=True, wait_s=1.0)
        assert (gate.limit, gate.blocked_for()) == (64, 0.0)
        assert gate.snapshot().refused == 4

    run(scene())


def test_a_run_of_refusals_lowers_the_ceiling_once_a_second_and_waits():
    async def scene():
        gate = Gate(10)
        for _ in range(10):
            await gate.enter(again=False)
        for _ in range(10):
            gate.leave(refused=True, wait_s=0.2)
        assert gate.limit == 7
        assert 0.1 < gate.blocked_for() <= 0.2
        seen = gate.snapshot()
        assert (seen.refused, seen.lowered, seen.ceiling, seen.started) == (10, 1, 7.0, 10)
        assert "429 to" in seen.blocked_why
        assert gate.snapshot().refused == 0

        began = time.monotonic()
        await gate.enter(again=True)
        assert time.monotonic() - began >= 0.1

    run(scene())


def test_refusals_right_after_the_start_are_compared_with_what_is_still_open():
    async def scene():
        gate = Gate(64)
        for _ in range(64):
            await gate.enter(again=False)
        for _ in range(5):  # refusals come back at once, replies not before 200 ms
            gate.leave(refused=True, wait_s=1.0)
        assert gate.ceiling is None

    run(scene())


def test_the_ceiling_recovers_when_all_is_well(monkeypatch):
    async def scene():
        gate = Gate(20)
        for _ in range(20):
            await gate.enter(again=False)
        for _ in range(20):
            gate.leave(refused=True)
        assert gate.limit == 14
        now = time.monotonic()
        for seconds, limit in ((4, 14), (6, 16), (12, 18), (40, 20)):
            monkeypatch.setattr(time, "monotonic", lambda at=now + seconds: at)
            await gate.enter(again=False)
            gate.leave()
            assert gate.limit == limit
        assert gate.ceiling is None

    run(scene())


def test_the_rule_of_the_ceiling():
    assert lower(10) == 7
    assert lower(1) == 1
    assert raise_(10, 64, clean_s=5) == 16.4
    assert raise_(1, 4, clean_s=5) == 2
    assert raise_(63, 64, clean_s=60) == 64


def test_a_long_wait_sends_everybody_back():
    async def scene():
        gate = Gate(1)
        _, [_, waiting] = await queue(gate, "inside", "waiting")
        gate.grant(1, None, blocked_for_s=300)
        with pytest.raises(NotNow, match="left alone for 300 s"):
            await waiting
        with pytest.raises(NotNow):
            await gate.enter(again=True)

    run(scene())


def test_stop_refuses_those_who_wait_and_lets_the_others_finish():
    async def scene():
        gate = Gate(1)
        let_in, [_, waiting] = await queue(gate, "inside", "waiting")
        gate.stop("Stopped.")
        with pytest.raises(NotNow, match=r"Stopped\."):
            await waiting
        with pytest.raises(NotNow):
            await gate.enter(again=False)
        gate.leave()
        assert (let_in, gate.in_flight) == (["inside"], 0)

    run(scene())
