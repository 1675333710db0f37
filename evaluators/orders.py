"""Comparisons judged in both orders: what a judge prefers for its place alone cancels out, and shows as a flip."""

from __future__ import annotations

from dataclasses import replace

from evaluators.core import AS_GIVEN, FLIPPED, Score, Status
from evaluators.scoring import Passing

_BETTER = {-1: "the baseline is better", 0: "neither is better", 1: "the compared output is better"}


def winner(value: float) -> int:
    """Whom a value from 0 to 1 prefers: -1 the baseline, 1 the compared output, 0 neither."""
    return (value > 0.5) - (value < 0.5)


def in_both(first: Score, exchanged: Score, passing: Passing) -> Score:
    """One score of two: the second was given with the outputs in each other's place, so its 1 prefers the baseline.

    The value is the mean of both, the label that of the first. Without the second there is no score at all.
    """
    replies = first.replies + exchanged.replies
    latency_ms = (first.latency_ms or 0.0) + (exchanged.latency_ms or 0.0)
    if exchanged.status is not Status.SCORED:
        reason = f"With the two outputs exchanged: {exchanged.reason}"
        return replace(exchanged, reason=reason, replies=replies, latency_ms=latency_ms)
    assert first.value is not None
    assert exchanged.value is not None
    turned = 1 - exchanged.value
    value, is_flipped = (first.value + turned) / 2, winner(first.value) != winner(turned)
    measures = {name: (number + exchanged.measures[name]) / 2 for name, number in first.measures.items()}
    return replace(
        first,
        value=value,
        passed=passing.passed(value),
        reason=_reason(first, exchanged, winner(turned)),
        measures=measures | {FLIPPED.name: float(is_flipped), AS_GIVEN.name: first.value},
        replies=replies,
        latency_ms=latency_ms,
    )


def _reason(first: Score, exchanged: Score, turned: int) -> str:
    assert first.value is not None
    before = f"In the order given, {_BETTER[winner(first.value)]}.\n{first.reason}"
    after = f"Exchanged, {_BETTER[turned]}; here “baseline” means the compared output.\n{exchanged.reason}"
    return f"{before.rstrip()}\n\n{after.rstrip()}"
