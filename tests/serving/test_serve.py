"""`manage.py serve` as a person sees it: it starts, it restarts what dies, Ctrl-C ends every process."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def _wait_for(what, seconds=120.0):  # a first start runs every migration, on a busy machine slowly
    """Ask again until it is so; returns what it became. Fails when it never does."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what} never came true")


def _status(address):
    try:
        with urllib.request.urlopen(address, timeout=5) as reply:
            return reply.status
    except OSError:
        return None


def _children(pid):
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(line) for line in listed.stdout.split()]


def _family(pid):
    return [pid, *(each for child in _children(pid) for each in _family(child))]


def _alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def serving(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = (tmp_path / "log").open("w+")
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "evalstudio.settings",
        "EVALSTUDIO_DATA": str(tmp_path / "var"),
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "manage.py", "serve", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    yield process, f"http://127.0.0.1:{port}", tmp_path / "log"
    for pid in _family(process.pid):
        if _alive(pid):
            os.kill(pid, signal.SIGKILL)
    process.wait()


@pytest.mark.skipif(not Path("/proc").exists(), reason="reads /proc")
def test_it_serves_restarts_what_dies_and_ends_all(serving):
    process, address, log = serving
    _wait_for(lambda: _status(f"{address}/setup/") == 200)
    assert re.search(r"database: \d+ migrations", log.read_text())
    assert f"EvalStudio is at {address}/" in log.read_text()

    web, worker = sorted(_children(process.pid))
    os.kill(worker, signal.SIGKILL)
    _wait_for(lambda: "worker ended (killed by SIGKILL); starting it again" in log.read_text())
    os.kill(web, signal.SIGKILL)
    _wait_for(lambda: "web ended (killed by SIGKILL); starting it again" in log.read_text())
    _wait_for(lambda: _status(f"{address}/setup/") == 200)

    everybody = _family(process.pid)
    assert len(everybody) >= 5
    process.send_signal(signal.SIGINT)
    process.wait(timeout=30)
    _wait_for(lambda: not any(_alive(pid) for pid in everybody), 10)
