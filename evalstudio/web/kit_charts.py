"""The charts of the kit: one of each kind that pages draw, with made-up figures."""

from __future__ import annotations

from typing import Any

from evalstudio.web.charts import ACCENT, BETTER, DELTAS, INK, SAME, WORSE, Chart, ChartTable, Link

EVALUATORS = ["Factual consistency", "Tone", "Length", "Cites its source"]
SYSTEMS = ["Assistant 2.3", "Assistant 3.0", "Assistant 3.1, longer name"]


def made_up() -> list[Chart]:
    return [_deltas(), _distribution(), _heatmap(), _curve()]


def _deltas() -> Chart:
    values, reach = [0.08, -0.05, 0.01, 0.12], [0.03, 0.02, 0.04, 0.05]
    colours = [BETTER, WORSE, SAME, BETTER]
    trace = {
        "type": "scatter",
        "mode": "markers",
        "x": values,
        "y": EVALUATORS,
        "error_x": {"array": reach, "thickness": 2, "color": INK},
        "marker": {"color": colours, "size": 9},
        "customdata": ["?by=" + name for name in EVALUATORS],
        "hovertemplate": "%{y}: %{x:+.1%}<extra></extra>",
    }
    layout = {"xaxis": {"tickformat": "+.0%", "title": "difference"}, "yaxis": {"autorange": "reversed"}}
    rows: list[list[str | Link]] = [
        [Link(name, "?by=" + name), f"{value:+.0%}", f"± {half:.0%}"]
        for name, value, half in zip(EVALUATORS, values, reach, strict=True)
    ]
    table = ChartTable(["Evaluator", "Difference", "95 % interval"], rows)
    return Chart("Differences with their intervals", _figure([trace], layout), table, "Two of four are better.")


def _distribution() -> Chart:
    shares = [0.1 * step for step in range(11)]
    counts = [2, 1, 3, 5, 8, 13, 18, 21, 30, 12, 7]
    trace = {"type": "bar", "x": shares, "y": counts, "marker": {"color": ACCENT}}
    layout = {"xaxis": {"tickformat": ".0%", "title": "score"}, "yaxis": {"title": "cases"}, "bargap": 0.1}
    rows = [[f"{share:.0%}", str(count)] for share, count in zip(shares, counts, strict=True)]
    return Chart("Distribution", _figure([trace], layout), ChartTable(["Score", "Cases"], rows))


def _heatmap() -> Chart:
    deltas = [[0.2, -0.1, 0.0, 0.4], [-0.3, 0.1, 0.2, -0.2], [0.0, 0.0, 0.1, 0.3]]
    trace = {
        "type": "heatmap",
        "x": EVALUATORS,
        "y": SYSTEMS,
        "z": deltas,
        "colorscale": DELTAS,
        "zmid": 0,
        "xgap": 1,
        "ygap": 1,
        "colorbar": {"thickness": 8, "outlinewidth": 0, "tickformat": "+.0%"},
    }
    rows = [[name, *(f"{delta:+.0%}" for delta in row)] for name, row in zip(SYSTEMS, deltas, strict=True)]
    layout = {"xaxis": {"tickangle": 40}, "margin": {"r": 0}}
    return Chart("Heatmap of differences", _figure([trace], layout), ChartTable(["System", *EVALUATORS], rows))


def _curve() -> Chart:
    steps = [step / 20 for step in range(21)]
    traces = [
        {"type": "scatter", "mode": "lines", "name": name, "x": steps, "y": [step**power for step in steps]}
        for name, power in zip(SYSTEMS, (0.2, 0.4, 0.7), strict=True)
    ]
    layout = {"xaxis": {"title": "false positive rate"}, "yaxis": {"title": "true positive rate"}}
    rows = [[f"{step:.2f}", *(f"{step**power:.2f}" for power in (0.2, 0.4, 0.7))] for step in steps]
    table = ChartTable(["False positive rate", *SYSTEMS], rows)
    return Chart("Curves", _figure(traces, layout), table)


def _figure(data: list[dict[str, Any]], layout: dict[str, Any]) -> dict[str, Any]:
    return {"data": data, "layout": layout}
