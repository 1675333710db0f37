"""The upper part of the project's home: what the figures prove, what they leave open, what runs."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Project, Role
from evalstudio.web.pages import page_or_fragment
from evaluators.models import Evaluator
from experiments.analysis.columns import columns
from experiments.analysis.standing import claims, standings, unknowns
from experiments.ledger.progress import is_under_way
from experiments.models import Dataset, Experiment
from experiments.views.runs import runs_of

LATEST = 60  # runs that the page looks at
MOST_SHOWN = 12  # evaluators
MOST_UNKNOWN = 6


@require_safe
@project_page(Role.VIEWER)
def home_results(request: ProjectRequest) -> HttpResponse:
    """Decides where to look next: which system is ahead as far as the intervals prove it, and what runs."""
    runs = list(runs_of(request.project).filter(is_current=True, baseline=None).order_by("-pk")[:LATEST])
    shown = columns(runs)
    found = standings(shown)
    ctx: dict[str, Any] = {
        "going": [column for column in shown if is_under_way(column.run)],
        "awaiting": [column for column in shown if column.progress and column.progress.now.awaits_people],
        "standings": found[:MOST_SHOWN],
        "claims": claims(found),
        "unknowns": unknowns(found)[:MOST_UNKNOWN],
        "undecided": [standing for standing in found if standing.is_open],
        "compares": any(len(standing.columns) > 1 for standing in found),
        "can_edit": request.role >= Role.EDITOR,
    }
    if not found:
        ctx |= _first_steps(request.project, bool(runs))
    return page_or_fragment(request, "experiments/home_results.html", ctx)


def _first_steps(project: Project, has_runs: bool) -> dict[str, Any]:
    """Which of the four steps to a first figure are done, and which is next."""
    done = {
        "cases": Dataset.objects.filter(project=project, latest_version__gt=0).exists(),
        "outputs": Experiment.objects.filter(project=project).exists(),
        "evaluator": Evaluator.objects.filter(project=project, published_version__isnull=False).exists(),
        "run": has_runs,
    }
    return {"done": done, "next_step": next((step for step, is_done in done.items() if not is_done), "")}
