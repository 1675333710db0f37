"""What the page of three results or more shows: each one's figure against the baseline, and the cases that all have."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.http import Http404

from evalstudio.projects.access import ProjectRequest
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evaluators.models import EvaluatorVersion
from experiments.analysis import reading
from experiments.analysis.comparing.asking import ALL, View
from experiments.analysis.comparing.cases import Told, outputs_of, partners_of_each, rows_of, told_of
from experiments.analysis.comparing.judges import Judges, judges_of_each
from experiments.analysis.comparing.listing import Listing
from experiments.analysis.comparing.several import SHOWS, Several, several
from experiments.analysis.grid import cells_of, snippet
from experiments.analysis.pairing import comparable, names_of, numbered
from experiments.analysis.repeats import Cell
from experiments.models import Experiment, Output
from experiments.views.comparing import ROWS, link
from experiments.views.grids import row_links
from experiments.views.pair_peeks import peeked, side_of
from experiments.views.several_figures import figures_of

MOST = 8  # results beside the first one and the baseline
WORDS = {"disagree": "Results disagree"}


class Row(NamedTuple):
    """One case: the baseline's score, and what each entrant gained on it, most telling where any evaluator counts."""

    output: Output
    partner: Output
    snippet: str
    baseline: Cell | None
    told: list[tuple[Told | None, tuple[str, str]]]  # with the names of the two


def further(request: ProjectRequest, experiment: Experiment, baseline: Experiment) -> list[Experiment]:
    """The results that the address sets beside the two, in its order."""
    wanted = list(dict.fromkeys(pk for text in request.GET.get("also", "").split(",") if (pk := id_in(text))))[:MOST]
    if not wanted:
        return []
    found = (
        comparable(experiment).exclude(pk=baseline.pk).select_related("system", "dataset_version__dataset", "project")
    )
    known = found.in_bulk(wanted)
    return [known[pk] for pk in wanted if pk in known]


def names(experiments: list[Experiment]) -> list[str]:
    """Their systems; with a number where several are of one and the same."""
    return numbered([(each.pk, each.system.name) for each in experiments])


def several_page(
    request: ProjectRequest, experiment: Experiment, baseline: Experiment, others: list[Experiment]
) -> dict[str, Any]:
    """All that the page needs. The same few queries however many results there are."""
    every = [experiment, *others]
    judges = judges_of_each(every, baseline)
    versions = _versions(judges)
    version = _version(request, versions)
    found = several(every, baseline, judges, version.pk if version else None)
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
        "is_comparative": any(each.subject.is_comparative for each in found.entrants if each.subject),
        "has_baseline": any(each.subject.baseline_run for each in found.entrants if each.subject),
        "versions": [(each, link(request, by=each.pk, on="")) for each in versions],
        "any_url": link(request, by=ALL, on=""),
        **figures_of(request, found, called, baseline),
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
        "has_room": len(others) < MOST,
        "has_attempts": found.first.has_attempts,
        "case_sort_url": link(request, sort="case", on=""),
        "sort": sort,
        "total": len(listed),
        "page": page,
        "rows": _rows(found, called, page.rows, baseline, is_best=sort == "high"),
        "can_run": request.role >= Role.EDITOR,
        **row_links(request, request.path),
        **_peek(request, found, judges[0], others, listed),
    }


def _peek(
    request: ProjectRequest, found: Several, judges: Judges, others: list[Experiment], listed: Listing
) -> dict[str, Any]:
    """The open case, if the address names one."""
    opened = id_in(request.GET.get("peek", ""))
    shown = None if opened is None else _shown(request, found, judges, others, listed, opened)
    return {"peek_id": opened, **shown} if shown else {}


def several_peek(
    request: ProjectRequest, experiment: Experiment, baseline: Experiment, others: list[Experiment], output: int
) -> dict[str, Any]:
    """The panel of one case with all answers to it, or 404."""
    every = [experiment, *others]
    judges = judges_of_each(every, baseline)
    version = _version(request, _versions(judges))
    found = several(every, baseline, judges, version.pk if version else None)
    shown = _shown(request, found, judges[0], others, found.listing(*_asked(request, found)), output)
    if shown is None:
        raise Http404
    return {"experiment": experiment, "baseline": baseline, "here": request.path.partition("peek/")[0], **shown}


