"""The confusion table of a run as its page draws it: cells with their shade, their words and the cases behind them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlencode

from evalstudio.web.numbers import percent
from evaluators.stats.confusion import AVERAGES, Confusion, OneClass
from evaluators.stats.estimate import Estimate
from experiments.analysis.confusion import confusion_of
from experiments.models import Run

SHADES = (0.05, 0.15, 0.45, 0.70)  # shares of a row at which a cell gets the next darker of five shades


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its cases, their share of the row, and where they are read; no address where there are none."""

    expected: str
    given: str
    cases: int
    share: float
    url: str | None

    @property
    def is_right(self) -> bool:
        return self.expected == self.given

    @property
    def shade(self) -> int:
        return sum(self.share >= limit for limit in SHADES)


@dataclass(frozen=True, slots=True)
class Row:
    """The cases of one class, by the label that each was given."""

    label: str
    cases: int
    url: str | None
    cells: list[Cell]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A confusion table with everything that is said beside it."""

    columns: tuple[str, ...]
    rows: list[Row]
    classes: tuple[OneClass, ...]
    of_all: list[tuple[str, Estimate]]
    cases: int
    most_confused: Cell | None  # the wrong label that came most often, where one came at least twice

    @property
    def shades(self) -> list[str]:
        """What each shade stands for, the lightest first."""
        ends = [percent(limit, 0) for limit in SHADES]
        between = [f"{low} to {high}" for low, high in pairwise(ends)]
        return [f"under {ends[0]} of the row", *between, f"{ends[-1]} or more"]


def matrix_of(run: Run) -> Matrix | None:
    """The table of a run; None for one without expected labels."""
    found = confusion_of(run)
    if found is None:
        return None
    rows = [_row(run.results_url, found, one) for one in found.classes]
    wrong = [cell for row in rows for cell in row.cells if not cell.is_right and cell.cases > 1]
    return Matrix(
        found.columns,
        rows,
        found.classes,
        _of_all(found),
        found.cases,
        max(wrong, key=lambda cell: (cell.cases, cell.share), default=None),
    )


def _row(base: str | None, found: Confusion, one: OneClass) -> Row:
    cells = []
    for given in found.columns:
        cases = found.counts.get((one.label, given), 0)
        url = _url(base, expected=one.label, label=given) if cases else None
        cells.append(Cell(one.label, given, cases, cases / one.support if one.support else 0.0, url))
    return Row(one.label, one.support, _url(base, expected=one.label) if one.support else None, cells)


def _url(base: str | None, **labels: str) -> str | None:
    """Where the cases with these labels are read; None for a sample, whose rows no grid shows."""
    return f"{base}&{urlencode(labels)}#results" if base else None


def _of_all(found: Confusion) -> list[tuple[str, Estimate]]:
    figures = {"precision": found.precision, "recall": found.recall, "F1": found.f1}
    if found.of_all in AVERAGES:
        return [(f"{found.of_all.capitalize()} {name}", figure) for name, figure in figures.items()]
    return [(f"{name[0].upper()}{name[1:]} of “{found.of_all}”", figure) for name, figure in figures.items()]
