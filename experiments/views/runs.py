"""Pages and verbs of runs: watch, stop, resume, retry, limit. `starting` starts them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST, require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import AuditEntry, Project, Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import Order, page_of
from evaluators.models import Evaluator
from experiments.analysis.columns import RunProgress, columns
from experiments.analysis.outcomes import label_counts, troubles
from experiments.forms.starting import PRIORITIES, BoundsForm
from experiments.ledger import verbs
from experiments.ledger.blocked import why_not_yet, why_not_yet_of
from experiments.ledger.progress import AWAITS, UNDER_WAY, is_under_way, progress
from experiments.ledger.start import CannotStart
from experiments.ledger.turns import LANES
from experiments.models import Priority, Purpose, Run, RunState
from experiments.outputs.prompting import Recipe

RESULTS = Q(purpose=Purpose.RESULTS)
SHOWS = {
    "all": RESULTS,
    "running": UNDER_WAY,  # of whatever purpose: it may need a hand
    "awaiting": RESULTS & AWAITS,
    "stopped": RESULTS & Q(state=RunState.STOPPED),
    "finished": RESULTS & Q(state=RunState.FINISHED),
    "trial": Q(purpose=Purpose.TRIAL),
    "noise": Q(purpose=Purpose.NOISE),
    "answers": Q(purpose=Purpose.ANSWERS),
}
WORDS = {"trial": "Trials", "noise": "Noise"}
MOST_OF_EVALUATOR = 20


def runs_of(project: Project) -> QuerySet[Run]:
    """The runs of a project with all that a line about one says."""
    return Run.objects.filter(experiment__project=project).select_related(
        "version__evaluator__project",
        "version__publication",
        "calibration",
        "experiment__system__prompt",
        "experiment__project",
        "experiment__dataset_version__dataset__project",
        "baseline__system",
        "connection",
        "started_by",
    )


@require_safe
@project_page(Role.VIEWER)
def run_list(request: ProjectRequest) -> HttpResponse:
    """Decides what needs a hand: every run with what works, what waits and what went wrong, the latest first.

    Runs over samples, which are no results, are shown when they are asked for.
    """
    found = runs_of(request.project)
    evaluator = _evaluator(request)
    found = found.filter(version__evaluator=evaluator) if evaluator else found
    show = request.GET.get("show", "all")
    show = show if show in SHOWS else "all"
    page = page_of(found.filter(SHOWS[show]), Order("pk", descending=True), request.GET)
    waiting = why_not_yet_of([run for run in page.rows if run.state != RunState.FINISHED])
    ctx = {
        "page": page,
        "rows": [(column, waiting.get(column.run.pk, [])) for column in columns(page.rows)],
        "evaluator": evaluator,
        "show": show,
        "chips": _chips(found, show),
        "is_going": any(map(is_under_way, page.rows)),
    }
    return page_or_fragment(request, "experiments/run_list.html", ctx)


def _evaluator(request: ProjectRequest) -> Evaluator | None:
    wanted = id_in(request.GET.get("evaluator", ""))
    return Evaluator.objects.filter(project=request.project, pk=wanted).first() if wanted is not None else None


def _chips(found: QuerySet[Run], chosen: str) -> list[dict[str, Any]]:
    counts = found.aggregate(**{show: Count("pk", filter=condition) for show, condition in SHOWS.items()})
    return [
        {"show": show, "word": WORDS.get(show, show.capitalize()), "count": count, "is_chosen": show == chosen}
        for show, count in counts.items()
        if count or show in ("all", chosen)
    ]


@require_safe
@project_page(Role.VIEWER)
def run_page(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether to wait, stop, resume or retry: how far the run is, and why what has not run has not."""
    run = get_object_or_404(runs_of(request.project), pk=pk)
    return page_or_fragment(request, "experiments/run_page.html", _shown(request, run, BoundsForm.of(run)))


