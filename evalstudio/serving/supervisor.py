"""Keeps child processes alive: forks them, restarts one that dies and says so, ends them all together."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

STOP_WITHIN_S = 15.0
_PR_SET_PDEATHSIG = 1

Say = Callable[[str], None]


@dataclass
class Child:
    """A process to keep alive. `main` runs in the fork and should return only when it was told to stop."""

    name: str
    main: Callable[[], None]
    pid: int = 0
    started_at: float = 0.0
    quick_deaths: int = 0


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
        for child in self.children:
            self._start(child)
        while not self.stopping:
            self._restart_the_dead()
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

    def _restart_the_dead(self) -> None:
        for child in self.children:
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if not pid or self.stopping:
                continue
            _kill_group(pid)  # what it had started must not go on beside its successor
            quick = time.monotonic() - child.started_at < 5
            child.quick_deaths = child.quick_deaths + 1 if quick else 0
            wait = min(30.0, 2.0**child.quick_deaths - 1)
            self.say(f"{child.name} ended ({_how(status)}); starting it again{f' in {wait:.0f} s' if wait else ''}")
            time.sleep(wait)
            self._start(child)

    def _stop(self, *_: object) -> None:
        self.stopping = True

    def _end_all(self) -> None:
        self.say("stopping")
        for child in self.children:
            _signal(child.pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_WITHIN_S
        left = {child.pid for child in self.children}
        while left and time.monotonic() < deadline:
            left = {pid for pid in left if os.waitpid(pid, os.WNOHANG)[0] == 0}
            time.sleep(0.05)
        for child in self.children:
            _kill_group(child.pid)
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
