"""The list of a project's evaluators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count
from django.db.models.fields.json import KeyTextTransform
from django.http import HttpResponse
from django.views.decorators.http import require_GET

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import Order, page_of
from evaluators.kinds import KINDS
from evaluators.models import Draft, Evaluator, EvaluatorVersion
from evaluators.views.picking import starting_points

MOST_DRAFTS = 5  # named above the list, the latest first


@dataclass(frozen=True, slots=True)
class Listed:
    """One row of the list: an evaluator, its latest version (None before the first), and how many runs refer to it."""

    evaluator: Evaluator
    kind_title: str
    kind_icon: str
    latest: EvaluatorVersion | None
    n_runs: int

    @property
    def is_published(self) -> bool:
        return self.latest is not None and self.latest.pk == self.evaluator.published_version_id


@require_GET
@project_page(Role.VIEWER)
def evaluator_list(request: ProjectRequest) -> HttpResponse:
    """Helps to decide which evaluator to open, run or mend next."""
    words, kind = request.GET.get("q", "").strip(), request.GET.get("kind", "")
    in_use = Evaluator.objects.filter(project=request.project, kind__in=KINDS).in_use()
    counts = dict(in_use.values_list("kind").annotate(Count("pk")).order_by())
    found = in_use.matching(words).with_latest_id().with_draft_of(request.user)
    if kind in KINDS:
        found = found.filter(kind=kind)
    page = page_of(found, Order("updated_at", descending=True), request.GET)
    context = {
        "page": page,
        "rows": list(_listed(page.rows)),
        "total": sum(counts.values()),
        "chips": [(key, KINDS[key].title, counts[key]) for key in KINDS if key in counts],
        "kind": kind,
        "words": words,
        "drafts": _drafts_of_new(request),
        "may_edit": request.role >= Role.EDITOR,
        **({} if counts else starting_points()),
    }
    return page_or_fragment(request, "evaluators/list.html", context)


def _listed(evaluators: list[Evaluator]) -> Iterable[Listed]:
    """The rows with what stands in other tables: two queries for the page, however many rows it has."""
    counted = EvaluatorVersion.objects.filter(evaluator__in=evaluators).values_list("evaluator")
    runs = dict(counted.annotate(Count("runs")).order_by())
    versions = EvaluatorVersion.objects.select_related("author").defer("config")
    versions = versions.annotate(model_name=KeyTextTransform("model", "config"))
    latest_ids = {evaluator.pk: getattr(evaluator, "latest_id", None) for evaluator in evaluators}
    latest = versions.in_bulk(latest_ids.values())
    for evaluator in evaluators:
        kind = KINDS[evaluator.kind]
        version = latest.get(latest_ids[evaluator.pk])
        yield Listed(evaluator, kind.title, kind.icon, version, runs.get(evaluator.pk, 0))


def _drafts_of_new(request: ProjectRequest) -> list[tuple[Draft, str]]:
    """Evaluators begun by this person and never saved, with the title of their kind."""
    drafts = Draft.objects.filter(project=request.project, author=request.user, evaluator=None).order_by("-updated_at")
    return [(draft, KINDS[draft.kind].title) for draft in drafts.filter(kind__in=KINDS)[:MOST_DRAFTS]]
