"""The limits of a project for new runs, where whoever starts one says nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evalstudio.calls.models import Connection
from experiments.ledger.asked import Asked
from experiments.ledger.turns import LANES
from experiments.models import RunDefaults


def limited(asked: Asked, lane: str, connection: Connection | None, project_id: int) -> Asked:
    """What was asked for, with the project's limits where none was given and none was lifted.

    A limit that makes no sense is left away: of time where nothing here evaluates, of spending where no price is known.
    """
    defaults = RunDefaults.objects.filter(project=project_id).first() if lane in LANES else None
    if defaults is None:
        return asked
    fitting: dict[str, Any] = {
        "limit_s": defaults.limit_s,
        "limit_usd": defaults.limit_usd if _has_price(connection) else None,
    }
    free = [name for name in fitting if getattr(asked, name) is None and name not in asked.lifted]
    return replace(asked, **{name: fitting[name] for name in free})


def _has_price(connection: Connection | None) -> bool:
    if connection is None or connection.is_rehearsal:
        return False
    return connection.usd_per_million_in is not None and connection.usd_per_million_out is not None
