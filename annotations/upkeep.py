"""Looking after background work of every floor; on this one, queues with a rule take in what has come."""

from __future__ import annotations

import logging

from django_q.models import Schedule

from annotations.intake import pull
from annotations.judging import calibrate_all
from annotations.models import Queue
from annotations.stale import give_up
from evaluators.kinds import BadConfig
from experiments import upkeep as experiments
from experiments.ledger.start import CannotStart

PULL = "annotations.upkeep.pull_all"
log = logging.getLogger(__name__)

look_after = experiments.look_after


def begin() -> None:
    """What the floor below begins with; and have the queue pull every minute."""
    Schedule.objects.update_or_create(
        name="review", defaults={"func": PULL, "schedule_type": Schedule.MINUTES, "minutes": 1, "repeats": -1}
    )
    experiments.begin()


def pull_all() -> None:
    """Queues with a rule, seats of who left, corrections. A scheduled task keeps this path: it must never move."""
    for queue in Queue.objects.filter(intake__isnull=False, closed_at=None).select_related("project"):
        try:
            pull(queue)
        except (CannotStart, BadConfig) as error:
            log.warning("Queue %s takes nothing in: %s", queue.pk, error)
    give_up()
    calibrate_all()
