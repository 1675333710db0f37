"""What a page of results shows: figures, filters and rows."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.db.models import F

from evalstudio.projects.access import ProjectRequest
from evalstudio.projects.models import Role
from evaluators.engine import work_of
from evaluators.kinds import BadConfig
from evaluators.models import Evaluator, EvaluatorVersion
from experiments.analysis.answered import answered
from experiments.analysis.columns import Column, columns, current_runs, facts
from experiments.analysis.grid import SHOWS, View, counts_of, labelled, rows_of, walk
from experiments.analysis.neighbours import next_error
from experiments.analysis.slicing import SLICED_BY
from experiments.forms.starting import OptionsForm, splits_of
from experiments.models import Evaluation, Experiment, Run, RunDefaults
from experiments.views.peeks import address, peek_context, peeked

PLACES = ("after", "before", "peek", "tab")  # in an address; another view of the rows begins without them
LABELS = ("expected", "label")  # likewise, where a cell of a confusion table was opened
MOST_COMPARED = 3  # the latest baselines that are named
FEW = 50  # outputs; until there are so many, those that come are shown at once
KEPT = ("by", "show", "sort", *LABELS, *SLICED_BY)  # while words are looked for


def results_grid(request: ProjectRequest, experiment: Experiment) -> dict[str, Any]:
    """All that a page of results needs, the open case included."""
    frame = figures(request, experiment)
    view, chosen, shown = frame["view"], frame["chosen"], frame["columns"]
    runs = [column.run for column in shown]
    page = walk(experiment, view, chosen.summary if chosen else None, frame["facts"]["outputs"]).page(request.GET)
    classes = ["r is-other" if chosen and column is not chosen else "r" for column in shown]
    ctx: dict[str, Any] = {
        **frame,
        "page": page,
        "rows": [(row, zip(row.cells, classes, strict=True)) for row in rows_of(page.rows, runs)],
        "chips": _chips(request, view, chosen),
        "heads": [_head(request, view, column) for column in shown],
        "several": _several(shown),
        "kept": [(name, request.GET[name]) for name in KEPT if name in request.GET],
        "slice": {"name": str(view.slice), "url": _link(request, **dict.fromkeys(SLICED_BY))} if view.slice else None,
        "order_sentence": _order_sentence(view),
        **row_links(request, frame["here"]),
        "case_sort_url": _link(request, sort="case"),
        "all_url": request.path,
        "nothing_yet": "Outputs appear here as they arrive."
        if frame["is_going"]
        else "None has come, and none is due.",
        "addable": addable(request, runs, compares=False) if frame["can_run"] else [],
    }
    if ctx["addable"]:
        ctx["options"] = OptionsForm(
            splits=splits_of(experiment), defaults=RunDefaults.of(experiment.project), auto_id="run_%s"
        )
    if output := peeked(request, experiment):
        ctx |= {"peek_id": output.pk, **peek_context(request, experiment, shown, view, output, page)}
    else:
        ctx["first_error"] = next_error(runs) if any(map(_has_errors, shown)) else None
    return ctx


def figures(request: ProjectRequest, experiment: Experiment) -> dict[str, Any]:
    """What the figures above the rows need, on their page and when they are polled."""
    runs = current_runs(experiment, by=request.GET.get("by", ""))
    shown, view = columns(runs), View.of(request.GET, runs)
    answers = answered(experiment)
    comes = answers.is_going if answers else experiment.is_open
    told = facts(experiment)
    return {
        "answers": answers,
        "experiment": experiment,
        "here": address(experiment),
        "facts": told,
        "compared_with": _compared_with(experiment),
        "view": view,
        "columns": shown,
        "chosen": next((column for column in shown if view.run and column.run.pk == view.run.pk), None),
        "is_going": comes or any(column.progress and not column.progress.now.is_over for column in shown),
        "shows_each": comes and told["outputs"] <= FEW,
        "can_run": request.role >= Role.EDITOR,
    }


def row_links(request: ProjectRequest, here: str) -> dict[str, str]:
    """What the links of the rows share: a row puts its output's id behind `open_url`, or between the other two."""
    kept = urlencode({name: value for name, value in request.GET.items() if name not in ("peek", "tab")})
    return {
        "open_url": f"{request.path}?{kept}{'&' if kept else ''}peek=",
        "peek_url": f"{here}peek/",
        "peek_query": f"?{kept}" if kept else "",
    }


