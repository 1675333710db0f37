"""The charts of people's agreement: dataclasses in, a Chart out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from annotations.agreeing import Batch, Pair
from evalstudio.web.charts import ACCENT, INK, SHARES, Chart, ChartTable
from evalstudio.web.numbers import percent
from evaluators.stats.agreement import LEAST_ITEMS, Level
from evaluators.stats.estimate import Estimate

NONE = "–"


def over_time(batches: Sequence[Batch], level: Level) -> Chart | None:
    """Krippendorff's alpha, batch by batch; None where there are too few items for two."""
    if not batches:
        return None
    known = [(batch, batch.alpha) for batch in batches if batch.alpha.value is not None]
    line = {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [place for place, batch in enumerate(batches) if batch.alpha.value is not None],
        "y": [alpha.value for _, alpha in known],
        "error_y": {
            "array": [alpha.high - alpha.value if alpha.high is not None else 0 for _, alpha in known],  # type: ignore[operator]
            "arrayminus": [alpha.value - alpha.low if alpha.low is not None else 0 for _, alpha in known],  # type: ignore[operator]
            "symmetric": False,
            "color": INK,
            "thickness": 1.5,
        },
        "line": {"color": ACCENT, "width": 2},
        "marker": {"color": ACCENT, "size": 8},
        "text": [f"{_span(batch)}: {number(alpha)}, {batch.items} items" for batch, alpha in known],
        "hovertemplate": "%{text}<extra></extra>",
    }
    ticks = {"tickvals": list(range(len(batches))), "ticktext": [_span(batch) for batch in batches]}
    lowest = min([0.0, *(figure for _, alpha in known for figure in (alpha.value, alpha.low) if figure is not None)])
    layout = {
        "yaxis": {"title": f"alpha, {level}", "range": [lowest - 0.05, 1.05]},
        "xaxis": ticks,
        "showlegend": False,
    }
    rows = [
        [_span(batch), str(batch.items), number(batch.alpha), interval(batch.alpha), share(batch.same)]
        for batch in batches
    ]
    table = ChartTable(["Graded", "Items", "Krippendorff’s alpha", "95 % interval", "Same grade"], rows)
    note = "Items in the order in which they were graded, in batches of one size."
    return Chart("Over time", {"data": [line], "layout": layout}, table, note)


def matrix(pairs: Sequence[Pair], name: Callable[[int], str], weighted: bool) -> Chart | None:
    """Cohen's kappa of each two people; None where nobody graded what another one did."""
    if not pairs:
        return None
    kappa = "Cohen’s kappa, weighted" if weighted else "Cohen’s kappa"
    people = list(dict.fromkeys([pair.first for pair in pairs] + [pair.second for pair in pairs]))
    at = {person: place for place, person in enumerate(people)}
    names = [name(person) for person in people]
    values: list[list[float | None]] = [[None] * len(people) for _ in people]
    words = [[""] * len(people) for _ in people]
    for pair in pairs:
        for one, other in ((pair.first, pair.second), (pair.second, pair.first)):
            enough = pair.items >= LEAST_ITEMS
            values[at[one]][at[other]] = pair.kappa.value if enough else None
            words[at[one]][at[other]] = f"{number(pair.kappa)} on {pair.items} items"
    cells = {
        "type": "heatmap",
        "x": names,
        "y": names,
        "z": values,
        "text": words,
        "colorscale": SHARES,
        "zmin": 0,
        "zmax": 1,
        "xgap": 1,
        "ygap": 1,
        "colorbar": {"thickness": 8, "outlinewidth": 0},
        "hovertemplate": "%{y} and %{x}: %{text}<extra></extra>",
    }
    layout = {"yaxis": {"autorange": "reversed"}}
    rows = [
        [
            f"{name(pair.first)} and {name(pair.second)}",
            str(pair.items),
            share(pair.same),
            number(pair.kappa),
            interval(pair.kappa),
        ]
        for pair in pairs
    ]
    table = ChartTable(["People", "Items", "Same grade", kappa, "95 % interval"], rows)
    note = f"{kappa}. Blank where two people share fewer than {LEAST_ITEMS} items."
    return Chart("Each two people", {"data": [cells], "layout": layout}, table, note)


def number(figure: Estimate) -> str:
    return NONE if figure.value is None else f"{figure.value:.2f}"


def interval(figure: Estimate) -> str:
    return NONE if figure.low is None or figure.high is None else f"{figure.low:.2f} to {figure.high:.2f}"


def share(figure: Estimate) -> str:
    return NONE if figure.value is None else percent(figure.value)


def _span(batch: Batch) -> str:
    since, until = _day(batch.since), _day(batch.until)
    return since if since == until else f"{since} to {until}"


def _day(when: datetime) -> str:
    return f"{when:%b} {when.day}"
