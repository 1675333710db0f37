"""Pages of judges against people, and of several judges against the same grades."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from annotations.beside import Beside, beside, people_of, runs_with_people
from annotations.charts import told_by_score
from annotations.judging import against, calibrate, refer, strata_of
from annotations.shootout import MARGIN, graded_experiments, shootout
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.numbers import percent
from evalstudio.web.pages import page_or_fragment
from evaluators.models import Evaluator
from evaluators.stats.budget import Plan, plan
from evaluators.stats.confusion import Confusion
from experiments.analysis.columns import columns
from experiments.models import Evaluation, Output

SHOWN = 25  # disagreements
WITHIN = 0.03  # how exactly a corrected figure should be known unless somebody types otherwise


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def evaluator_people(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides how far to trust a judge: what people said of the same outputs, and what they would say of the others."""
    judge = get_object_or_404(Evaluator.objects.select_related("reference"), pk=pk, project=request.project)
    humans = Evaluator.objects.filter(project=request.project, kind="human", archived_at=None, compares=judge.compares)
    may_edit = request.role >= Role.EDITOR
    if request.method == "POST":
        if not may_edit:
            raise PermissionDenied("This needs the role editor.")
        return _choose(request, judge, humans)
    runs = runs_with_people(judge)
    wanted = id_in(request.GET.get("run", ""))
    run = next((each for each in runs if each.pk == wanted), runs[0] if runs else None)
    context: dict[str, Any] = {
        "evaluator": judge,
        "humans": humans.order_by("name"),
        "runs": runs,
        "run": run,
        "may_edit": may_edit,
    }
    if run and (people := people_of(run)):
        pair = beside(run, people)
        calibrate(run)
        found = against(pair, columns([run])[0].figure)
        context |= {
            "against": found,
            "table_rows": _rows(found.table),
            "chart": told_by_score(pair),
            "differing": _differing(pair),
            **_plan(pair, request.GET.get("within", "")),
        }
    return page_or_fragment(request, "annotations/evaluator_people.html", context)


def _choose(request: ProjectRequest, judge: Evaluator, humans: Any) -> HttpResponse:
    chosen = humans.filter(pk=id_in(request.POST.get("reference", "")) or 0).first()
    refer(judge, chosen, request.user)
    said = f"People of “{chosen.name}” correct {judge.name}" if chosen else f"Nobody corrects {judge.name} any more"
    messages.success(request, f"{said}.")
    return redirect("evaluator-people", request.project.slug, judge.pk)


def _rows(table: Confusion | None) -> list[dict[str, Any]]:
    """The table of what people and judge said, row by row."""
    if table is None:
        return []
    counts = table.counts
    return [{"label": row, "cells": [counts.get((row, name), 0) for name in table.columns]} for row in table.rows]


def _plan(pair: Beside, typed: str) -> dict[str, Any]:
    """How many more grades it takes until the corrected figure is known as exactly as somebody typed, in points."""
    points = _points(typed, WITHIN)
    planned = plan(strata_of(pair), max(0.001, points))
    return {"within": points * 100, "plan": planned if isinstance(planned, Plan) else None, "no_plan": planned}


def _differing(pair: Beside) -> list[dict[str, Any]]:
    """The outputs on which judge and people are furthest apart, worst first. Two queries."""
    import numpy as np

    gap = np.where(pair.both, np.abs(pair.judged - pair.graded), 0)
    worst = [int(i) for i in np.argsort(-gap, kind="stable")[:SHOWN] if gap[i] > 0]
    ids = [int(pair.outputs[i]) for i in worst]
    outputs = Output.objects.select_related("case").in_bulk(ids)
    rows = Evaluation.objects.filter(run=pair.judge, output__in=ids).order_by("-repeat")
    rows_of = dict(rows.values_list("output", "pk"))
    return [
        {
            "output": outputs[pk],
            "evaluation": rows_of[pk],
            "judge": pair.judge_labels[i] or percent(pair.judged[i], 0),
            "people": _beside(pair.people_labels[i], percent(pair.graded[i], 0), is_alone=bool(pair.judge_labels[i])),
            "gap": float(gap[i]),
        }
        for i, pk in zip(worst, ids, strict=True)
    ]


def _beside(word: str, share: str, *, is_alone: bool) -> str:
    """A label beside another one, or with its share beside a judge that gives numbers."""
    return word if word and is_alone else ", ".join(filter(None, (word, share)))


@require_safe
@project_page(Role.VIEWER)
def evaluator_judges(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides which judge to use: who agrees with people, at what cost and pace; the cheapest that is good enough."""
    people = get_object_or_404(Evaluator, pk=pk, project=request.project, kind="human")
    graded = graded_experiments(people)
    wanted = id_in(request.GET.get("run", ""))
    run = next((each for each in graded if each.pk == wanted), graded[0] if graded else None)
    margin = _points(request.GET.get("margin", ""), MARGIN)
    context = {
        "evaluator": people,
        "graded": graded,
        "run": run,
        "margin": margin * 100,
        "shootout": shootout(run, margin) if run else None,
    }
    return page_or_fragment(request, "annotations/evaluator_judges.html", context)


def _points(text: str, usual: float) -> float:
    """A share typed in points; nonsense is the usual."""
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        return usual
    return points / 100 if 0 <= points <= 100 else usual
