"""Leases: who is alive, and how soon the dead are found out."""

from __future__ import annotations

import platform
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.db.models.functions import Now

from evalstudio.calls import leases
from evalstudio.calls.leases import Heartbeat
from evalstudio.calls.models import Lease

EXIT_OF_A_THREAD = {"x86_64": 60, "aarch64": 93}  # by machine, the number of the system call
pytestmark = pytest.mark.django_db(transaction=True)


def expire(lease: Lease) -> None:
    Lease.objects.filter(pk=lease.pk).update(expires_at=Now() - timedelta(seconds=1))


def test_a_lease_of_this_process_is_alive_here():
    lease = leases.take("net")
    assert list(leases.alive_here("net")) == [lease]
    assert not leases.alive_here("cpu").exists()
    assert leases.dead() == []


def test_one_that_was_not_renewed_is_dead_and_cannot_be_renewed():
    lease = leases.take("net")
    expire(lease)
    assert leases.dead() == [lease]
    assert not leases.renew(lease.pk)
    assert leases.is_running(lease)  # it is late, not gone


def test_the_lease_of_a_process_that_ended_is_dead_at_once():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        lease = leases.take("net")
        Lease.objects.filter(pk=lease.pk).update(pid=process.pid, pid_start=leases._start_of(process.pid))
        assert leases.dead() == []
        process.kill()
        time.sleep(0.1)  # until then it is a zombie, which counts as ended
        assert leases.dead() == [lease]


HALF_DEAD = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
print("ready", flush=True)
ctypes.CDLL(None).syscall(EXIT, 0)
"""


@pytest.mark.skipif(platform.machine() not in EXIT_OF_A_THREAD, reason="knows no number of the system call")
def test_a_process_that_is_still_dying_holds_what_it_has_open():
    dying = HALF_DEAD.replace("EXIT", str(EXIT_OF_A_THREAD[platform.machine()]))
    with subprocess.Popen([sys.executable, "-c", dying], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        lease = leases.take("net")
        Lease.objects.filter(pk=lease.pk).update(pid=process.pid, pid_start=leases._start_of(process.pid))
        wait_for(lambda: state_of(process.pid) == "Z")
        assert leases.dead() == []
        process.kill()
        wait_for(lambda: leases.dead() == [lease])


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def wait_for(condition: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < give_up_at
        time.sleep(0.02)


def test_another_process_with_the_same_id_is_not_taken_for_the_holder():
    lease = leases.take("net")
    Lease.objects.filter(pk=lease.pk).update(pid_start="1")
    assert leases.dead() == [lease]


def test_a_process_of_another_host_is_given_its_time():
    lease = leases.take("net")
    Lease.objects.filter(pk=lease.pk).update(host="elsewhere", pid=1, pid_start="1")
    assert leases.dead() == []
    assert not leases.alive_here("net").exists()


def test_a_heartbeat_renews_until_the_lease_is_lost():
    lease = leases.take("net")
    with Heartbeat(lease.pk, every_s=0.05) as heartbeat:
        Lease.objects.filter(pk=lease.pk).update(expires_at=Now() + timedelta(seconds=5))
        time.sleep(0.4)
        lease.refresh_from_db()
        assert leases.alive().filter(expires_at__gt=Now() + timedelta(seconds=20)).exists()
        assert heartbeat.is_fresh
        leases.give_back(lease.pk)
        time.sleep(0.4)
        assert heartbeat.is_lost
        assert not heartbeat.is_fresh
