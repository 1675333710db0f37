"""The page of the leaderboard in pairs."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment
from experiments.analysis.leaderboard import datasets_of
from experiments.analysis.pairwise import Met, Pairs, pairs_of


@require_safe
@project_page(Role.VIEWER)
def leaderboard_pairs(request: ProjectRequest) -> HttpResponse:
    """Decides which system wins most often when two answers are put side by side, against one baseline or all.

    htmx, when it asks for a fragment, gets the tables alone.
    """
    asked = [id_in(request.GET.get(name, "")) for name in ("dataset", "version", "baseline")]
    datasets = datasets_of(request.project)
    pairs = pairs_of(request.project, datasets, *asked)
    ctx = {
        "tab": "pairs",
        "board": pairs,
        "pairs": pairs,
        "datasets": datasets,
        "rates": [(met, *pairs.exactly(met)) for met in pairs.rates],
        "baseline_name": pairs.names.get(pairs.baseline.pk, "") if pairs.baseline else "",
        "baselines": [(each.pk, pairs.names[each.pk]) for each in pairs.experiments],
        "strengths": [(each, pairs.names[each.experiment.pk]) for each in pairs.strengths or ()],
        "method": next((each.figure.method for each in pairs.strengths or () if each.figure.standard_error), ""),
        "matrix": _matrix(pairs),
        "mirrors": [_told(pairs, column.run) for column in pairs.mirrors],
        "unfit": [(_told(pairs, met.column.run), met.untold) for met in pairs.unfit],
        "names": pairs.names,
        "choose_url": reverse("experiment-list", args=[request.project.slug]),
    }
    return page_or_fragment(request, "experiments/leaderboard_pairs.html", ctx)


def _matrix(pairs: Pairs) -> list[tuple[str, str, list[Met | None]]]:
    """Rows over columns: the share that the row wins against the column. None where the two never met."""
    return [
        (
            pairs.names[one.pk],
            one.get_absolute_url(),
            [pairs.met.get((one.pk, other.pk)) for other in pairs.experiments],
        )
        for one in pairs.experiments
    ]


def _told(pairs: Pairs, run: Any) -> dict[str, str]:
    words = (
        f"{pairs.names.get(run.experiment_id, run.experiment)} against {pairs.names.get(run.baseline_id, run.baseline)}"
    )
    return {"words": words, "url": run.results_url or ""}
