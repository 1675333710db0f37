"""The queues of a project, how far one of them is, and what of it awaits a person at home."""

from __future__ import annotations

from django.db.models import Count, Exists, OuterRef, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotations.access import decided_by, may_decide, may_grade, open_to, queues_of
from annotations.intake import told
from annotations.models import Item, ItemState, Queue
from annotations.progress import parts_of, progress_of
from annotations.stale import seats_to_open, stale_grades
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import Order, page_of
from experiments.models import Experiment, Run

MOST_AWAITING = 5  # queues on the home page
MOST_DISPUTED = 50
MOST_RESULTS = 12

IS_OPEN = Q(closed_at=None)


@require_safe
@project_page(Role.VIEWER, reviewers=True)
def queue_list(request: ProjectRequest) -> HttpResponse:
    """Decides what to grade next: the queues with what is left in each."""
    seen = queues_of(request.project, request.user, request.role)
    counts = seen.aggregate(open=Count("pk", filter=IS_OPEN), closed=Count("pk", filter=~IS_OPEN))
    show = "closed" if request.GET.get("show") == "closed" else "open"
    found = seen.filter(IS_OPEN if show == "open" else ~IS_OPEN).select_related("project")
    page = page_of(found.prefetch_related("versions__evaluator"), Order("pk", descending=True), request.GET)
    ctx = {
        "page": page,
        "rows": _rows(request, page.rows),
        "show": show,
        "counts": counts,
        "may_make": request.role >= Role.EDITOR,
    }
    return page_or_fragment(request, "annotations/queue_list.html", ctx)


def _rows(request: ProjectRequest, queues: list[Queue]) -> list[tuple]:
    """Each queue with its progress, and whether whoever asks grades and decides in it. Five queries."""
    progress = progress_of(queues, request.user)
    mine: set[int] = set()
    shown = [queue.pk for queue in queues]
    if request.role >= Role.REVIEWER:
        here = open_to(request.project, request.user).filter(pk__in=shown)
        mine = set(here.values_list("pk", flat=True))
    decided = Queue.objects.filter(decided_by(request.project, request.user, request.role), pk__in=shown)
    decides = set(decided.values_list("pk", flat=True))
    return [(queue, progress[queue.pk], queue.pk in mine, queue.pk in decides) for queue in queues]


@require_safe
@project_page(Role.VIEWER)
def queue_page(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether a queue gets done: how far it is, who works at it, what waits for a decision."""
    queues = Queue.objects.filter(project=request.project).select_related("project", "author", "adjudicator")
    queue = get_object_or_404(queues.prefetch_related("versions__evaluator"), pk=pk)
    items = Item.objects.filter(queue=queue)
    disputed = items.filter(state=ItemState.DISPUTED).select_related("output__case").order_by("place", "pk")
    graded = Run.objects.filter(experiment=OuterRef("pk"), version__in=queue.versions.all())
    results = Experiment.objects.filter(
        Exists(graded), Exists(items.filter(output__experiment=OuterRef("pk"))), project=request.project
    )
    may_change = request.role >= Role.EDITOR
    stale = stale_grades(queue).count()
    ctx = {
        "queue": queue,
        "progress": progress_of([queue], request.user)[queue.pk],
        "stale": stale,
        "to_open": seats_to_open(queue).count() if stale and may_change and not queue.closed_at else 0,
        "parts": parts_of(queue),
        "disputed": list(disputed[:MOST_DISPUTED]),
        "results": list(
            results.select_related("project", "system", "dataset_version__dataset").order_by("-pk")[:MOST_RESULTS]
        ),
        "rule": told(queue),
        "grades": queue.closed_at is None and may_grade(queue, request.user, request.role),
        "decides": may_decide(queue, request.user, request.role),
        "may_change": may_change,
    }
    return page_or_fragment(request, "annotations/queue_page.html", ctx)


@require_safe
@project_page(Role.VIEWER, reviewers=True)
def home_review(request: ProjectRequest) -> HttpResponse:
    """Decides whether there is something for me to grade or to decide, for the home page."""
    queues: list[Queue] = []
    if request.role >= Role.REVIEWER:
        queues = list(open_to(request.project, request.user).select_related("project").order_by("-pk")[:MOST_AWAITING])
    progress = progress_of(queues, request.user)
    decided = Queue.objects.filter(decided_by(request.project, request.user, request.role), project=request.project)
    disputes = Item.objects.filter(queue__in=decided, state=ItemState.DISPUTED)
    ctx = {
        "rows": [(queue, progress[queue.pk]) for queue in queues if progress[queue.pk].left],
        "disputes": disputes.values("queue", "queue__name").annotate(n=Count("pk")).order_by("queue"),
    }
    return page_or_fragment(request, "annotations/home_review.html", ctx)
