"""What keeps processes alive: the delay of one that keeps dying is its own, and holds up neither others nor the end."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TWO_CHILDREN = """
import os, sys, time
from evalstudio.serving.supervisor import Child, Supervisor

def flaky():
    print("flaky runs", flush=True)
    sys.exit(3)

def steady():
    print("steady runs as", os.getpid(), flush=True)
    time.sleep(600)

def say(line):
    print(line, flush=True)

Supervisor([Child("flaky", flaky, quick_deaths=9), Child("steady", steady)], say).run()
"""


class Supervised:
    def __init__(self, log: Path) -> None:
        self._log = log
        with log.open("w") as out:
            self.process = subprocess.Popen([sys.executable, "-c", TWO_CHILDREN], cwd=ROOT, stdout=out, stderr=out)

    def lines(self, beginning: str, at_least: int = 0) -> list[str]:
        """Lines of the log that begin so, once there are enough of them."""
        give_up_at = time.monotonic() + 20
        while True:
            found = [line for line in self._log.read_text().splitlines() if line.startswith(beginning)]
            if len(found) >= at_least:
                return found
            assert time.monotonic() < give_up_at, self._log.read_text()
            time.sleep(0.05)


@pytest.fixture
def supervised(tmp_path):
    supervised = Supervised(tmp_path / "log")
    yield supervised
    if supervised.process.poll() is None:
        supervised.process.kill()
        supervised.process.wait()


def test_one_that_keeps_dying_waits_longer_and_longer_while_others_start_at_once(supervised):
    assert supervised.lines("flaky ended", 1) == ["flaky ended (exit code 3); starting it again in 30 s"]
    first = int(supervised.lines("steady runs", 1)[0].split()[-1])
    os.kill(first, signal.SIGKILL)
    second = int(supervised.lines("steady runs", 2)[1].split()[-1])
    assert second != first
    assert supervised.lines("flaky runs") == ["flaky runs"], "its own time had not come"


def test_the_end_does_not_wait_for_one_that_has_not_started_again(supervised):
    supervised.lines("flaky ended", 1)
    steady = int(supervised.lines("steady runs", 1)[0].split()[-1])
    supervised.process.terminate()
    assert supervised.process.wait(25) == 0
    assert not Path(f"/proc/{steady}").exists()
