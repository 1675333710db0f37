"""Making a queue, changing it, closing it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST

from annotations import making
from annotations.chosen import NAMES, Chosen, chosen_in
from annotations.forms import IntakeForm, NewQueueForm, QueueForm, versions_for
from annotations.models import Queue
from annotations.stale import ask_anew
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import page_or_fragment
from evaluators.kinds import BadConfig
from experiments.ledger.start import CannotStart
from experiments.models import Experiment

LATEST = 8  # results to choose from


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def queue_new(request: ProjectRequest) -> HttpResponse:
    """Decides what people grade, by which evaluators, and how several grades settle.

    The address names a result, or two and a filter, as the results page does; or `by_rule`, for outputs to come.
    """
    said = request.POST if request.method == "POST" else request.GET
    chosen, by_rule = chosen_in(said, request.project), bool(said.get("by_rule"))
    if chosen is None and not by_rule:
        return _choice(request)
    compares = bool(chosen and chosen.baseline)
    posted = request.POST if request.method == "POST" else None
    initial = {"order": "random", "rule": "majority", "name": chosen.subject[:120] if chosen else ""}
    form = NewQueueForm(posted, project=request.project, compares=compares, initial=initial)
    intake = IntakeForm(posted, project=request.project, prefix="intake") if by_rule else None
    if posted is not None and _all_valid(form, intake) and (queue := _made(request, form, intake, chosen)):
        messages.success(request, f"{queue.name} is open.")
        return redirect(queue)
    ctx = {
        "form": form,
        "intake": intake,
        "chosen": chosen,
        "n_chosen": chosen.outputs.count() if chosen else None,
        "kept": [(name, said[name]) for name in NAMES if said.get(name)] if chosen else [("by_rule", "1")],
        "compares": compares,
        "has_versions": versions_for(request.project, compares=compares).exists(),
    }
    status = 422 if posted is not None else 200
    return page_or_fragment(request, "annotations/queue_new.html", ctx, status=status)


def _choice(request: ProjectRequest) -> HttpResponse:
    """What a queue could be made of."""
    latest = Experiment.objects.filter(project=request.project).select_related("system", "dataset_version__dataset")
    ctx = {"experiments": latest.order_by("-pk")[:LATEST]}
    return page_or_fragment(request, "annotations/queue_choice.html", ctx)


def _all_valid(form: NewQueueForm, intake: IntakeForm | None) -> bool:
    """Whether both are, so that both say what is wrong."""
    return all([form.is_valid(), intake is None or intake.is_valid()])


def _made(
    request: ProjectRequest, form: NewQueueForm, intake: IntakeForm | None, chosen: Chosen | None
) -> Queue | None:
    """The new queue; None where it could not be made, which the form says."""
    said: dict[str, Any] = form.cleaned_data
    queue = form.save(commit=False)
    queue.project = request.project
    queue.intake = intake.intake() if intake else None
    repeated = (said["repeated"] or 0) / 100
    try:
        return making.make(queue, said["versions"], said["reviewers"], request.user, chosen=chosen, repeated=repeated)
    except making.NameTaken:
        form.add_error("name", f"There is a queue “{queue.name}” already.")
    except (CannotStart, BadConfig) as error:
        form.add_error(None, str(error))
    return None


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def queue_edit(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides who grades and what they are told; other instructions mark earlier grades as stale."""
    queue = get_object_or_404(Queue.objects.select_related("project"), project=request.project, pk=pk)
    before = queue.instructions
    posted = request.POST if request.method == "POST" else None
    form = QueueForm(posted, instance=queue, project=request.project)
    if posted is not None and form.is_valid():
        making.change(form.save(commit=False), request.user, before)
        queue.reviewers.set(form.cleaned_data["reviewers"])
        messages.success(request, f"{queue.name} is changed.")
        return redirect(queue)
    ctx = {"form": form, "queue": Queue.objects.select_related("project").get(pk=queue.pk)}
    return page_or_fragment(request, "annotations/queue_edit.html", ctx, status=422 if posted is not None else 200)


@require_POST
@project_page(Role.EDITOR)
def queue_ask_anew(request: ProjectRequest, pk: int) -> HttpResponse:
    """Ask those who graded under older instructions again."""
    queue = get_object_or_404(Queue.objects.select_related("project"), project=request.project, pk=pk, closed_at=None)
    number = ask_anew(queue, request.user)
    messages.success(
        request, f"{number:,} grade{'' if number == 1 else 's'} asked for again. The old ones count until then."
    )
    return redirect(queue)


@require_POST
@project_page(Role.EDITOR)
def queue_close(request: ProjectRequest, pk: int) -> HttpResponse:
    queue = get_object_or_404(Queue.objects.select_related("project"), project=request.project, pk=pk)
    making.close(queue, request.user)
    return redirect(queue)


@require_POST
@project_page(Role.EDITOR)
def queue_reopen(request: ProjectRequest, pk: int) -> HttpResponse:
    queue = get_object_or_404(Queue.objects.select_related("project"), project=request.project, pk=pk)
    making.reopen(queue, request.user)
    return redirect(queue)
