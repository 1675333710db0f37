"""The queue between the background workers: it outlives whoever reads from it."""

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest

from evalstudio.serving.cluster import LastingQueue

forked = multiprocessing.get_context("fork")
pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="reads /proc")


def _reader(queue, heard):
    reader = forked.Process(target=lambda: heard.send(queue.get()), daemon=True)
    reader.start()
    return reader


def _wait_until_asleep(pid):
    give_up_at = time.monotonic() + 20
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "S":
        assert time.monotonic() < give_up_at
        time.sleep(0.01)
    time.sleep(0.1)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_reader_that_is_killed_while_it_waits_leaves_the_queue_to_others(number):
    queue = LastingQueue(2)
    hears, heard = forked.Pipe(duplex=False)
    first = _reader(queue, heard)
    _wait_until_asleep(first.pid)
    second = _reader(queue, heard)
    _wait_until_asleep(second.pid)
    os.kill(first.pid, number)
    first.join()
    queue.put("work")
    assert hears.poll(20), "nobody took it"
    assert hears.recv() == "work"
    second.join()


def test_what_is_put_in_is_taken_once_however_many_wait():
    queue = LastingQueue(2)
    hears, heard = forked.Pipe(duplex=False)
    readers = [_reader(queue, heard) for _ in range(4)]
    for number in range(4):
        queue.put(number)
    for reader in readers:
        reader.join()
    assert sorted(hears.recv() for _ in readers) == [0, 1, 2, 3]