def _shown(request: ProjectRequest, run: Run, bounds: BoundsForm) -> dict[str, Any]:
    """What the page of a run shows."""
    is_asked = run.purpose == Purpose.ANSWERS
    now, column = progress(run), columns([run])[0]
    return {
        "is_asked": is_asked,
        "recipe": Recipe.of(run.experiment.system.prompt.config) if is_asked else None,
        "run": run,
        "column": column,
        "progress": RunProgress(now),
        "took_ms": (run.finished_at - run.created_at) / timedelta(milliseconds=1) if run.finished_at else None,
        "waiting": why_not_yet(run),
        "troubles": troubles(run),
        "labels": [] if is_asked or column.classifies else label_counts(run),  # a matrix says the same, and more
        "can_run": request.role >= Role.EDITOR,
        "is_going": not now.is_over,
        "bounds": bounds,
        "priority": dict(PRIORITIES)[Priority(run.priority)],
        "in_flight": run.connection.max_in_flight if run.connection else 0,
        "is_run_here": run.lane in LANES,
    }


def _verb(
    act: Callable[[Run, QueryDict], Any], noted: str, said: str, of_people: str = ""
) -> Callable[..., HttpResponseBase]:
    @require_POST
    @project_page(Role.EDITOR)
    def view(request: ProjectRequest, pk: int) -> HttpResponse:
        run = get_object_or_404(runs_of(request.project), pk=pk)
        try:
            act(run, request.POST)
        except CannotStart as error:
            messages.error(request, str(error))
        else:
            note(request, noted, run)
            messages.success(request, of_people if of_people and run.lane == "people" else said)
        back = request.POST.get("next", "")
        is_ours = url_has_allowed_host_and_scheme(back, {request.get_host()})
        return HttpResponseRedirect(back) if is_ours else redirect(run)

    return view


def note(request: ProjectRequest, act: str, run: Run) -> None:
    subject = run.title if run.purpose == Purpose.ANSWERS else f"{run.title} on {run.subject}"
    AuditEntry.note(request.project, request.user, act, subject)


run_stop = _verb(
    lambda run, _: verbs.stop(run),
    "stopped",
    "It stops: what is in flight lands, nothing new is started.",
    "It is stopped: nobody is asked to grade it until it is resumed.",
)
run_resume = _verb(lambda run, _: verbs.resume(run), "resumed", "It goes on.", "It awaits people again.")


run_retry = _verb(
    lambda run, posted: verbs.retry(run, failed_only=posted.get("only") == "failed"),
    "retried",
    "They are asked again.",
    "They await people again.",
)


@require_POST
@project_page(Role.EDITOR)
def run_bound(request: ProjectRequest, pk: int) -> HttpResponse:
    """Set limits and priority; with another limit, a run that a limit had stopped goes on."""
    run = get_object_or_404(runs_of(request.project), pk=pk)
    form = BoundsForm(request.POST)
    if form.is_valid():
        try:
            verbs.bound(run, form.bounds())
        except CannotStart as error:
            form.add_error(None, str(error))
    if form.errors:
        return page_or_fragment(request, "experiments/run_page.html", _shown(request, run, form), status=422)
    note(request, "bounded", run)
    messages.success(request, "It goes on." if run.state == RunState.ACTIVE else "Its limits are set.")
    return redirect(run)


@require_safe
@project_page(Role.VIEWER)
def running_badge(request: ProjectRequest) -> HttpResponse:
    """How many runs are under way, for the top bar of every page."""
    count = Run.objects.filter(UNDER_WAY, experiment__project=request.project).count()
    return render(request, "experiments/_running_badge.html", {"count": count})


@require_safe
@project_page(Role.VIEWER)
def evaluator_runs(request: ProjectRequest, pk: int) -> HttpResponse:
    """Where an evaluator was used: its latest results with their figures, as a panel on the evaluator's page."""
    evaluator = get_object_or_404(Evaluator, project=request.project, pk=pk)
    found = runs_of(request.project).filter(RESULTS, version__evaluator=evaluator)
    runs = list(found.order_by("-pk")[:MOST_OF_EVALUATOR])
    ctx: dict[str, Any] = {
        "evaluator": evaluator,
        "columns": columns(runs),
        "is_going": any(map(is_under_way, runs)),
        "has_more": len(runs) == MOST_OF_EVALUATOR,
    }
    return page_or_fragment(request, "experiments/evaluator_runs.html", ctx)
