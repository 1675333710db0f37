"""The charts of one label against the rest: precision over recall, the ROC curve, and how scores spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalstudio.web.charts import ACCENT, INK, QUIET, SERIES, Chart, ChartTable
from evalstudio.web.numbers import percent
from evaluators.stats.estimate import Estimate

LISTED = 40  # points of a curve in its table
HEIGHT = 280
Dot = tuple[float, float] | None  # where a threshold stands on a curve


def precision_recall(label: str, curve: dict[str, Any], area: Estimate, dot: Dot, threshold: str) -> Chart:
    data = [_line(curve, "recall %{x:.1%}, precision %{y:.1%}"), *_dot(dot, threshold)]
    layout = {"xaxis": _shares("recall"), "yaxis": _shares("precision"), "showlegend": False}
    heads = ["Threshold", "Recall", "Precision"]
    title = f"Precision and recall of “{label}”: average precision {_said(area)}"
    return Chart(title, {"data": data, "layout": layout}, ChartTable(heads, _listed(curve)), height=HEIGHT)


def roc(label: str, curve: dict[str, Any], area: Estimate, dot: Dot, threshold: str) -> Chart:
    chance = {"type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "hoverinfo": "skip"}
    data = [
        {**chance, "line": {"color": QUIET, "dash": "dot", "width": 1}},
        _line(curve, "false positives %{x:.1%}, true positives %{y:.1%}"),
        *_dot(dot, threshold),
    ]
    layout = {"xaxis": _shares("false positives"), "yaxis": _shares("true positives"), "showlegend": False}
    heads = ["Threshold", "False positives", "True positives"]
    title = f"ROC of “{label}”: area {_said(area)}"
    return Chart(title, {"data": data, "layout": layout}, ChartTable(heads, _listed(curve)), height=HEIGHT)


def spread(label: str, span: Sequence[float], bins: Sequence[Sequence[int]], threshold: float) -> Chart:
    """How the scores of the label spread over the cases that have it and over the others."""
    low, high = span
    width = (high - low) / len(bins[0])
    starts = [low + width * step for step in range(len(bins[0]))]
    middles = [start + width / 2 for start in starts]
    names = [f"is {label}", "is another"]
    data = [
        {"type": "bar", "name": name, "x": middles, "y": counts, "marker": {"color": colour}}
        for name, counts, colour in zip(names, bins, (ACCENT, QUIET), strict=True)
    ]
    line = {"type": "line", "x0": threshold, "x1": threshold, "y0": 0, "y1": 1, "yref": "paper"}
    layout = {
        "barmode": "stack",
        "bargap": 0.05,
        "xaxis": {"title": "score", "range": [low, high]},
        "yaxis": {"title": "cases"},
        "shapes": [{**line, "line": {"color": SERIES[1], "width": 2, "dash": "dot"}}],
    }
    rows = [
        [f"{start:.2f} to {start + width:.2f}", str(mine), str(theirs)]
        for start, mine, theirs in zip(starts, *bins, strict=True)
    ]
    table = ChartTable(["Score", *names], rows)
    return Chart(f"Scores of “{label}”", {"data": data, "layout": layout}, table, height=HEIGHT)


def _line(curve: dict[str, Any], words: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": curve["x"],
        "y": curve["y"],
        "text": ["" if each is None else f"from {each:.3g}" for each in curve["thresholds"]],
        "line": {"color": INK, "width": 2, "shape": "linear"},
        "hovertemplate": f"{words}, %{{text}}<extra></extra>",
    }


def _dot(dot: Dot, threshold: str) -> list[dict[str, Any]]:
    if dot is None:
        return []
    marker = {"color": ACCENT, "size": 12, "line": {"color": "var(--sheet)", "width": 2}}
    words = {"hovertemplate": f"at {threshold}: %{{x:.1%}}, %{{y:.1%}}<extra></extra>", "marker": marker}
    return [{"type": "scatter", "mode": "markers", "x": [dot[0]], "y": [dot[1]], **words}]


def _shares(title: str) -> dict[str, Any]:
    return {"title": title, "tickformat": ".0%", "range": [-0.02, 1.02]}


def _said(area: Estimate) -> str:
    if area.value is None:
        return "cannot be told"
    interval = "" if area.low is None or area.high is None else f" ({area.low:.3f} to {area.high:.3f})"
    return f"{area.value:.3f}{interval}"


def _listed(curve: dict[str, Any]) -> list[list[str]]:
    points = list(zip(curve["thresholds"], curve["x"], curve["y"], strict=True))
    step = max(1, -(-len(points) // LISTED))
    return [
        ["above all" if threshold is None else f"{threshold:.3g}", percent(x), percent(y)]
        for threshold, x, y in points[::step]
    ]
