"""The queue's cluster, made so that a worker which is killed leaves its queue to the others.

Whoever waits for a task holds the queue's lock for reading. The lock that multiprocessing provides is a semaphore: once
its holder has been killed nobody can ever take it, and every worker waits for good. A lock on a file ends with the
process that holds it.
"""

from __future__ import annotations

import fcntl
import tempfile
from multiprocessing import Event, get_context
from typing import Any

from django_q import cluster
from django_q.queues import Queue


class DyingLock:
    """Held by one process at a time, and by none that has ended. Not for threads: a process may take it twice."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as there may be readers

    def __enter__(self) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        fcntl.lockf(self._file, fcntl.LOCK_UN)


class LastingQueue(Queue):
    """Its readers are single-threaded, and forked from the process that made it."""

    def __init__(self, maxsize: int = 0) -> None:
        super().__init__(maxsize=maxsize)
        self._rlock = DyingLock()


class Sentinel(cluster.Sentinel):
    def __init__(self, *args: Any) -> None:
        super().__init__(*args, start=False)
        self.task_queue = LastingQueue(cluster.Conf.QUEUE_LIMIT or 0)
        self.result_queue = LastingQueue()
        self.start()


class Cluster(cluster.Cluster):
    def start(self) -> int:
        """Start the process that keeps the workers; it returns at once."""
        self.stop_event, self.start_event = Event(), Event()
        told = (self.stop_event, self.start_event, self.cluster_id, self.broker, self.timeout)
        self.sentinel = get_context("fork").Process(target=Sentinel, args=told, name="sentinel")
        self.sentinel.start()
        return self.pid
