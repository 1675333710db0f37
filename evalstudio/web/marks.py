"""The geometry of the marks: positions in per cent of the track, worked out here so that a template only draws."""

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


class Figure(Protocol):
    """What a mark needs of an estimate: shares in [0, 1], counts, and a sentence where it was refused."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    coverage: float
    asked: int
    method: str
    refused: str | None


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
class Whiskers:
    """Value and interval as positions on the track, clamped to it."""

    value: str
    low: str
    high: str

    @classmethod
    def of(cls, figure: Figure) -> "Whiskers":
        return cls(*(_position(share) for share in (figure.value, figure.low, figure.high)))


def _position(share: float | None) -> str:
    return f"{min(1.0, max(0.0, share or 0.0)) * 100:.1f}%"


def interval_text(figure: Figure) -> str:
    """The interval without its unit: "78.6–89.1"."""
    return f"{figure.low * 100:.1f}–{figure.high * 100:.1f}"


def correction_text(figure: Figure) -> str:
    """A people's correction, short: "79 ± 5"."""
    half = (figure.high - figure.low) / 2
    return f"{figure.value * 100:.0f}{NBSP}±{NBSP}{half * 100:.0f}"


def spoken(label: str, figure: Figure, corrected: Figure | None) -> str:
    """The whole mark as one sentence, for those who hear the page."""
    words = f"{label}: " if label else ""
    words += f"{percent(figure.value)}, 95{NBSP}% interval {figure.low * 100:.1f} to {figure.high * 100:.1f}"
    words += f", {count(figure.n)} of {count(figure.asked)} scored"
    if corrected:
        words += (
            f"; corrected by people {percent(corrected.value)}, {corrected.low * 100:.1f} to {corrected.high * 100:.1f}"
        )
    return words


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
