"""Editing cases: each edit goes into a person's working set, which is committed as one version."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in, storable
from experiments.datasets import versions
from experiments.datasets.browsing import Filter
from experiments.datasets.committing import own_key
from experiments.datasets.contents import Content
from experiments.datasets.importing import fields
from experiments.datasets.importing.columns import ABSENT, BadValue
from experiments.datasets.schemas import content_of
from experiments.datasets.typed_cases import PARTS, Read, Typed, blank_of, fields_of, read, typed_of
from experiments.datasets.working import MOST_EDITS, TooMany, WorkingSet, placed_faults
from experiments.models import CaseEdit, CaseSpan, Dataset
from experiments.views.opening import dataset_of


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def case_edit(request: ProjectRequest, pk: int, case: int) -> HttpResponse:
    """Decides what a case should say from the next version on."""
    dataset = dataset_of(request, pk)
    spans = CaseSpan.objects.filter(dataset=dataset).at(dataset.latest_version).select_related("case")
    span = get_object_or_404(spans, case=case)
    working, content = WorkingSet(dataset, request.user), content_of(span.case)
    kept = working.edits.filter(key=span.key, is_removal=False).select_related("base").first()
    base = kept.base_id if kept else span.case_id
    typed = kept.typed if kept else typed_of(content)
    if request.method != "POST":
        return _form(request, dataset, typed, _faults(dataset, typed, content) if kept else {}, span=span, kept=kept)
    return _posted(request, working, span.key, base, content, span=span, kept=kept)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def case_new(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides what one more case asks, and what is expected of it."""
    dataset = dataset_of(request, pk)
    working = WorkingSet(dataset, request.user)
    named = request.POST.get("kept") or request.GET.get("key", "")
    kept = working.edits.filter(base=None, key=storable(named)).first()
    if request.method != "POST":
        typed = kept.typed if kept else _blank(dataset)
        return _form(request, dataset, typed, _faults(dataset, typed, None) if kept else {}, kept=kept)
    typed = _typed(request.POST)
    key, faults = _key(working, typed, kept)
    if faults:
        return _form(request, dataset, typed, faults, kept=kept, status=422)
    if kept and kept.key != key:
        working.discard([kept.pk])
    return _posted(request, working, key, None, None, kept=kept)


@require_POST
@project_page(Role.EDITOR)
def cases_selected(request: ProjectRequest, pk: int) -> HttpResponse:
    """Gathers one edit for each of the chosen cases: it goes, or gets a split or a tag."""
    dataset = dataset_of(request, pk)
    spans = CaseSpan.objects.filter(dataset=dataset).at(dataset.latest_version).order_by("position", "pk")
    if request.POST.get("all"):
        chosen = Filter.of(request.POST).among(spans)
    else:
        chosen = spans.filter(case__in=[id_in(text) or 0 for text in request.POST.getlist("case")])
    members = list(chosen.values_list("key", "case_id")[: MOST_EDITS + 1])
    said = _apply(WorkingSet(dataset, request.user), members, request.POST)
    messages.add_message(request, *said)
    return redirect(dataset)


def _apply(working: WorkingSet, members: list[tuple[str, int]], posted: QueryDict) -> tuple[int, str]:
    """Do to the members what was asked; how it went, as a message."""
    do = posted.get("do", "")
    if not members:
        return messages.WARNING, "No case is selected, so nothing changed."
    typed = {"split": storable(posted.get("set_split", "")), "tags": storable(posted.get("add_tag", ""))}
    wrong = read({"mode": "fields", "text:inputs:x": "x", **typed}).faults
    if wrong:
        return messages.ERROR, " ".join(said for all_said in wrong.values() for said in all_said)
    try:
        if do == "remove":
            working.remove(members)
        elif do == "split":
            working.assign(members, split=typed["split"].strip())
        elif do == "tag" and typed["tags"].strip():
            working.assign(members, tag=typed["tags"].strip())
        else:
            return messages.WARNING, "Say which tag the selected cases should get."
    except TooMany as error:
        return messages.ERROR, str(error)
    cases = f"{len(members):,} case{'s' * (len(members) > 1)}"
    done = {"remove": "will go", "split": "will get this split", "tag": "will get this tag"}[do]
    return messages.SUCCESS, f"{cases} {done}, once you commit."


