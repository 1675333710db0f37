"""Charts: plotly figures whose colours are named by role, each with a table that says the same.

A page's builder makes a `Chart`; `{% chart %}` draws its frame, and static/js/charts.js the figure once it is near.
Colours are names of tokens (`BETTER`, `SERIES[0]`), so that a figure follows the theme. A trace whose `customdata` are
addresses opens them on click; for the keyboard the same addresses stand as links in the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
from django.utils.html import escape
from django.utils.safestring import SafeString

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

ACCENT, INK, QUIET, LINE, SHEET = "var(--accent)", "var(--ink)", "var(--ink-3)", "var(--line)", "var(--sheet)"
BETTER, WORSE, SAME = "var(--better)", "var(--worse)", "var(--same)"
PEOPLE, FAILED, UNSCORED = "var(--people)", "var(--failed)", "var(--unscored)"
SERIES = tuple(f"var(--series-{number})" for number in range(1, 9))  # told apart by colour-blind eyes as well
SHARES = ((0.0, SHEET), (1.0, ACCENT))  # colour scale of shares and counts
DELTAS = ((0.0, WORSE), (0.5, SHEET), (1.0, BETTER))  # colour scale of differences, zero in the middle

SHOWN_ROWS = 500
OURS = ("hovertemplate", "customdata")  # markup of our own, and addresses


@dataclass(frozen=True, slots=True)
class Link:
    """A cell of a chart's table that opens something."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class ChartTable:
    """What a chart shows, to be read: column heads, then rows of texts or links. The first cell heads its row."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str | Link]]

    @property
    def drawn(self) -> SafeString:
        """The rows as markup. A template would take most of a page's time where cells are many."""
        return SafeString("".join(f"<tr>{_row(row)}</tr>" for row in self.rows[:SHOWN_ROWS]))

    @property
    def left_out(self) -> int:
        return max(0, len(self.rows) - SHOWN_ROWS)


def _row(cells: Sequence[str | Link]) -> str:
    head, *others = (
        f'<a href="{escape(cell.url)}">{escape(cell.text)}</a>' if isinstance(cell, Link) and cell.url else escape(cell)
        for cell in cells
    )
    return "".join((f'<th scope="row">{head}</th>', *(f"<td>{each}</td>" for each in others)))


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure with its title, its table, and a sentence below that says what to see in it.

    `figure` is a `plotly.graph_objects.Figure` or a dict with its `data` and `layout`; numpy arrays may stand in it.
    Fonts, grid, margins and backgrounds come from charts.js. `height` is in pixels.
    """

    title: str
    figure: Figure | dict[str, Any]
    table: ChartTable
    note: str = ""
    height: int = 320

    @property
    def json(self) -> SafeString:
        """The figure for a data block of a page, safe there: no character in it can end the block."""
        figure = self.figure if isinstance(self.figure, dict) else self.figure.to_plotly_json()
        layout = {key: value for key, value in figure.get("layout", {}).items() if key != "template"}
        drawn = _plain({"data": figure["data"], "layout": {**layout, "height": self.height}})
        text = orjson.dumps(drawn, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS).decode()
        return SafeString(text.replace("<", "\\u003c").replace("&", "\\u0026"))


def _plain(value: Any) -> Any:
    """With every text as it is read: plotly takes tags in it for markup, links among them. OURS stay as they are."""
    if isinstance(value, str):
        return value.replace("&", "&amp;").replace("<", "&lt;")
    if isinstance(value, dict):
        return {name: each if name in OURS else _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple) and not isinstance(next(iter(value), None), int | float):
        return [_plain(each) for each in value]
    return value
