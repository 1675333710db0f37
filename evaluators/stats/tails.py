"""The tails of the normal and of Student's t distribution, without numpy."""

from __future__ import annotations

import math

TINY = 1e-300


def normal_p(z: float) -> float:
    """How likely a standard normal number lies at least as far from 0 as z does."""
    return math.erfc(abs(z) / math.sqrt(2))


def student_p(t: float, freedom: float) -> float:
    """The same for Student's t with `freedom` > 0 degrees: I_x(ν/2, 1/2) at x = ν / (ν + t²) (DLMF 8.17)."""
    if math.isinf(t * t):
        return 0.0
    a, b = freedom / 2, 0.5
    x, rest = freedom / (freedom + t * t), t * t / (freedom + t * t)  # they add up to 1, each with all its digits
    if rest == 0:
        return 1.0
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    log_x = math.log1p(-rest) if rest < x else math.log(x)
    front = math.exp(scale + a * log_x + b * math.log(rest))
    if x < (a + 1) / (a + b + 2):
        return front * _continued(a, b, x) / a
    return 1 - front * _continued(b, a, rest) / b


def student_density(t: float, freedom: float) -> float:
    """The density of Student's t."""
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    return math.exp(scale - (freedom + 1) / 2 * math.log1p(t * t / freedom)) / math.sqrt(freedom * math.pi)


def _continued(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by the method of Lentz (1976)."""
    c, d = 1.0, 1 / _off_zero(1 - (a + b) * x / (a + 1))
    result = d
    for m in range(1, 10_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for step in (even, odd):
            d = 1 / _off_zero(1 + step * d)
            c = _off_zero(1 + step / c)
            result *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return result


def _off_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
