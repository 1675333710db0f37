"""What the page of three results or more shows: one evaluator's figure of each against the baseline, and the cases."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import Http404

from evalstudio.projects.access import ProjectRequest
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evaluators.models import EvaluatorVersion
from experiments.analysis import reading
from experiments.analysis.charts import compare as charts
from experiments.analysis.comparing.cases import Told, outputs_of, partners_of_each, rows_of, told_of
from experiments.analysis.comparing.judges import Judges, judges_of_each
from experiments.analysis.comparing.kept import comparison
from experiments.analysis.comparing.listing import Listing
from experiments.analysis.comparing.several import SHOWS, Several, several
from experiments.analysis.grid import cells_of, snippet
from experiments.analysis.pairing import comparable
from experiments.analysis.repeats import Cell
from experiments.models import Experiment, Output
from experiments.views.comparing import ROWS, SCALES, link
from experiments.views.comparing import frame as pair_frame
from experiments.views.grids import row_links
from experiments.views.pair_peeks import peeked, side_of

MOST = 8  # results beside the first one and the baseline
WORDS = {"disagree": "Results disagree"}


class Row(NamedTuple):
    """One case: the baseline's score, and what each entrant gained on it."""

    output: Output
    partner: Output
    snippet: str
    baseline: Cell | None
    told: list[Told | None]


def further(request: ProjectRequest, experiment: Experiment, baseline: Experiment) -> list[Experiment]:
    """The results that the address sets beside the two, in its order."""
    wanted = [pk for text in request.GET.get("also", "").split(",") if (pk := id_in(text))]
    if not wanted:
        return []
    found = (
        comparable(experiment).exclude(pk=baseline.pk).select_related("system", "dataset_version__dataset", "project")
    )
    known = found.in_bulk(wanted[:MOST])
    return [known[pk] for pk in dict.fromkeys(wanted) if pk in known]


def names(experiments: list[Experiment]) -> list[str]:
    """Their systems; with a number where several are of one and the same."""
    systems = [each.system.name for each in experiments]
    return [
        f"{name} #{each.pk}" if systems.count(name) > 1 else name
        for each, name in zip(experiments, systems, strict=True)
    ]


def several_page(
    request: ProjectRequest, experiment: Experiment, baseline: Experiment, others: list[Experiment]
) -> dict[str, Any]:
    """All that the page needs. Two queries for each result, and a few."""
    every = [experiment, *others]
    judges = judges_of_each(every, baseline)
    versions = _versions(judges)
    chosen = _version(request, versions)
    version = next((each for each in versions if each.pk == chosen), None)
    found = several(every, baseline, judges, chosen)
    called = names([*every, baseline])
    show, sort, on = _asked(request, found)
    listed = found.listing(show, sort, on)
    page = listed.page(request.GET, ROWS)
    kept = found.kept()
    return {
        "experiment": experiment,
        "baseline": baseline,
        "others": others,
        "names": (called[0], called[-1]),
        "baseline_name": called[-1],
        "here": request.path,
        "version": version,
        "versions": [(each, link(request, by=each.pk, on="")) for each in versions],
        "entrants": _lines(request, found, called, baseline),
        "corrected": max((each.figure.judged for each in found.entrants if each.figure), default=0),
        "charts": _charts(found, called, baseline),
        "chips": [
            {
                "word": WORDS.get(each, each.capitalize()),
                "count": int(kept[each].sum()),
                "url": link(request, show=each),
                "is_chosen": each == show,
            }
            for each in SHOWS
        ],
        "heads": _heads(request, found, called, sort, on),
        "case_sort_url": link(request, sort="case", on=""),
        "sort": sort,
        "total": len(listed),
        "page": page,
        "rows": _rows(found, baseline, page.rows),
        "can_run": request.role >= Role.EDITOR,
        **row_links(request, request.path),
        **_peek(request, experiment, baseline, others, listed),
    }


def _peek(
    request: ProjectRequest, experiment: Experiment, baseline: Experiment, others: list[Experiment], listed: Listing
) -> dict[str, Any]:
    """The open case, if the address names one."""
    opened = id_in(request.GET.get("peek", ""))
    shown = None if opened is None else _shown(request, experiment, baseline, others, listed, opened)
    return {"peek_id": opened, **shown} if shown else {}


def several_peek(
    request: ProjectRequest, experiment: Experiment, baseline: Experiment, others: list[Experiment], output: int
) -> dict[str, Any]:
    """The panel of one case with all answers to it, or 404."""
    every = [experiment, *others]
    judges = judges_of_each(every, baseline)
    found = several(every, baseline, judges, _version(request, _versions(judges)))
    shown = _shown(request, experiment, baseline, others, found.listing(*_asked(request, found)), output)
    if shown is None:
        raise Http404
    return {"experiment": experiment, "baseline": baseline, "here": request.path.partition("peek/")[0], **shown}


