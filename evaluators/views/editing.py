"""The editor: a new evaluator or the next version of one."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.template import TemplateDoesNotExist
from django.template.loader import get_template
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods
from django_htmx.http import HttpResponseClientRedirect

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import wants_fragment
from evaluators.core import FieldError
from evaluators.editing import NameTaken, Place, as_typed, faults_in, new_key
from evaluators.kinds import KINDS
from evaluators.kinds.scored import ScaleField
from evaluators.models import Evaluator, NewerVersion, Scale
from evaluators.scales import changed_since
from evaluators.starters import starter_of
from evaluators.typed_rows import blank_rows, pressed_row, repeated, typed_rows
from evaluators.views.option_rows import blank_row, pressed_row_button, rows_of

Faults = dict[str, list[FieldError]]


@require_http_methods(["GET", "POST"])
@project_page(Role.EDITOR)
def evaluator_begin(request: ProjectRequest, kind: str) -> HttpResponse:
    """Helps to decide whether the evaluator just described judges as it should, so that v1 can be saved."""
    if request.method == "GET" and not request.GET.get("draft"):
        query = request.GET.copy()
        query["draft"] = new_key()
        return HttpResponseRedirect(f"{request.path}?{query.urlencode()}")
    start = request.GET.get("start") or request.GET.get("runs_on", "")
    place = new_place(request, kind, request.GET.get("draft", ""), start)
    return _submitted(request, place) if request.method == "POST" else _opened(request, place)


@require_http_methods(["GET", "POST"])
@project_page(Role.EDITOR)
def evaluator_edit(request: ProjectRequest, pk: int) -> HttpResponse:
    """Helps to decide whether the edits judge better than the saved version, so that they become the next one."""
    place = place_of(request, pk)
    return _submitted(request, place) if request.method == "POST" else _opened(request, place)


def new_place(request: ProjectRequest, kind: str, key: str, start: str = "") -> Place:
    """Where a new evaluator is begun. 404 for a kind that there is not."""
    if kind not in KINDS or not re.fullmatch(r"[\w-]{1,24}", key):
        raise Http404
    return Place(request.project, request.user, KINDS[kind], key=key, starter=starter_of(kind, start))


def place_of(request: ProjectRequest, pk: int) -> Place:
    """Where an evaluator of the project is edited."""
    evaluator = get_object_or_404(Evaluator, pk=pk, project=request.project, kind__in=KINDS)
    evaluator.project = request.project
    latest = evaluator.versions.select_related("author").order_by("-number").first()
    return Place(request.project, request.user, KINDS[evaluator.kind], evaluator, latest)


def posted_place(request: ProjectRequest) -> Place:
    """The place that a form of the editor names in its hidden fields, for the doors beside its own page."""
    posted = request.POST
    if posted.get("evaluator"):
        return place_of(request, id_in(posted["evaluator"]) or 0)
    return new_place(request, posted.get("kind", ""), posted.get("draft", ""), posted.get("start", ""))


def address_of(place: Place) -> str:
    """The address of the editor at this place."""
    if place.evaluator:
        return reverse("evaluator-edit", args=[place.project.slug, place.evaluator.pk])
    query = urlencode({"start": place.starter.key, "draft": place.key} if place.starter else {"draft": place.key})
    return f"{reverse('evaluator-new', args=[place.project.slug, place.kind.key])}?{query}"


def editor_page(
    request: ProjectRequest, place: Place, typed: QueryDict, faults: Faults | None = None, **more: Any
) -> HttpResponse:
    """The whole editor over what was typed; 422 when there are faults."""
    draft = more.pop("draft", None)
    form = _offering(place.kind.form(project=request.project), typed)
    context = {
        "place": place,
        "evaluator": place.evaluator,
        "kind": place.kind,
        "latest": place.latest,
        "typed": typed,
        "form": form,
        "scales": scales_of(form, typed),
        "changed_scale": changed_since(place.latest),
        "rows": typed_rows(place.kind.form, typed, faults or {}),
        "blank_rows": blank_rows(place.kind.form),
        "kind_template": template_of(place.kind),
        "mapping_template": template_of(place.kind, "mapping"),
        "is_previewed": template_of(place.kind, "preview") is not None,  # nothing runs here, so nothing is tested
        "address": address_of(place),
        "options": rows_of(typed, faults or {}),
        "blank_row": blank_row(),
        "faults": faults or {},
        "differs": place.differences(dict(typed.lists())),
        "sentence": place.sentence(dict(typed.lists())),
        "draft": draft,
        "page": request.POST.get("page") or new_key(),
        "overtaken": place.latest if _is_overtaken(place, typed) else None,
        **more,
    }
    return render(request, "evaluators/editor.html", context, status=422 if faults else 200)


def template_of(kind: Any, part: str = "") -> str | None:
    """The template that the kind brings for a part of its editor; None where it has none."""
    name = f"evaluators/kinds/_{kind.key}{part and '_'}{part}.html"
    try:
        get_template(name)
    except TemplateDoesNotExist:
        return None
    return name


def scales_of(form: forms.Form, typed: QueryDict) -> list[Scale]:
    """The scales of the project that may be chosen, and the chosen one though it be archived."""
    field = form.fields.get("scale")
    if not isinstance(field, ScaleField):
        return []
    offered = field.offered()
    try:
        chosen = field.clean(typed.get("scale", ""))
    except forms.ValidationError:
        chosen = None
    return offered if chosen is None or chosen in offered else [*offered, chosen]


def _offering(form: forms.Form, typed: QueryDict) -> forms.Form:
    """The form with every typed choice among those it offers, so that showing it again loses none."""
    for name, field in form.fields.items():
        if not isinstance(field, forms.ChoiceField):
            continue
        choice, offered = typed.get(name, ""), list(field.choices)  # type: ignore[arg-type]
        if choice and choice not in dict(offered):
            field.choices = [*offered, (choice, choice.partition(":")[2] or choice)]
    return form


def _opened(request: ProjectRequest, place: Place) -> HttpResponse:
    draft = place.draft()
    fields = draft.fields if draft else place.saved_fields  # what a draft lacks was taken away: rows, a tick
    return editor_page(request, place, as_typed(fields), draft=draft)


def _is_overtaken(place: Place, typed: QueryDict) -> bool:
    """Whether somebody saved a version after the one that these edits began from."""
    return place.latest is not None and typed.get("base", "") not in ("", str(place.latest.number))


def _submitted(request: ProjectRequest, place: Place) -> HttpResponse:
    typed = request.POST
    rows_changed = pressed_row_button(typed) or pressed_row(place.kind.form, typed)
    if rows_changed is not None:
        place.keep(rows_changed)
        return editor_page(request, place, rows_changed)
    identity, form = place.forms(typed)
    faults = faults_in(identity, form)
    if not faults:
        try:
            return _saved(request, place, *place.save(identity, form))
        except NewerVersion as newer:
            place.keep(typed)
            return _refused(request, place, typed, overtaken=newer.latest)
        except NameTaken:
            faults = {"name": [FieldError("name", "This name was given away a moment ago. Add a word to it.")]}
    place.keep(typed)
    return _refused(request, place, typed, faults)


def _saved(request: ProjectRequest, place: Place, version: Any, changed: bool) -> HttpResponse:
    evaluator = version.evaluator
    if not changed:
        messages.info(request, f"Nothing differs from {version}, so there is no new version.")
    elif version == place.latest:
        messages.success(request, f"Renamed to {evaluator.name}; it still is {version}.")
    elif version.pk == evaluator.published_version_id:
        messages.success(request, f"Saved {version} of {evaluator.name}.")
    else:
        said = 'Saved {} of {}, not published. <a href="#gate">See what is missing</a>'
        messages.success(request, format_html(said, version, evaluator))
    address = reverse("evaluator-page", args=[request.project.slug, evaluator.pk])
    return HttpResponseClientRedirect(address) if wants_fragment(request) else redirect(address)


def _refused(
    request: ProjectRequest, place: Place, typed: QueryDict, faults: Faults | None = None, **more: Any
) -> HttpResponse:
    """Nothing was saved: say why beside the fields, and leave everything that was typed where it is."""
    if not wants_fragment(request):
        response = editor_page(request, place, typed, faults, **more)
        response.status_code = 422
        return response
    context = {"faults": faults or {}, "slots": slots_of(place, typed, faults or {}), "place": place, **more}
    return render(request, "evaluators/_refused.html", context, status=422)


def slots_of(place: Place, typed: QueryDict, faults: Faults) -> list[tuple[str, list[FieldError]]]:
    """Every place on the page where a fault can stand, with what stands there now: each is filled or emptied."""
    form = place.kind.form
    shown = [name for name in form.base_fields if name in typed or name in faults or name in repeated(form)]
    plain = ["name", "note", "sample", *shown]
    return [
        *((field, faults.get(field, [])) for field in plain),
        *((row.slot, row.faults) for row in rows_of(typed, faults)),
        *((row.slot, row.faults) for rows in typed_rows(place.kind.form, typed, faults).values() for row in rows),
    ]
