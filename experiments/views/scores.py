"""Scores that another program made, uploaded for a result."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from evaluators.outside import NotOutside, version_named
from experiments.datasets.importing.rows import BadFile
from experiments.forms.scores import MOST_BYTES, ScoresForm, rows_of
from experiments.ledger.asked import Asked
from experiments.ledger.outside import Taken, finds_place, take
from experiments.ledger.start import CannotStart, start
from experiments.models import Experiment, Run
from experiments.views.results import experiment_of
from experiments.views.runs import note


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def scores_upload(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether scores made elsewhere go in: under which evaluator, and what is wrong with which row."""
    experiment = experiment_of(request, pk)
    if request.method != "POST":
        form = ScoresForm(experiment=experiment, initial={"evaluator": request.GET.get("evaluator", "")[:200]})
        return _page(request, experiment, form)
    form, taken = ScoresForm(request.POST, request.FILES, experiment=experiment), Taken()
    run = _take(request, experiment, form, taken) if form.is_valid() else None
    if run is None or taken.wrong or form.errors:
        return _page(request, experiment, form, taken=taken if taken.wrong else None, run=run, status=422)
    stored = f"{taken.accepted:,} score{'' if taken.accepted == 1 else 's'} stored"
    messages.success(request, f"{stored}, {taken.unchanged:,} were there already." if taken.unchanged else f"{stored}.")
    return redirect(run.results_url or run)


def _take(request: ProjectRequest, experiment: Experiment, form: ScoresForm, taken: Taken) -> Run | None:
    """The run that the scores went into; None where none could begin, and the form says why."""
    said, wrong = form.cleaned_data, Taken()
    try:
        version = version_named(request.project, said["evaluator"], request.user)
        if not finds_place(version, experiment, rows_of(said["file"], wrong), wrong):
            taken.wrong, taken.faults = wrong.wrong, wrong.faults
            form.add_error("file", "No row of this file can be stored, so nothing has begun.")
            return None
        run = start(version, experiment, request.user, asked=Asked(again=said["again"]))
    except NotOutside as error:
        form.add_error("evaluator", str(error))
        return None
    except BadFile as error:
        form.add_error("file", str(error))
        return None
    except CannotStart as error:
        form.add_error(None, str(error))
        return None
    note(request, "sent scores of", run)
    try:
        take(run, rows_of(said["file"], taken), taken)
    except BadFile as error:
        form.add_error("file", str(error))
    return run


def _page(
    request: ProjectRequest, experiment: Experiment, form: ScoresForm, status: int = 200, **more: Any
) -> HttpResponse:
    ctx = {"experiment": experiment, "form": form, "limit_mb": MOST_BYTES // 1024 // 1024, **more}
    return page_or_fragment(request, "experiments/scores.html", ctx, status=status)
