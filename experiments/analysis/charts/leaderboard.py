"""The charts of the leaderboard: quality against cost, the cases that tell systems apart, how systems came along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalstudio.web import numbers
from evalstudio.web.charts import ACCENT, INK, LINE, Chart, ChartTable, Link
from evaluators.stats.estimate import Estimate
from experiments.analysis.leaderboard import Board, Entrant
from experiments.analysis.leaderboard_columns import Judged
from experiments.analysis.leaderboard_trends import Point
from experiments.analysis.pairing import numbered

MOST_ROWS = 20  # systems of the map of cases
MARGIN = {"l": 48, "r": 12, "t": 12, "b": 40}  # pixels; labels of axes make their own room
LOST = ((0.0, ACCENT), (1.0, LINE))  # colour scale of scores: what is lost stands out, what is missing is blank
LOST_UPWARDS = ((0.0, LINE), (1.0, ACCENT))
LABEL = 28  # characters of a system's name beside a point


def figure_said(figure: Estimate | None, judged: Judged) -> str:
    """ "84.2 % (78.6 to 89.1)", or in the unit of a measure, "12 tokens (9.5 to 15)"; a dash where there is none."""
    if figure is None or figure.value is None:
        return "–"
    value, low, high = figure.value, figure.low, figure.high
    if not judged.is_share and judged.measure:
        said = f"{numbers.quantity(value)} {judged.measure.unit}".rstrip()
        return said if low is None or high is None else f"{said} ({numbers.quantity(low)} to {numbers.quantity(high)})"
    said = numbers.percent(value)
    return said if low is None or high is None else f"{said} ({low * 100:.1f} to {high * 100:.1f})"


def quality_and_cost(board: Board) -> Chart | None:
    """Each system's figure over what a thousand answers cost. None where fewer than two costs are known."""
    judged = board.ranked
    if judged is None:
        return None
    shown = [
        (entrant, cell.figure, entrant.cost_usd * 1000)
        for entrant in board.entrants
        if entrant.cost_usd is not None and (cell := judged.cells.get(entrant.pk)) and cell.figure and cell.figure.n
    ]
    if len(shown) < 2:
        return None
    dearest = max(cost for _, _, cost in shown)
    trace = {
        "type": "scatter",
        "mode": "markers+text",
        "x": [cost for _, _, cost in shown],
        "y": [figure.value for _, figure, _ in shown],
        "text": [numbers.clip(entrant.experiment.system.name, LABEL) for entrant, _, _ in shown],
        "textposition": ["top left" if cost > 0.7 * dearest else "top right" for _, _, cost in shown],
        "error_y": _errors([figure for _, figure, _ in shown]),
        "marker": {"color": ACCENT, "size": 9},
        "customdata": [entrant.url for entrant, _, _ in shown],
        "hovertext": [
            f"{entrant.experiment.system.name}: {figure_said(figure, judged)}, {numbers.usd(cost)} per 1,000"
            for entrant, figure, cost in shown
        ],
        "hovertemplate": "%{hovertext}<extra></extra>",
        "cliponaxis": False,
    }
    layout = {
        "xaxis": {"title": "cost per 1,000 answers, US dollars", "rangemode": "tozero", "tickprefix": "$"},
        "yaxis": _scale(judged),
        "margin": {**MARGIN, "t": 28},
    }
    rows: list[list[str | Link]] = [
        [
            Link(entrant.experiment.system.name, entrant.url),
            figure_said(figure, judged),
            numbers.usd(cost),
            numbers.duration(entrant.latency_ms) if entrant.latency_ms is not None else "–",
        ]
        for entrant, figure, cost in sorted(shown, key=lambda each: each[2])
    ]
    heads = ["System", f"{judged.title}, 95 % interval", "Cost per 1,000", "Median latency"]
    return Chart("Quality against cost", _figure([trace], layout), ChartTable(heads, rows), height=340)


