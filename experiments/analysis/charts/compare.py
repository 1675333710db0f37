"""The charts of a comparison: differences with their intervals, and how the gains of one evaluator spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from evalstudio.web.charts import BETTER, INK, SAME, WORSE, Chart, ChartTable, Link
from evalstudio.web.numbers import count, points
from evaluators.stats.paired import Difference
from experiments.analysis.comparing.figures import Figure, edges

COLOURS = {"better": BETTER, "worse": WORSE, "cannot tell": SAME}
ROW = 34  # pixels for each difference
FRAME = 96  # pixels above and below them


class Bar(NamedTuple):
    """One difference: what it is called, the figure, its verdict, and the address of its cases."""

    name: str
    difference: Difference
    verdict: str
    url: str


def deltas(title: str, bars: Sequence[Bar], of: str = "Evaluator") -> Chart:
    """Differences under one another on one scale; `of` says what each is of."""
    known = [bar for bar in bars if bar.difference.low is not None]
    names = [bar.name for bar in known]
    told = [bar.difference for bar in known]
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": [each.value for each in told],
        "y": names,
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [(each.high or 0) - (each.value or 0) for each in told],
            "arrayminus": [(each.value or 0) - (each.low or 0) for each in told],
            "thickness": 2,
            "color": INK,
        },
        "marker": {"size": 10, "color": [COLOURS[bar.verdict] for bar in known]},
        "customdata": [bar.url for bar in known],
        "hovertemplate": "%{y}: %{x:+.1%}<extra></extra>",
    }
    layout = {
        "xaxis": {"tickformat": "+.0%", "title": "compared minus baseline", "zeroline": True},
        "yaxis": {"autorange": "reversed", "type": "category"},
    }
    rows: list[list[str | Link]] = [[Link(bar.name, bar.url), *_told(bar.difference), bar.verdict] for bar in bars]
    table = ChartTable([of, "Difference", "95 % interval", "Verdict"], rows)
    return Chart(title, {"data": [trace], "layout": layout}, table, height=FRAME + ROW * max(3, len(known)))


def _told(difference: Difference) -> tuple[str, str]:
    if difference.value is None:
        return "–", "–"
    if difference.low is None or difference.high is None:
        return points(difference.value), "–"
    return points(difference.value), f"{points(difference.low)} to {points(difference.high)}"


def spread(name: str, figure: Figure, address: Any) -> Chart:
    """How many pairs gained how much; `address` makes the address of the pairs between two gains."""
    ends = edges(figure.reach)
    bars = [(low, high, n) for low, high, n in zip(ends[:-1], ends[1:], figure.steps, strict=True)]
    middle = len(bars) // 2
    trace = {
        "type": "bar",
        "x": [(low + high) / 2 for low, high, _ in bars],
        "y": [n for *_, n in bars],
        "width": [high - low for low, high, _ in bars],
        "marker": {"color": [WORSE if at < middle else BETTER if at > middle else SAME for at in range(len(bars))]},
        "customdata": [address(low, high) for low, high, _ in bars],
        "hovertemplate": "%{y} pairs, %{x:+.1%}<extra></extra>",
    }
    layout = {
        "xaxis": {"tickformat": "+.0%", "title": "gain of the compared result", "range": [-figure.reach, figure.reach]},
        "yaxis": {"title": "pairs", "rangemode": "tozero"},
        "bargap": 0.08,
    }
    rows: list[list[str | Link]] = [
        [Link(f"{points(low)} to {points(high)}", address(low, high)), count(n)] for low, high, n in bars if n
    ]
    note = "Right of zero the compared result is the better one. A click on a bar shows its pairs."
    table = ChartTable(["Gain", "Pairs"], rows)
    return Chart(f"How {name} spreads over the pairs", {"data": [trace], "layout": layout}, table, note)