def _shown(
    request: ProjectRequest, found: Several, judges: Judges, others: list[Experiment], listed: Listing, output: int
) -> dict[str, Any] | None:
    """The pair of the first result and the baseline, with the answers of the others beside it."""
    experiment, baseline = found.first.experiment, found.first.baseline
    rows = rows_of(found.first, [output], [output])
    if not rows:
        return None
    frame = {
        "view": View.of(request.GET, judges.subjects),
        "judges": judges,
        "names": names_of(experiment, baseline),
        "can_run": request.role >= Role.EDITOR,
    }
    ctx = peeked(request, frame, found.first, listed, rows[0])
    called = names([experiment, *others, baseline])
    answers = partners_of_each([rows[0].output], others, with_bodies=True)
    for found_answers, name in zip(answers, called[1:], strict=False):
        if answer := found_answers.get(output):
            parts = reading.marked_parts(rows[0].partner.body.outputs, answer.body.outputs)[1]
            ctx["sides"].append(side_of(request.project, "also", name, answer, parts))
    return {**ctx, "names": frame["names"], "view": frame["view"]}


def _versions(judges: list[Judges]) -> list[EvaluatorVersion]:
    """Those that judged the baseline and any of the others, or the two together, first the ones that judged most."""
    found: dict[int, EvaluatorVersion] = {}
    counts: dict[int, int] = {}
    comparative: set[int] = set()
    for each in judges:
        for subject in each.subjects:
            found[subject.version.pk] = subject.version
            counts[subject.version.pk] = counts.get(subject.version.pk, 0) + 1
            comparative |= {subject.version.pk} if subject.is_comparative else set()
    return sorted(
        found.values(),
        key=lambda version: (
            version.pk in comparative,
            -counts[version.pk],
            version.evaluator.name,
            version.number,
        ),
    )


def _version(request: ProjectRequest, versions: list[EvaluatorVersion]) -> EvaluatorVersion | None:
    """The version that the address names, or the first; None where any counts."""
    asked = request.GET.get("by", "")
    if asked == ALL or not versions:
        return None
    return next((each for each in versions if each.pk == id_in(asked)), versions[0])


def _asked(request: ProjectRequest, found: Several) -> tuple[str, str, int | None]:
    show, sort, on = (request.GET.get(name, "") for name in ("show", "sort", "on"))
    judged = [str(each.experiment.pk) for each in found.ranked]
    return (
        show if show in SHOWS else "all",
        sort if sort in ("low", "high", "case") and judged else "low" if judged else "case",
        judged.index(on) if on in judged else None,
    )


def _heads(
    request: ProjectRequest, found: Several, called: list[str], sort: str, on: int | None
) -> list[dict[str, Any]]:
    heads = []
    for entrant, name in zip(found.entrants, called, strict=False):
        if entrant not in found.ranked:
            heads.append({"name": name, "url": "", "sorted": ""})
            continue
        is_sorted = on == found.ranked.index(entrant) and sort != "case"
        turned = "high" if is_sorted and sort == "low" else "low"
        word = {"low": "ascending", "high": "descending"}[sort] if is_sorted else ""
        heads.append({"name": name, "url": link(request, on=entrant.experiment.pk, sort=turned), "sorted": word})
    return heads


def _rows(found: Several, called: list[str], ids: list[int], baseline: Experiment, *, is_best: bool) -> list[Row]:
    """The cases of a page. Three queries."""
    outputs = outputs_of(ids)
    here = [outputs[pk] for pk in ids if pk in outputs]
    others = [each.experiment for each in found.entrants[1:]]
    partners, *more = partners_of_each(here, [baseline, *others])
    own = [outputs, *more]
    runs = [run for each in found.ranked for subject in each.subjects for run in subject.runs]
    cells = cells_of(runs, [output.pk for side in (*own, partners) for output in side.values()])
    of_baseline = next((each.subject.baseline_run for each in found.ranked if each.subject), None)
    pairs = [(name, called[-1]) for name in called[:-1]]
    rows = []
    for output in (each for each in here if each.pk in partners):
        partner = partners[output.pk]
        told = [
            _most_telling(told_of(each.subjects, side[output.pk], partner, cells), is_best=is_best)
            if each in found.ranked and output.pk in side
            else None
            for each, side in zip(found.entrants, own, strict=True)
        ]
        base = cells.get((partner.pk, of_baseline.pk)) if of_baseline else None
        rows.append(Row(output, partner, snippet(output.case.inputs), base, list(zip(told, pairs, strict=True))))
    return rows


def _most_telling(told: list[Told], *, is_best: bool) -> Told:
    """Of what several say the worst gain, or the best one; without any gain the first."""
    known = [each for each in told if each.gain is not None]
    return (max if is_best else min)(known, key=lambda each: each.gain or 0.0) if known else told[0]
