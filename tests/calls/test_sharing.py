"""Sharing: workers together never use more of a connection than it allows."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from hypothesis import given
from hypothesis import strategies as st

from evalstudio.calls import leases, sharing
from evalstudio.calls.models import Connection, ConnectionShare, Lease
from evalstudio.calls.replies import NotNow
from evalstudio.calls.sharing import Use, fair


@pytest.fixture
def connection(project):
    return Connection.objects.create(
        project=project, name="one", base_url="http://127.0.0.1:1/v1", model="tiny", max_in_flight=10
    )


class Worker:
    """What a worker does about one connection: it uses what it was granted until it is told otherwise."""

    def __init__(self, connection: Connection, wanted: int = 100) -> None:
        self.connection, self.wanted = connection, wanted
        self.lease = leases.take("net")
        self.slots = self.in_flight = 0

    def look(self, **told) -> sharing.Grant:
        use = Use(self.wanted, self.slots, self.in_flight, **told)
        grant = sharing.adjust(self.lease.pk, {self.connection.pk: use})[self.connection.pk]
        self.slots = grant.slots
        return grant


def in_use() -> int:
    return sum(ConnectionShare.objects.values_list("slots", flat=True))


@given(st.integers(0, 300), st.lists(st.integers(0, 300), max_size=8))
def test_fair_shares_never_exceed_the_limit_or_a_wish_and_leave_nothing_that_is_wanted(limit, wants):
    shares = fair(limit, wants)
    assert sum(shares) == min(limit, sum(wants))
    assert all(share <= want for share, want in zip(shares, wants, strict=True))


def test_the_smallest_wish_is_served_whole():
    assert fair(10, [1, 20, 20]) == [1, 5, 4]
    assert fair(1, [20, 1]) == [0, 1]


@pytest.mark.django_db
class TestAdjusting:
    def test_a_worker_alone_gets_everything(self, connection):
        assert Worker(connection).look().slots == 10

    def test_a_second_worker_waits_until_the_first_has_made_room(self, connection):
        first, second = Worker(connection), Worker(connection)
        first.look()
        first.in_flight = 10
        assert second.look().slots == 0
        assert first.look().slots == 5  # it may start no more than five, but ten are still open
        assert second.look().slots == 0
        first.in_flight = 7
        first.look()
        assert second.look().slots == 3
        first.in_flight = 5
        first.look()
        assert second.look().slots == 5
        assert in_use() == 10

    def test_a_worker_that_wants_nothing_more_leaves_its_share(self, connection):
        first, second = Worker(connection), Worker(connection)
        first.look()
        second.look()
        first.wanted = 0
        first.look()
        first.look()
        assert not ConnectionShare.objects.filter(lease=first.lease).exists()
        assert second.look().slots == 10

    def test_the_share_of_a_dead_worker_is_free(self, connection):
        first, second = Worker(connection), Worker(connection)
        first.look()
        Lease.objects.filter(pk=first.lease.pk).update(expires_at=Now() - timedelta(seconds=1))
        assert second.look().slots == 10

    def test_starts_per_minute_go_with_the_slots(self, connection):
        connection.requests_per_minute = 60
        connection.save()
        first, second = Worker(connection), Worker(connection)
        first.look()
        second.look()
        first.look()
        first.look()
        assert (second.look().rpm, first.look().rpm) == (30, 30)

    def test_a_lower_limit_shrinks_everybody(self, connection):
        worker = Worker(connection)
        worker.look()
        connection.max_in_flight = 4
        connection.save()
        assert worker.look().slots == 4


@pytest.mark.django_db
class TestWhatTheEndpointBears:
    def test_refusals_lower_the_ceiling_for_everybody_once_a_second(self, connection):
        worker = Worker(connection)
        worker.look()
        assert worker.look(lowered=True).slots == 7
        assert worker.look(lowered=True).slots == 7

    def test_it_rises_again_after_clean_seconds(self, connection):
        worker = Worker(connection)
        worker.look(lowered=True)
        Connection.objects.update(ceiling_changed_at=Now() - timedelta(seconds=20))
        assert worker.look().slots == 10
        connection.refresh_from_db()
        assert connection.ceiling is None

    def test_a_block_reaches_the_others_and_the_longest_one_counts(self, connection):
        first, second = Worker(connection), Worker(connection)
        first.look(blocked_for_s=30, blocked_why="It said so.")
        first.look(blocked_for_s=5, blocked_why="It said less.")
        assert 25 < second.look().blocked_for_s <= 30
        connection.refresh_from_db()
        assert connection.blocked_why == "It said so."


@pytest.mark.django_db
class TestBorrowing:
    def test_a_request_borrows_a_slot_and_gives_it_back(self, connection):
        with sharing.borrow(connection) as grant:
            assert (grant.slots, in_use()) == (1, 1)
        assert in_use() == 0
        assert not Lease.objects.exists()

    def test_it_gives_up_when_workers_use_everything(self, connection):
        worker = Worker(connection)
        worker.look()
        with (
            pytest.raises(NotNow, match="All calls at once that “one” allows are in use"),
            sharing.borrow(connection, patience_s=0.2),
        ):
            pass
        assert not Lease.objects.filter(lane="bench").exists()

    def test_workers_make_room_for_it(self, connection):
        worker, bench = Worker(connection), Worker(connection, wanted=1)
        worker.look()
        bench.look()
        worker.look()
        worker.look()
        assert bench.look().slots == 1
