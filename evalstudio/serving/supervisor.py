"""Keeps child processes alive: forks them, restarts one that dies and says so, ends them all together.

One that keeps dying soon after its start is started again later and later, while the others are looked after as before.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

STOP_WITHIN_S = 15.0
QUICK_S = 5.0  # who dies sooner after its start is likely to do so again
LONGEST_DELAY_S = 30.0
_PR_SET_PDEATHSIG = 1

Say = Callable[[str], None]


@dataclass
class Child:
    """A process to keep alive. `main` runs in the fork and should return only when it was told to stop."""

    name: str
    main: Callable[[], None]
    pid: int = 0  # 0 between a death and the next start
    started_at: float = 0.0
    starts_at: float = 0.0
    quick_deaths: int = 0

    def delay_s(self) -> float:
        """Count the death that has just been seen; how long to wait before the next start."""
        quick = time.monotonic() - self.started_at < QUICK_S
        self.quick_deaths = self.quick_deaths + 1 if quick else 0
        return min(LONGEST_DELAY_S, 2.0**self.quick_deaths - 1)


class Supervisor:
    """Children are forked from this process, which has loaded everything: they start at once and share memory."""

    def __init__(self, children: list[Child], say: Say) -> None:
        self.children = children
        self.say = say
        self.stopping = False

    def run(self) -> None:
        """Returns when every child has ended after SIGINT or SIGTERM."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._stop)
        while not self.stopping:
            for child in self.children:
                self._look_at(child)
            time.sleep(0.2)
        self._end_all()

    def _start(self, child: Child) -> None:
        sys.stdout.flush()
        parent = os.getpid()
        child.started_at = time.monotonic()
        child.pid = os.fork()
        if child.pid:
            return
        try:
            # A session of its own: Ctrl-C reaches only the supervisor, which then ends the children in order.
            os.setsid()
            _die_with(parent)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            child.main()
        except KeyboardInterrupt:
            pass
        except SystemExit as end:
            os._exit(end.code if isinstance(end.code, int) else 1)
        except BaseException:  # noqa: BLE001  the fork must never run on into the parent's code
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)

    def _look_at(self, child: Child) -> None:
        """Notice its death, or start it when its time has come."""
        if not child.pid:
            if not self.stopping and time.monotonic() >= child.starts_at:
                self._start(child)
            return
        pid, status = os.waitpid(child.pid, os.WNOHANG)
        if not pid:
            return
        _kill_group(pid)  # what it had started must not go on beside its successor
        child.pid = 0
        wait = child.delay_s()
        child.starts_at = time.monotonic() + wait
        if not self.stopping:
            self.say(f"{child.name} ended ({_how(status)}); starting it again{f' in {wait:.0f} s' if wait else ''}")

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def _end_all(self) -> None:
        self.say("stopping")
        running = {child.pid for child in self.children if child.pid}
        for pid in running:
            _signal(pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_WITHIN_S
        left = running
        while left and time.monotonic() < deadline:
            left = {pid for pid in left if os.waitpid(pid, os.WNOHANG)[0] == 0}
            time.sleep(0.05)
        for pid in running:
            _kill_group(pid)
        for pid in left:
            os.waitpid(pid, 0)


def _die_with(parent: int) -> None:
    """Ask Linux to end this process when its parent is killed; elsewhere an orphan lives on until it is stopped."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)


def _signal(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def _kill_group(pid: int) -> None:
    try:
        os.killpg(pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
    return f"exit code {os.waitstatus_to_exitcode(status)}"