def _shown(
    request: ProjectRequest,
    experiment: Experiment,
    baseline: Experiment,
    others: list[Experiment],
    listed: Listing,
    output: int,
) -> dict[str, Any] | None:
    """The pair of the first result and the baseline, with the answers of the others beside it."""
    frame = pair_frame(request, experiment, baseline)
    found = comparison(experiment, baseline, frame["judges"].subjects, frame["view"].columns)
    rows = rows_of(found, [output], with_bodies=True)
    if not rows:
        return None
    ctx = peeked(request, frame, found, listed, rows[0])
    called = names([experiment, *others, baseline])
    answers = partners_of_each([rows[0].output], others, with_bodies=True)
    for found_answers, name in zip(answers, called[1:], strict=False):
        if answer := found_answers.get(output):
            parts = reading.marked_parts(rows[0].partner.body.outputs, answer.body.outputs)[1]
            ctx["sides"].append(side_of(request.project.slug, "also", name, answer, parts))
    return {**ctx, "names": frame["names"], "view": frame["view"]}


def _versions(judges: list[Judges]) -> list[EvaluatorVersion]:
    """Those that judged the baseline and any of the others, first the ones that judged most."""
    found: dict[int, EvaluatorVersion] = {}
    counts: dict[int, int] = {}
    for each in judges:
        for subject in each.subjects:
            if not subject.is_comparative:
                found[subject.version.pk] = subject.version
                counts[subject.version.pk] = counts.get(subject.version.pk, 0) + 1
    return sorted(found.values(), key=lambda version: (-counts[version.pk], version.evaluator.name, version.number))


def _version(request: ProjectRequest, versions: list[EvaluatorVersion]) -> int | None:
    """The id of the version that the address names, or of the first."""
    known = [each.pk for each in versions]
    asked = id_in(request.GET.get("by", ""))
    return asked if asked in known else known[0] if known else None


def _asked(request: ProjectRequest, found: Several) -> tuple[str, str, int | None]:
    show, sort, on = (request.GET.get(name, "") for name in ("show", "sort", "on"))
    judged = [str(each.experiment.pk) for each in found.entrants if each.subject]
    return (
        show if show in SHOWS else "all",
        sort if sort in ("low", "high", "case") and judged else "low" if judged else "case",
        judged.index(on) if on in judged else None,
    )


def _lines(request: ProjectRequest, found: Several, called: list[str], baseline: Experiment) -> list[dict[str, Any]]:
    figures = [each.figure for each in found.entrants if each.figure]
    ends = [abs(end) for each in figures for end in (each.difference.low, each.difference.high) if end is not None]
    scale = next((scale for scale in SCALES if max(ends, default=0.0) <= scale), SCALES[-1])
    lines = []
    for entrant, name in zip(found.entrants, called, strict=False):
        told = entrant.figure.difference if entrant.figure else None
        places = {"value": told.value, "low": told.low, "high": told.high} if told else {}
        lines.append(
            {
                "name": name,
                "entrant": entrant,
                "figure": entrant.figure,
                "scale": scale,
                "pair_url": _pair_url(entrant, baseline),
                "shows": {show: _pair_url(entrant, baseline, show) for show in ("regressed", "improved")},
                "less_url": _without(request, entrant.experiment, found),
                "places": {at: f"{50 + 50 * end / scale:.1f}%" for at, end in places.items() if end is not None},
            }
        )
    return lines


def _pair_url(entrant: Any, baseline: Experiment, show: str = "") -> str:
    query = {"by": entrant.subject.run.pk} if entrant.subject else {}
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
        if each.figure and each.figure.difference.value is not None
    ]
    return [charts.deltas(f"Differences from {called[-1]}", bars)] if bars else []


def _heads(
    request: ProjectRequest, found: Several, called: list[str], sort: str, on: int | None
) -> list[dict[str, Any]]:
    heads, number = [], 0
    for entrant, name in zip(found.entrants, called, strict=False):
        if entrant.subject is None:
            heads.append({"name": name, "url": "", "sorted": ""})
            continue
        is_sorted = on == number and sort != "case"
        turned = "high" if is_sorted and sort == "low" else "low"
        word = {"low": "ascending", "high": "descending"}[sort] if is_sorted else ""
        heads.append({"name": name, "url": link(request, on=entrant.experiment.pk, sort=turned), "sorted": word})
        number += 1
    return heads


def _rows(found: Several, baseline: Experiment, ids: list[int]) -> list[Row]:
    """The cases of a page. Three queries."""
    outputs = outputs_of(ids)
    here = [outputs[pk] for pk in ids if pk in outputs]
    others = [each.experiment for each in found.entrants[1:]]
    partners, *more = partners_of_each(here, [baseline, *others])
    own = [outputs, *more]
    runs = [run for each in found.entrants if each.subject for run in each.subject.runs]
    cells = cells_of(runs, [output.pk for side in (*own, partners) for output in side.values()])
    first = next((each.subject for each in found.entrants if each.subject), None)
    rows = []
    for output in (each for each in here if each.pk in partners):
        partner = partners[output.pk]
        told = [
            told_of([each.subject], side[output.pk], partner, cells)[0] if each.subject and output.pk in side else None
            for each, side in zip(found.entrants, own, strict=True)
        ]
        base = cells.get((partner.pk, first.baseline_run.pk)) if first and first.baseline_run else None
        rows.append(Row(output, partner, snippet(output.case.inputs), base, told))
    return rows
