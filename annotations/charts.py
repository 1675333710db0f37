"""The charts of human review: dataclasses in, a Chart out."""

from __future__ import annotations

from annotations.beside import Beside
from evalstudio.web.charts import ACCENT, INK, QUIET, Chart, ChartTable
from evalstudio.web.marks import Mark
from evalstudio.web.numbers import percent
from evaluators.stats.estimate import Moments, estimate

BINS = 10


def told_by_score(pair: Beside) -> Chart | None:
    """What people say, by what the judge says: on the line people say the same; None where nothing is graded."""
    import numpy as np

    at = np.flatnonzero(pair.both)
    bins = np.minimum((pair.judged[at] * BINS).astype(int), BINS - 1)
    rows = []
    for number in np.unique(bins):
        here = at[bins == number]
        figure = estimate(Moments.of((int(pair.cases[i]), float(pair.graded[i])) for i in here), len(here))
        rows.append((float(pair.judged[here].mean()), figure))
    if not rows:
        return None
    marks = [(said, figure, Mark.of(figure)) for said, figure in rows]
    same = {"type": "scatter", "mode": "lines", "x": [0, 1], "y": [0, 1], "hoverinfo": "skip", "showlegend": False}
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": [said for said, _, _ in marks],
        "y": [figure.value for _, figure, _ in marks],
        "error_y": {
            "array": [mark.high - mark.value if mark else 0 for _, _, mark in marks],
            "arrayminus": [mark.value - mark.low if mark else 0 for _, _, mark in marks],
            "symmetric": False,
            "color": INK,
            "thickness": 1.5,
        },
        "marker": {"color": ACCENT, "size": [8 + min(12, figure.n**0.5) for _, figure, _ in marks]},
        "text": [f"{figure.n} outputs" for _, figure, _ in marks],
        "hovertemplate": "judge %{x:.0%}, people %{y:.0%}, %{text}<extra></extra>",
        "showlegend": False,
    }
    layout = {
        "xaxis": {"title": "the judge says", "tickformat": ".0%", "range": [-0.03, 1.03]},
        "yaxis": {"title": "people say", "tickformat": ".0%", "range": [-0.03, 1.03]},
    }
    table = ChartTable(
        ["The judge says", "People say", "95 % interval", "Outputs"],
        [
            [percent(said), percent(figure.value or 0.0), mark.interval if mark else "–", str(figure.n)]
            for said, figure, mark in marks
        ],
    )
    data = [{**same, "line": {"color": QUIET, "dash": "dot", "width": 1}}, dots]
    return Chart("What people say, by what the judge says", {"data": data, "layout": layout}, table)
