"""Pages of the leaderboard: systems × evaluators with places, its charts, its file, and the runs that it lacks."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.text import slugify
from django.views.decorators.http import require_POST, require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment
from evaluators.models import EvaluatorVersion
from experiments.analysis.charts.leaderboard import came_along, quality_and_cost, telling_cases
from experiments.analysis.leaderboard import Board, Entrant, Wish, board_of, datasets_of, results_of
from experiments.analysis.leaderboard_columns import Cell, Judged, question_about
from experiments.analysis.leaderboard_telling import as_csv, sentence_of
from experiments.analysis.leaderboard_trends import trends_of
from experiments.analysis.noise import noises_of, with_floor
from experiments.analysis.slicing import SLICED_BY
from experiments.analysis.working_out import answers
from experiments.ledger.start import CannotStart, start
from experiments.models import Case, Experiment
from experiments.views.runs import note

TELLING = "experiments.analysis.leaderboard_cases.telling"


@require_safe
@project_page(Role.VIEWER)
def leaderboard(request: ProjectRequest) -> HttpResponse:
    """Decides which system to use: which one is proven better, which are tied, and what each costs.

    htmx, when it asks for a fragment, gets the tables alone.
    """
    datasets = datasets_of(request.project)
    board = board_of(request.project, Wish.of(request.GET), datasets)
    ctx = {
        "tab": "systems",
        "board": board,
        "datasets": datasets,
        "sentence": sentence_of(board),
        "advice": _advice(board),
        "heads": [_head(request, board, column) for column in board.columns],
        "rows": _rows(board),
        "shares": _shares(board),
        "gaps": _gaps(request, board),
        "measures": _measures(request, board),
        "slices": _slices(request, board),
        "results": results_of(board.dataset) if board.dataset and "choose" in request.GET else [],
        "chosen_ids": {entrant.pk for entrant in board.entrants},
        "can_run": request.role >= Role.EDITOR,
        "sorts": {name: _sort(request, board, name) for name in ("system", "latency", "cost")},
    }
    return page_or_fragment(request, "experiments/leaderboard.html", ctx)


@require_safe
@project_page(Role.VIEWER)
def leaderboard_charts(request: ProjectRequest) -> HttpResponse:
    """Decides whether a better system is worth its price, and which cases to read: the charts of the leaderboard."""
    board = board_of(request.project, Wish.of(request.GET), datasets_of(request.project))
    judged = board.ranked
    charts: list[Any] = [quality_and_cost(board)]
    is_waiting = board.is_waiting
    question = question_about(judged, board.wish.slice, TELLING) if judged and not judged.is_whole else None
    if judged and board.dataset and question:
        found = answers(request.project.pk, [question]).get(question)
        is_waiting = is_waiting or found is None
        if found:
            keys = dict(Case.objects.filter(pk__in=found["cases"]).values_list("pk", "key"))
            charts.append(telling_cases(board, judged, found, keys, board.rows))
    if judged and board.dataset and not board.wish.slice:
        charts.append(came_along(trends_of(board.dataset, judged), judged))
    ctx = {"charts": [chart for chart in charts if chart], "board": board, "is_waiting": is_waiting, "tab": "systems"}
    return page_or_fragment(request, "experiments/leaderboard_charts.html", ctx)


@require_safe
@project_page(Role.VIEWER)
def leaderboard_export(request: ProjectRequest) -> HttpResponse:
    """The table as a file, by the same address."""
    board = board_of(request.project, Wish.of(request.GET), datasets_of(request.project))
    response = HttpResponse(as_csv(board), content_type="text/csv; charset=utf-8")
    name = slugify(f"leaderboard-{board.dataset or 'empty'}")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


@require_POST
@project_page(Role.EDITOR)
def leaderboard_run(request: ProjectRequest) -> HttpResponse:
    """Runs the version of a column on systems that it has not judged."""
    versions = EvaluatorVersion.objects.filter(evaluator__project=request.project).select_related("evaluator")
    version = get_object_or_404(versions, pk=id_in(request.POST.get("version", "")))
    wanted = [pk for text in request.POST.getlist("result") if (pk := id_in(text))]
    experiments = Experiment.objects.filter(project=request.project, pk__in=wanted).select_related("system")
    for experiment in experiments:
        try:
            note(request, "ran", start(version, experiment, request.user))
        except CannotStart as error:
            messages.error(request, f"{experiment.system.name}: {error}")
        else:
            messages.success(request, f"{version.evaluator.name} {version} runs on {experiment.system.name}.")
    query = QueryDict(request.POST.get("back", "")[:2000]).urlencode()
    return redirect(f"{reverse('leaderboard', args=[request.project.slug])}{'?' if query else ''}{query}")


def link(request: ProjectRequest, **changes: Any) -> str:
    """This page under another view. A list stands for a name that comes several times; None takes a name out."""
    query = request.GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value is not None:
            query.setlist(name, [str(each) for each in value] if isinstance(value, list) else [str(value)])
    query.pop("choose", None) if "choose" not in changes else None
    return f"{reverse('leaderboard', args=[request.project.slug])}?{query.urlencode()}"


def _head(request: ProjectRequest, board: Board, column: Judged) -> dict[str, Any]:
    """The head of a column: a click ranks by it, another one turns the order."""
    is_ranked = board.ranked is not None and column.key == board.ranked.key
    is_sorted = is_ranked and not board.wish.sort
    turned = is_sorted and not board.wish.turned
    ends = ("ascending", "descending") if column.direction == "higher" else ("descending", "ascending")
    return {
        "column": column,
        "is_ranked": is_ranked,
        "sorted": ends[not board.wish.turned] if is_sorted else "",
        "url": link(request, by=column.key, sort=None, turned=1 if turned else None),
        "is_rehearsal": any(cell.column.is_rehearsal for cell in column.cells.values()),
        "is_standing": column.version.pk == column.version.evaluator.published_version_id,
    }


def _sort(request: ProjectRequest, board: Board, name: str) -> dict[str, str]:
    is_sorted = board.wish.sort == name
    turned = is_sorted and not board.wish.turned
    return {
        "url": link(request, sort=name, turned=1 if turned else None),
        "sorted": ("descending" if board.wish.turned else "ascending") if is_sorted else "",
    }


def _rows(board: Board) -> list[dict[str, Any]]:
    ranked = board.ranked.cells.items() if board.ranked else ()
    names = {str(cell.run.pk): board.names[pk] for pk, cell in ranked}
    return [
        {
            "entrant": entrant,
            "place": place,
            "tied": [names[pk] for pk in place.tied_with] if place else [],
            "cells": [
                (column, column.cells.get(entrant.pk), column.others.get(entrant.pk)) for column in board.columns
            ],
        }
        for entrant in board.rows
        for place in [board.place_of(entrant)]
    ]


def _shares(board: Board) -> dict[str, Any] | None:
    """What passes, fails and has no score, by evaluators with a threshold; None where there is none."""
    shown = [column for column in board.columns if column.passing.threshold is not None and column.measure is None]
    if not shown:
        return None
    rows = [
        (entrant, [_share(board, entrant, column.cells.get(entrant.pk)) for column in shown])
        for entrant in board.rows
        if any(entrant.pk in column.cells for column in shown)
    ]
    return {"columns": shown, "rows": rows}


def _share(board: Board, entrant: Entrant, cell: Cell | None) -> dict[str, Any] | None:
    """One cell. What is counted opens those cases."""
    if cell is None:
        return None
    base = f"{entrant.url}?{urlencode({'by': cell.run.pk, **board.wish.slice.query})}"
    parts = [
        (name, word, cell.counts.get(name, 0), f"{base}&show={show}")
        for name, word, show in (
            ("failing", "fail", "below"),
            ("unscored", "unscored", "unscored"),
            ("failed", "failed to run", "failed"),
            ("awaiting", "awaiting", "awaiting"),
            ("pending", "pending", "pending"),
        )
    ]
    shown = [part for part in parts if part[2] or part[0] == "failing"]
    return {"cell": cell, "url": base, "parts": shown}


def _advice(board: Board) -> str:
    """What would split the first tie, with the noise floor of who ranks. One query where there is a tie."""
    if not board.ranked or not board.ranked.answer or not (advice := board.ranked.answer["advice"]):
        return ""
    judged = [cell.figure.n for cell in board.ranked.cells.values() if cell.figure and cell.figure.n]
    is_score = board.ranked.measure is None
    noise = noises_of([board.ranked.version]).get(board.ranked.version.pk) if is_score else None
    return with_floor(advice, noise, min(judged, default=0))


def _gaps(request: ProjectRequest, board: Board) -> list[dict[str, Any]]:
    """What a column leaves out, with the other versions that one may look at instead."""
    names = board.names
    gaps = []
    for column in board.columns:
        if column.measure is not None or not (column.others or column.unjudged or len(column.versions) > 1):
            continue
        kept = [pk for pk in board.wish.versions if pk not in {version.pk for version, _ in column.versions}]
        gaps.append(
            {
                "column": column,
                "others": [(names[pk], versions) for pk, versions in column.others.items() if pk in names],
                "unjudged": [names[pk] for pk in column.unjudged],
                "lacking": [pk for pk in (*column.others, *column.unjudged) if pk in names],
                "is_archived": column.version.evaluator.archived_at is not None,
                "versions": [
                    (version, n, link(request, version=[*kept, version.pk], by=None))
                    for version, n in column.versions
                    if version.pk != column.version.pk
                ],
            }
        )
    return gaps


def _measures(request: ProjectRequest, board: Board) -> list[dict[str, Any]]:
    """The measures that may stand beside the scores, each with an address that puts it there or takes it off."""
    shown = {column.key for column in board.columns if column.measure}
    return [
        {
            "title": f"{column.version.evaluator.name}: {measure.title}",
            "is_shown": key in shown,
            "url": link(request, also=sorted(shown ^ {key})),
        }
        for column in board.columns
        for measure in column.measures
        for key in [f"{column.version.pk}:{measure.name}"]
    ]


def _slices(request: ProjectRequest, board: Board) -> dict[str, Any]:
    """Addresses of all cases, of each split, and of each value of a field; and what the chosen slice is called."""
    chosen, known = board.wish.slice, board.slices
    none = dict.fromkeys(SLICED_BY)
    cells = [cell for column in board.columns for cell in column.cells.values()] if chosen else []
    told = [cell.figure for cell in cells if cell.figure]
    return {
        "name": str(chosen),
        "query": f"&{urlencode(chosen.query)}" if chosen else "",
        "all_url": link(request, **none),
        "splits": [
            (split, n, link(request, **none | {"split": split}), split == chosen.split)
            for split, n in known.get("splits", {}).items()
        ],
        "fields": [
            (field, [(value, n, link(request, **none | {"field": field, "value": value})) for value, n in values])
            for field, values in known.get("fields", {}).items()
        ],
        "is_else": bool(chosen) and (bool(chosen.field) or chosen.split not in known.get("splits", {})),
        "is_empty": bool(told) and not any(figure.asked for figure in told),
    }
