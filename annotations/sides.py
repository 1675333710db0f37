"""Which output of a pair stands first, and what a grade means when the sides were exchanged."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from evaluators.kinds.human import HumanConfig
from evaluators.scoring import EnumScoring, Option


def can_exchange(configs: Iterable[HumanConfig]) -> bool:
    """Whether sides may be exchanged: every option of these scales has one that mirrors it."""
    return all(
        not isinstance(config.scoring, EnumScoring)
        or all(_mirrored(config.scoring, option) for option in config.scoring.options)
        for config in configs
    )


def mirrored_option(scoring: EnumScoring, option: Option) -> Option:
    """The option that means the same once the sides are exchanged."""
    found = _mirrored(scoring, option)
    assert found is not None
    return found


def _mirrored(scoring: EnumScoring, option: Option) -> Option | None:
    wanted = Decimal(100) - Decimal(str(option.percentage))
    return next((other for other in scoring.options if Decimal(str(other.percentage)) == wanted), None)