def _posted(
    request: ProjectRequest, working: WorkingSet, key: str, base: int | None, before: Content | None, **more: Any
) -> HttpResponse:
    """Keep what was typed, whatever is wrong with it; faults are told, and nothing is committed with them."""
    dataset, typed = working.dataset, _typed(request.POST)
    result = read(typed, before)
    if request.POST.get("do") == "mode":
        return _form(request, dataset, _other_mode(typed, result), result.faults, **more)
    faults = _faults(dataset, typed, before)
    gone = [(key, base)] if base is not None and request.POST.get("do") == "remove" else []
    try:
        working.remove(gone) if gone else working.keep(key, base, typed)
    except TooMany as error:
        return _form(request, dataset, typed, {"": [str(error)]}, status=422, **more)
    if gone:
        messages.success(request, f"“{key}” will go, once you commit.")
        return redirect(dataset)
    if faults:
        return _form(request, dataset, typed, faults, status=422, **more, kept_key=key)
    messages.success(request, f"“{key}” is among your changes. Others see it once you commit.")
    return redirect("dataset-changes", request.project.slug, dataset.pk)


def _form(
    request: ProjectRequest,
    dataset: Dataset,
    typed: Typed,
    faults: dict[str, list[str]],
    *,
    span: CaseSpan | None = None,
    kept: CaseEdit | None = None,
    kept_key: str = "",
    status: int = 200,
) -> HttpResponse:
    shown = fields_of(typed, faults)
    context = {
        "dataset": dataset,
        "span": span,
        "kept": kept,
        "kept_key": kept_key or (kept.key if kept else ""),
        "typed": typed,
        "as_json": typed.get("mode") == "json",
        "parts": [(part, title, shown[part], faults.get(part, [])) for part, title in PARTS.items()],
        "faults": faults,
        "trouble": " ".join(faults.get("", [])),
    }
    return render(request, "experiments/dataset_case_edit.html", context, status=status)


def _faults(dataset: Dataset, typed: Typed, before: Content | None) -> dict[str, list[str]]:
    return placed_faults(dataset, read(typed, before), typed)


def _other_mode(typed: Typed, result: Read) -> Typed:
    """The same case in the other of the two forms; what cannot be read stays in the one it was typed in."""
    if result.content is None:
        return typed
    kept = {"key": typed["key"]} if "key" in typed else {}
    return typed_of(result.content, as_json=typed.get("mode") != "json") | kept


def _typed(posted: QueryDict) -> Typed:
    names = [name for name in posted if name not in ("csrfmiddlewaretoken", "do", "kept")]
    return {storable(name): storable(str(posted[name])).replace("\r\n", "\n") for name in names}


def _blank(dataset: Dataset) -> Typed:
    """The fields of a new case: those that the first case has, or JSON where there is none to go by."""
    first = CaseSpan.objects.filter(dataset=dataset).at(dataset.latest_version).select_related("case")
    span = first.order_by("position", "pk").first()
    return blank_of(content_of(span.case)) if span else {"mode": "json", "inputs": '{\n  "question": ""\n}'}


def _key(working: WorkingSet, typed: Typed, kept: CaseEdit | None) -> tuple[str, dict[str, list[str]]]:
    """The key of a new case: as typed, or made from its inputs. `kept` is what was kept of this case before."""
    try:
        key = fields.read("key", typed.get("key", ""))
    except BadValue as error:
        return "", {"key": [str(error)]}
    if key is ABSENT:
        result = read(typed)
        if result.content is None:
            return "", {"key": ["Give it a key, under which what you typed is kept."], **result.faults}
        key = own_key(result.content)
    if versions.members(working.dataset, [key]):
        return "", {"key": [f"Another case of this dataset has the key “{key}” already."]}
    if working.edits.filter(key=key).exclude(pk=kept and kept.pk).exists():
        return "", {"key": [f"Another change of “{key}” is among yours already."]}
    return key, {}
