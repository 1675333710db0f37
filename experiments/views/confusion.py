"""A confusion table as pages draw it: cells with their shade, their words and the cases behind them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import quote_plus

from django.utils.html import escape
from django.utils.safestring import SafeString

from evalstudio.web.numbers import count, percent
from evaluators.stats.confusion import AVERAGES, Confusion, OneClass
from evaluators.stats.estimate import Estimate
from experiments.analysis.curves import BELOW

SHADES = (0.05, 0.15, 0.45, 0.70)  # shares at which a cell gets the next darker of five shades
ZERO, DIAGONAL = SafeString('<td><span class="zero">0</span></td>'), ' class="diag"'
ROW, COLUMN, ALL = SHARES = ("row", "column", "all")  # what the share of a cell is of
UrlOf = Callable[[str, str], str | None]  # where cases with these labels, quoted, are read; "" for any label


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its cases, their share, and where they are read; no address where there are none."""

    expected: str
    given: str
    cases: int
    share: float
    url: str | None

    @property
    def is_right(self) -> bool:
        return self.expected == self.given

    def drawn(self, of: str) -> SafeString:
        """The cell as markup. A template would take most of a page's time where labels are many."""
        if not self.cases:
            return ZERO
        shade = sum(self.share >= limit for limit in SHADES)
        expected, given = escape(self.expected), escape(self.given)
        whole = {ROW: expected, COLUMN: f"what is called {given}: {expected}", ALL: f"all: {expected}"}[of]
        tag, link = ("a", f' href="{escape(self.url)}"') if self.url else ("span", "")
        return SafeString(
            f'<td{DIAGONAL if self.is_right else ""}><{tag} class="h{shade}"{link}><b>{count(self.cases)}</b>'
            f'<small>{percent(self.share, 0)}</small><span class="vh"> of {whole} called {given}</span></{tag}></td>'
        )


@dataclass(frozen=True, slots=True)
class Row:
    """The cases of one class, by the label that each was given."""

    label: str
    cases: int
    url: str | None
    cells: list[Cell]
    drawn: SafeString  # the cells as markup


@dataclass(frozen=True, slots=True)
class Matrix:
    """A confusion table with everything that is said beside it."""

    columns: tuple[str, ...]
    rows: list[Row]
    classes: tuple[OneClass, ...]
    of_all: list[tuple[str, Estimate]]
    cases: int
    most_confused: Cell | None  # the wrong label that came most often, where one came at least twice
    shares_of: str

    @property
    def shades(self) -> list[str]:
        """What each shade stands for, the lightest first."""
        ends = [percent(limit, 0) for limit in SHADES]
        between = [f"{low} to {high}" for low, high in pairwise(ends)]
        of = "all" if self.shares_of == ALL else f"the {self.shares_of}"
        return [f"under {ends[0]} of {of}", *between, f"{ends[-1]} or more"]


def matrix_of(found: Confusion, url_of: UrlOf, shares_of: str = ROW) -> Matrix:
    """The table with shares of rows, of columns or of all cases."""
    called: Counter[str] = Counter()
    for (_, given), n in found.counts.items():
        called[given] += n
    quoted = {label: quote_plus(label) for label in found.columns}

    def whole(one: OneClass, given: str) -> int:
        return {ROW: one.support, COLUMN: called[given], ALL: found.cases}[shares_of]

    def row(one: OneClass) -> Row:
        cells = []
        for given in found.columns:
            cases = found.counts.get((one.label, given), 0)
            url = url_of(quoted[one.label], quoted[given]) if cases else None
            cells.append(Cell(one.label, given, cases, cases / (whole(one, given) or 1), url))
        drawn = SafeString("".join(cell.drawn(shares_of) for cell in cells))
        return Row(one.label, one.support, url_of(quoted[one.label], "") if one.support else None, cells, drawn)

    rows = [row(one) for one in found.classes]
    wrong = [cell for row in rows for cell in row.cells if not cell.is_right and cell.cases > 1 and cell.given != BELOW]
    most = max(wrong, key=lambda cell: (cell.cases, cell.share), default=None)
    return Matrix(found.columns, rows, found.classes, of_all(found), found.cases, most, shares_of)


def of_all(found: Confusion) -> list[tuple[str, Estimate]]:
    """Precision, recall and F1 of the whole, by what they are called."""
    figures = {"precision": found.precision, "recall": found.recall, "F1": found.f1}
    if found.of_all in AVERAGES:
        return [(f"{found.of_all.capitalize()} {name}", figure) for name, figure in figures.items()]
    return [(f"{name[0].upper()}{name[1:]} of “{found.of_all}”", figure) for name, figure in figures.items()]
