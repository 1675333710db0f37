"""The figures of three results or more: each one's difference from the baseline, and how often it wins against it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from evalstudio.projects.access import ProjectRequest
from evaluators.stats.noise import Noise
from evaluators.stats.paired import BETTER, CANNOT_TELL, WORSE
from experiments.analysis.charts import compare as charts
from experiments.analysis.columns import Column, columns
from experiments.analysis.comparing.several import Entrant, Several
from experiments.analysis.noise import noises_of, with_floor
from experiments.models import Experiment
from experiments.views.comparing import SCALES, link


def figures_of(request: ProjectRequest, found: Several, called: list[str], baseline: Experiment) -> dict[str, Any]:
    """A line for each result, and the comparative versions with a cell in each line. Four queries at most."""
    between = _between(found)
    versions = {column.run.version_id: column.run.version for column in between.values()}
    figures = [each.figure for each in found.entrants if each.figure]
    ends = [abs(end) for each in figures for end in (each.difference.low, each.difference.high) if end is not None]
    scale = next((scale for scale in SCALES if max(ends, default=0.0) <= scale), SCALES[-1])
    version = next((each.subject.version for each in found.entrants if each.subject), None)
    noise = noises_of([version]).get(version.pk) if version else None
    lines = []
    for entrant, name in zip(found.entrants, called, strict=False):
        line = _line(request, found, entrant, baseline, scale, noise)
        of_entrant = [between.get((entrant.experiment.pk, pk)) for pk in versions]
        won = next((cell for cell in of_entrant if cell and entrant.subject and cell.run == entrant.subject.run), None)
        others = [cell for cell, pk in zip(of_entrant, versions, strict=True) if not version or pk != version.pk]
        lines.append({**line, "name": name, "won": won, "wins": others})
    return {
        "entrants": lines,
        "win_versions": [each for pk, each in versions.items() if not version or pk != version.pk],
        "corrected": max((each.judged for each in figures), default=0),
        "charts": _charts(found, called, baseline),
    }


def _between(found: Several) -> dict[tuple[int, int | None], Column]:
    """What comparative versions say of each result and the baseline, by the ids of result and version."""
    runs = [subject.run for each in found.entrants for subject, _ in each.judged if subject.is_comparative]
    return {(column.run.experiment_id, column.run.version_id): column for column in columns(runs)} if runs else {}


def _line(
    request: ProjectRequest, found: Several, entrant: Entrant, baseline: Experiment, scale: float, noise: Noise | None
) -> dict[str, Any]:
    told = entrant.figure.difference if entrant.figure else None
    places = {"value": told.value, "low": told.low, "high": told.high} if told else {}
    verdicts = [figure.verdict for _, figure in entrant.judged if figure.difference.n]
    return {
        "entrant": entrant,
        "figure": entrant.figure,
        "advice": with_floor(entrant.figure.advice, noise, entrant.figure.difference.n) if entrant.figure else "",
        "verdicts": {
            "better": verdicts.count(BETTER),
            "worse": verdicts.count(WORSE),
            "cannot_tell": verdicts.count(CANNOT_TELL),
        },
        "scale": scale,
        "pair_url": _pair_url(entrant, baseline),
        "shows": {show: _pair_url(entrant, baseline, show) for show in ("regressed", "improved")},
        "less_url": _without(request, entrant.experiment, found),
        "places": {at: f"{50 + 50 * end / scale:.1f}%" for at, end in places.items() if end is not None},
    }


def _pair_url(entrant: Entrant, baseline: Experiment, show: str = "") -> str:
    query: dict[str, Any] = {"by": entrant.subject.run.pk} if entrant.subject else {}
    query |= {"show": show, "sort": "high" if show == "improved" else "low"} if show else {}
    return f"{entrant.experiment.url_against(baseline.pk)}?{urlencode(query)}"


def _without(request: ProjectRequest, experiment: Experiment, found: Several) -> str:
    """The page without one of the further results."""
    left = [str(each.experiment.pk) for each in found.entrants[1:] if each.experiment.pk != experiment.pk]
    return link(request, also=",".join(left)) if left else request.path


def _charts(found: Several, called: list[str], baseline: Experiment) -> list[Any]:
    bars = [
        charts.Bar(name, each.figure.difference, each.figure.verdict, _pair_url(each, baseline))
        for each, name in zip(found.entrants, called, strict=False)
        if each.figure and each.figure.compared and each.figure.difference.value is not None
    ]
    return [charts.deltas(f"Differences from {called[-1]}", bars, "Result")] if bars else []