def _has_errors(column: Column) -> bool:
    return bool(column.summary.counts["unscored"] + column.summary.counts["failed"])


def _link(request: ProjectRequest, **changes: Any) -> str:
    """This page under another view; a change of view starts at its first page, and leaves the labels behind.

    None takes a name out.
    """
    kept = {name: value for name, value in request.GET.items() if name not in (*PLACES, *LABELS)} | changes
    return f"{request.path}?{urlencode({name: value for name, value in kept.items() if value is not None})}"


def _chips(request: ProjectRequest, view: View, chosen: Column | None) -> list[dict[str, Any]]:
    """The filters with the number of cases each keeps, for the column that counts; empty ones are left out.

    How many they keep of a slice nobody has counted.
    """
    if chosen is None:
        return []
    counts = counts_of(chosen.run, chosen.summary)
    words = {"below": "Above threshold" if chosen.passing.direction == "lower" else "Below threshold"}
    chips = [
        {
            "word": words.get(show, show.capitalize()),
            "count": None if view.slice else counts[show],
            "url": _link(request, show=show),
            "is_chosen": show == view.show and not view.is_by_labels,
        }
        for show in SHOWS
        if counts[show] or show in ("all", view.show)
    ]
    return [_chip_of_labels(request, view), *chips] if view.is_by_labels else chips


def _chip_of_labels(request: ProjectRequest, view: View) -> dict[str, Any]:
    """What was opened of a confusion table."""
    called = f"called {view.given}"
    return {
        "word": " ".join(word for word in (view.expected or "All", called if view.given else "") if word),
        "count": Evaluation.objects.filter(labelled(view), view.slice.where("output__case__"), run=view.run).count(),
        "url": request.get_full_path(),
        "is_chosen": True,
    }


def _several(shown: list[Column]) -> set[Evaluator]:
    """Evaluators with columns of several versions, whose heads therefore name the version."""
    evaluators = [column.evaluator for column in shown]
    return {evaluator for evaluator in evaluators if evaluators.count(evaluator) > 1}


def _head(request: ProjectRequest, view: View, column: Column) -> dict[str, Any]:
    """The head of a column: a click sorts by it, another one turns the order."""
    is_chosen = view.run is not None and column.run.pk == view.run.pk
    is_sorted = is_chosen and view.sort != "case"
    turned = "high" if is_sorted and view.sort == "low" else "low"
    return {
        "column": column,
        "is_chosen": is_chosen,
        "sorted": {"low": "ascending", "high": "descending"}[view.sort] if is_sorted else "",
        "url": _link(request, by=column.run.pk, sort=turned),
    }


def _order_sentence(view: View) -> str:
    if view.run is None or view.sort == "case":
        return "In the order in which they came"
    return f"{'Lowest' if view.sort == 'low' else 'Highest'} {view.run.version.evaluator.name} first"


def _compared_with(experiment: Experiment) -> list[tuple[str, str]]:
    """The baselines that comparative evaluators set it against: each system with the address of the comparison."""
    against = experiment.runs.filter(is_current=True, baseline__isnull=False).values("baseline")
    found = Experiment.objects.filter(pk__in=against).select_related("system").order_by("-pk")
    return [(each.system.name, experiment.url_against(each.pk)) for each in found[:MOST_COMPARED]]


def addable(request: ProjectRequest, runs: list[Run], *, compares: bool) -> list[EvaluatorVersion]:
    """Published versions of the project's evaluators that can run here and have not."""
    published = EvaluatorVersion.objects.filter(
        evaluator__project=request.project, evaluator__archived_at=None, evaluator__published_version=F("pk")
    ).exclude(pk__in=[run.version_id for run in runs])
    found = published.select_related("evaluator").order_by("evaluator__name")
    return [version for version in found if _compares(version) == compares]


def _compares(version: EvaluatorVersion) -> bool:
    """Whether a version compares two results; one that cannot be read is taken for the others, and says so if run."""
    try:
        return work_of(version).needs.compares
    except BadConfig:
        return False
