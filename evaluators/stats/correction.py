"""p-values of several tests, adjusted so that looking at many of them misleads no more often than looking at one.

Both take p-values in [0, 1] and give them back adjusted, in the order in which they came: compare those with 0.05.
Both raise ValueError for anything outside [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence


def holm(p: Sequence[float]) -> list[float]:
    """At most 5 % chance of even one false alarm among all tests, however they depend on one another (Holm 1979)."""
    order, adjusted, least = _ascending(p), [0.0] * len(p), 0.0
    for place, index in enumerate(order):
        least = max(least, min(1.0, (len(p) - place) * p[index]))
        adjusted[index] = least
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """At most 5 % of the alarms are false on average (Benjamini and Hochberg 1995).

    Holds for independent tests and for those that move together, as scores of the same outputs do.
    """
    order, adjusted, most = _ascending(p), [0.0] * len(p), 1.0
    for place in range(len(p) - 1, -1, -1):
        index = order[place]
        most = min(most, len(p) / (place + 1) * p[index])
        adjusted[index] = most
    return adjusted


def _ascending(p: Sequence[float]) -> list[int]:
    if not all(0 <= each <= 1 for each in p):
        raise ValueError("A p-value lies between 0 and 1.")
    return sorted(range(len(p)), key=p.__getitem__)
