"""Leases: who is alive, and how soon the dead are found out."""

from __future__ import annotations

import subprocess
import sys
import time
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from evalstudio.calls import leases
from evalstudio.calls.leases import Heartbeat
from evalstudio.calls.models import Lease

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
