"""The geometry of the marks: positions in per cent of the track, worked out here so that a template only draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from evalstudio.web.numbers import NBSP, count, percent

LOW_COVERAGE = 0.8
STATES = ("pending", "awaiting", "scored", "unscored", "failed")
STATE_ICONS = {"pending": "ring", "awaiting": "people", "scored": "check", "unscored": "dash", "failed": "cross"}
PROGRESS = (
    ("scored", "scored", "scored"),
    ("unscored", "unscored", "unscored"),
    ("failed", "failed", "failed"),
    ("awaiting", "awaiting", "awaiting"),
    ("in_flight", "flight", "in flight"),
    ("pending", "pending", "pending"),
)
ANSWERED = {"scored": "answered", "unscored": "not asked"}  # what these are called where answers are got


class Figure(Protocol):
    """What a mark needs of an estimate: shares in [0, 1], counts, and a sentence where it was refused."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def n(self) -> int: ...
    @property
    def asked(self) -> int: ...
    @property
    def refused(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of what was asked has a score; `on` is the filled width of a bar of 24."""

    scored: int
    asked: int

    @property
    def share(self) -> float:
        return self.scored / self.asked if self.asked else 0.0

    @property
    def is_low(self) -> bool:
        return self.share < LOW_COVERAGE

    @property
    def on(self) -> str:
        return f"{24 * min(1.0, self.share):.1f}"

    @property
    def text(self) -> str:
        return f"{count(self.scored)} of {count(self.asked)}"


@dataclass(frozen=True, slots=True)
class Mark:
    """A figure that can be drawn: its value and its interval, shares in [0, 1]."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, figure: Figure | None) -> Mark | None:
        """The mark of a figure, or None where it was refused or nothing was measured."""
        if figure is None or figure.refused or figure.value is None or figure.low is None or figure.high is None:
            return None
        return cls(figure.value, figure.low, figure.high)

    @property
    def at(self) -> dict[str, str]:
        """The places of value, low and high on the track, kept on it."""
        shares = {"value": self.value, "low": self.low, "high": self.high}
        return {name: f"{min(1.0, max(0.0, share)) * 100:.1f}%" for name, share in shares.items()}

    @property
    def interval(self) -> str:
        """The interval without its unit: "78.6–89.1"."""
        return f"{self.low * 100:.1f}–{self.high * 100:.1f}"

    @property
    def short(self) -> str:
        """Value and half the interval in points, as a correction is written: "79 ± 5"."""
        return f"{self.value * 100:.0f}{NBSP}±{NBSP}{(self.high - self.low) * 50:.0f}"

    @property
    def words(self) -> str:
        return f"{percent(self.value)}, 95{NBSP}% interval {self.low * 100:.1f} to {self.high * 100:.1f}"


def spoken(label: str, mark: Mark | None, cover: Coverage | None, corrected: Mark | None) -> str:
    """The whole drawing as one sentence, for those who hear the page."""
    start = f"{label}: " if label else ""
    if mark is None:
        return f"{start}no figure yet"
    words = [mark.words, f"{cover.text} scored" if cover else ""]
    sentence = start + ", ".join(word for word in words if word)
    return f"{sentence}; corrected by people {corrected.words}" if corrected else sentence


def state_name(state: Any) -> str:
    """The word of a score's state, given as its number (0 to 4), its enum or its name."""
    if isinstance(state, str):
        return state.lower()
    return STATES[int(state)]


def progress_parts(counts: Any) -> tuple[list[dict[str, Any]], int, int]:
    """(parts, settled, all) of a run: each part with its name, word, count and its place on the bar in per cent.

    `counts` has the keys or attributes of PROGRESS; what it lacks counts as 0.
    """
    amounts = [(key, css, word, _amount(counts, key)) for key, css, word in PROGRESS]
    total = sum(amount for *_, amount in amounts)
    parts, at = [], 0.0
    for key, css, word, amount in amounts:
        width = 100 * amount / total if total else 0.0
        if amount:
            place = {"x": f"{at:.2f}%", "width": f"{width:.2f}%"}
            parts.append({"key": key, "css": css, "word": word, "count": amount, **place})
        at += width
    settled = sum(amount for key, *_, amount in amounts if key in ("scored", "unscored", "failed"))
    return parts, settled, total


def _amount(counts: Any, key: str) -> int:
    return int((counts.get(key) if isinstance(counts, dict) else getattr(counts, key, 0)) or 0)