def telling_cases(
    board: Board, judged: Judged, found: Mapping[str, Any], keys: Mapping[int, str], rows: Sequence[Entrant]
) -> Chart | None:
    """System × case; a click opens the answer. None where nobody lost anything."""
    if not found["cases"]:
        return None
    at = {run: place for place, run in enumerate(found["runs"])}
    shown = [(entrant, judged.cells[entrant.pk]) for entrant in rows if entrant.pk in judged.cells]
    shown = [(entrant, cell) for entrant, cell in shown if cell.run.pk in at][:MOST_ROWS]
    # An axis has one place for each name.
    names, n = numbered([(entrant.pk, _short(entrant)) for entrant, _ in shown]), len(found["runs"])
    cases = numbered([(case, keys.get(case, "?")) for case in found["cases"]])
    scores = [found["scores"][at[cell.run.pk]] for _, cell in shown]
    urls = [_urls(entrant, cell.run.pk, found["outputs"][at[cell.run.pk]]) for entrant, cell in shown]
    trace = {
        "type": "heatmap",
        "x": cases,
        "y": names,
        "z": scores,
        "customdata": urls,
        "colorscale": LOST if judged.direction == "higher" else LOST_UPWARDS,
        "xgap": 1,
        "ygap": 1,
        "hovertemplate": "%{y}, %{x}: %{z}<extra></extra>",
        "hoverongaps": False,
        "colorbar": {"thickness": 8, "outlinewidth": 0},
    }
    if judged.is_share:
        trace |= {"zmin": 0, "zmax": 1, "hovertemplate": "%{y}, %{x}: %{z:.0%}<extra></extra>"}
        trace["colorbar"] = {"thickness": 8, "outlinewidth": 0, "tickformat": ".0%"}
    layout = {
        "xaxis": {"type": "category", "tickangle": 60, "tickfont": {"size": 10}, "showgrid": False},
        "yaxis": {"type": "category", "autorange": "reversed", "showgrid": False},
        "margin": {**MARGIN, "r": 0},
    }
    table: list[list[str | Link]] = [
        [key, *(_cell(judged, score[place], url[place]) for score, url in zip(scores, urls, strict=True))]
        for place, key in enumerate(cases)
    ]
    return Chart(
        "Where systems differ",
        _figure([trace], layout),
        ChartTable(["Case", *names], table),
        _lost_said(found["lost"], len(cases), judged) + (f" {len(names)} of {n} systems." if n > len(names) else ""),
        height=150 + 24 * len(names),
    )


def came_along(lines: Mapping[str, Sequence[Point]], judged: Judged) -> Chart | None:
    """The figures of each line over time. None where there is no line."""
    if not lines:
        return None
    traces = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": name,
            "x": [point.experiment.created_at.isoformat(timespec="seconds") for point in points],
            "y": [point.figure.value for point in points],
            "text": [point.experiment.system.name for point in points],
            "error_y": _errors([point.figure for point in points]),
            "customdata": [f"{point.experiment.get_absolute_url()}?by={point.run.pk}" for point in points],
            "hovertemplate": "%{text}, %{x}: %{y}<extra></extra>",
        }
        for name, points in lines.items()
    ]
    layout = {"xaxis": {"type": "date"}, "yaxis": _scale(judged), "showlegend": len(lines) > 1}
    rows: list[list[str | Link]] = [
        [
            numbers.moment(point.experiment.created_at),
            Link(point.experiment.system.name, f"{point.experiment.get_absolute_url()}?by={point.run.pk}"),
            str(point.experiment.dataset_version),
            figure_said(point.figure, judged),
        ]
        for points in lines.values()
        for point in points
    ]
    heads = ["Made", "System", "Cases", f"{judged.title}, 95 % interval"]
    return Chart("How systems came along", _figure(traces, layout), ChartTable(heads, rows), height=340)


def _scale(judged: Judged) -> dict[str, Any]:
    scale: dict[str, Any] = {"title": judged.title, "gridcolor": LINE}
    return scale | ({"tickformat": ".0%"} if judged.is_share else {})


def _errors(figures: Sequence[Estimate]) -> dict[str, Any]:
    up = [_or_zero(each.high, each.value) for each in figures]
    down = [-_or_zero(each.low, each.value) for each in figures]
    return {"type": "data", "symmetric": False, "array": up, "arrayminus": down, "thickness": 1.5, "color": INK}


def _or_zero(end: float | None, value: float | None) -> float:
    return 0.0 if end is None or value is None else end - value


def _short(entrant: Entrant) -> str:
    return numbers.clip(entrant.experiment.system.name, LABEL)


def _urls(entrant: Entrant, run_id: int, outputs: Sequence[int | None]) -> list[str | None]:
    base = f"{entrant.url}?by={run_id}&peek="
    return [f"{base}{output}" if output else None for output in outputs]


def _cell(judged: Judged, score: float | None, url: str | None) -> str | Link:
    said = "–" if score is None else f"{score * 100:.0f}" if judged.is_share else numbers.quantity(score)
    return Link(said, url) if url else said


def _lost_said(lost: int, shown: int, judged: Judged) -> str:
    cases = f"{lost:,} case{'s' if lost != 1 else ''} where some system is not at its best by {judged.title}"
    told = f"; the {shown} on which systems are furthest apart are shown" if lost > shown else ""
    return f"{cases}{told}, the hardest first."


def _figure(data: list[dict[str, Any]], layout: dict[str, Any]) -> dict[str, Any]:
    return {"data": data, "layout": layout}
