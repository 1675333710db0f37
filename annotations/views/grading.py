"""The grading screen: one item after another, without a page load between them."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotations.access import may_grade, queues_of
from annotations.answers import BadAnswer, read
from annotations.grading import Subject, skip, submit, undo
from annotations.holding import at_hand, keep_draft
from annotations.models import Grade, GradeState, Item, Queue, Reservation
from annotations.progress import Progress, progress_of
from annotations.screen import screen_of, with_all, with_sides
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in, storable
from evalstudio.web.pages import wants_fragment

REASONS = (
    "I do not know enough about it",
    "Another language",
    "It does not load or is cut off",
    "I know the author",
)
MOST_DRAFT = 12_000  # characters
MOST_BEHIND = 200  # grades that one can walk back through after a reload


@require_safe
@never_cache
@project_page(Role.REVIEWER)
def queue_grade(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides what to say of the item on the screen; the next one is there already.

    `?item=` shows one that this person has or had in hand; a fragment is asked for to go back to it.
    """
    queue = _queue(request, pk)
    wanted = id_in(request.GET.get("item", ""))
    seats = {seat.item_id: seat for seat in at_hand(queue, request.user)}
    held = list(seats)
    if wanted is not None:
        item = _item(request, wanted)
        is_known = wanted in held or Grade.objects.filter(item=item, person=request.user).exists()
        if item.queue_id != queue.pk or not is_known:
            raise Http404
        if wants_fragment(request):
            return render(request, "annotations/_item.html", _context(request, item))
        held = [wanted, *(other for other in held if other != wanted)]
    items = {item.pk: item for item in with_sides(Item.objects.filter(pk__in=held[:2]))}
    screens = [_context(request, items[pk], queue, seats.get(pk)) for pk in held[:2]]
    context = {
        "queue": queue,
        "progress": _progress(queue, request.user),
        "reasons": REASONS,
        "current": _at(screens, 0),
        "following": _at(screens, 1),
        "behind": _behind(queue, request.user),
    }
    return render(request, "annotations/grade.html", context)


@require_POST
@project_page(Role.REVIEWER)
def item_grade(request: ProjectRequest, pk: int) -> HttpResponse:
    """Takes a grade, a skip or that somebody cannot judge; answers with the item after the next, and the progress."""
    item = _item(request, pk)
    act = request.POST.get("do", "submit")
    if act == "skip":
        skip(item, request.user, storable(request.POST.get("reason", "")[:500]))
        return _went_on(request, item.queue)
    subject = Subject.of(item)
    try:
        answers = read(request.POST.dict(), subject.versions, is_flipped=item.is_flipped, cannot=act == "cannot")
    except BadAnswer as error:
        context = _context(request, item, typed=request.POST, faults=error.faults)
        if wants_fragment(request):
            return render(request, "annotations/_item.html", context, status=422)
        page = {
            "queue": item.queue,
            "progress": _progress(item.queue, request.user),
            "reasons": REASONS,
            "current": context,
        }
        return render(request, "annotations/grade.html", page, status=422)
    submit(subject, request.user, answers, seconds=_seconds(request.POST))
    return _went_on(request, item.queue)


@require_POST
@project_page(Role.REVIEWER)
def item_draft(request: ProjectRequest, pk: int) -> HttpResponse:
    """Keeps what has been typed so far, so that another device or a reload finds it, and says whether it did."""
    item = _item(request, pk)
    typed = {storable(name): storable(str(value)) for name, value in request.POST.items()}
    fields = {name: value for name, value in typed.items() if name == "comment" or name.startswith("grade-")}
    if sum(map(len, fields.values())) > MOST_DRAFT:
        return HttpResponse(status=413)
    is_kept = keep_draft(item, request.user, fields)
    return HttpResponse("Draft kept" if is_kept else "Somebody else has this item now", content_type="text/plain")


@require_POST
@project_page(Role.REVIEWER)
def queue_undo(request: ProjectRequest, pk: int) -> HttpResponse:
    """Takes back what this person did last: the item is on the screen again, as they had graded it."""
    queue = _queue(request, pk)
    item = undo(queue, request.user)
    if not wants_fragment(request):
        back = f"?item={item.pk}" if item else ""
        return redirect(f"{request.path.removesuffix('undo/')}grade/{back}")
    if item is None:
        return HttpResponse(status=204)
    return render(request, "annotations/_item.html", _context(request, _item(request, item.pk)))


def _went_on(request: ProjectRequest, queue: Queue) -> HttpResponse:
    """Without scripts the page of the queue again, else the item that is not on the screen yet and the progress."""
    if not wants_fragment(request):
        return redirect("queue-grade", request.project.slug, queue.pk)
    shown = id_in(request.POST.get("shown", ""))
    after = next((seat for seat in at_hand(queue, request.user) if seat.item_id != shown), None)
    context: dict[str, Any] = {"queue": queue, "progress": _progress(queue, request.user)}
    if after is not None:
        context["following"] = _context(request, with_sides(Item.objects).get(pk=after.item_id), queue, after)
    return render(request, "annotations/_went_on.html", context)


def _queue(request: ProjectRequest, pk: int) -> Queue:
    """A queue in which this person grades."""
    queues = queues_of(request.project, request.user, request.role).select_related("project")
    queue = get_object_or_404(queues, pk=pk)
    if not may_grade(queue, request.user, request.role):
        raise PermissionDenied("This queue was given to others.")
    return queue


def _behind(queue: Queue, person: Any) -> list[int]:
    """The items that this person graded here last, the latest last."""
    mine = Grade.objects.filter(item__queue=queue, person=person, is_current=True, is_decision=False)
    latest = mine.exclude(state=GradeState.SKIPPED).order_by("-pk").values_list("item", flat=True)[:MOST_BEHIND]
    return list(dict.fromkeys(latest))[::-1]


def _progress(queue: Queue, person: Any) -> Progress:
    return progress_of([queue], person)[queue.pk]


def _item(request: ProjectRequest, pk: int) -> Item:
    item = get_object_or_404(with_all(Item.objects.filter(queue__project=request.project)), pk=pk)
    if not may_grade(item.queue, request.user, request.role):
        raise Http404
    return item


def _context(
    request: ProjectRequest,
    item: Item,
    queue: Queue | None = None,
    seat: Reservation | None = None,
    typed: QueryDict | None = None,
    faults: dict[str, str] | None = None,
) -> dict[str, Any]:
    """What the template of an item shows; `queue` is the item's and `seat` the person's, where they are at hand."""
    item.queue = queue or item.queue
    said = {name: str(value) for name, value in typed.items()} if typed is not None else None
    screen = screen_of(item, request.user, item.queue.asked, seat=seat, typed=said, faults=faults)
    return {"screen": screen, "faults": faults or {}, "reasons": REASONS}


def _at(screens: list[dict[str, Any]], number: int) -> dict[str, Any] | None:
    return screens[number] if number < len(screens) else None


def _seconds(said: QueryDict) -> float | None:
    """How long the item was looked at, as its page measured; nonsense is no time."""
    try:
        seconds = float(said.get("seconds", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None
