"""Pages of prompts that are run here: write one, see what is sent, try it on a case, start."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evalstudio.calls.models import Connection
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import wants_fragment
from experiments.datasets.browsing import facets_of
from experiments.forms.prompts import PromptForm
from experiments.ledger.start import CannotStart
from experiments.models import Dataset, Experiment, PromptVersion, Purpose, Run
from experiments.outputs.running import run_prompt
from experiments.outputs.trying import Preview, cases_asked, preview_of, try_out


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def prompt_new(request: ProjectRequest) -> HttpResponse:
    """Decides whether this prompt is ready to be run, by which models and over which cases.

    `like` names an experiment to begin from, `dataset` a data set.
    """
    if request.method != "POST":
        return _page(request, _blank(request))
    form = _form(request, request.POST)
    if form.is_valid():
        try:
            return _started(request, form)
        except CannotStart as error:
            form.add_error(None, str(error))
    return _page(request, form, _preview(request, form), status=422)


@require_POST
@project_page(Role.EDITOR)
def prompt_preview(request: ProjectRequest) -> HttpResponse:
    """What is sent about one case and, on `do=try`, what one of the systems answers: the one that is picked."""
    form = _form(request, request.POST)
    is_valid = form.is_valid()
    preview = _preview(request, form)
    recipes = form.recipes() if is_valid else []
    if preview and not preview.wrong and recipes and request.POST.get("do") == "try":
        try_out(preview, form.tried())
    if not wants_fragment(request):
        return _page(request, form, preview)
    return render(
        request, "experiments/_prompt_preview.html", {"form": form, **_shown(form, preview), "is_alone": True}
    )


def _form(request: ProjectRequest, data: Any = None, **more: Any) -> PromptForm:
    return PromptForm(data, project=request.project, **more)


def _blank(request: ProjectRequest) -> PromptForm:
    like = id_in(request.GET.get("like", ""))
    if like is not None:
        experiments = Experiment.objects.select_related("dataset_version__dataset")
        experiment = get_object_or_404(experiments, project=request.project, pk=like, system__prompt__isnull=False)
        run = get_object_or_404(Run, experiment=experiment, purpose=Purpose.ANSWERS)
        prompt = PromptVersion.objects.get(pk=experiment.system_id)
        return PromptForm.like(prompt, run, project=request.project)
    dataset = Dataset.objects.filter(project=request.project, pk=id_in(request.GET.get("dataset", "")) or 0).first()
    latest = dataset and dataset.versions.filter(number=dataset.latest_version).first()
    initial: dict[str, Any] = {"version": str(latest.pk)} if latest else {}
    form = _form(request, initial=initial)
    models = [value for value, _ in form.fields["models"].choices]  # type: ignore[attr-defined]
    form.initial["models"] = models[:1] if len(models) == 1 else []
    form.initial["user_message"] = _example(form)
    return form


def _example(form: PromptForm) -> str:
    """The first text of the inputs, as a message to begin with."""
    preview = preview_of(form.chosen, 1, form.texts) if form.chosen else None
    inputs = preview.sample.inputs if preview else None
    name = next((name for name, value in (inputs or {}).items() if isinstance(value, str) and name.isidentifier()), "")
    return f"{{{{ inputs.{name} }}}}" if name else ""


def _preview(request: ProjectRequest, form: PromptForm) -> Preview | None:
    form.check_texts()
    place = (id_in(request.POST.get("place", "")) or 1) + {"previous": -1, "next": 1}.get(
        request.POST.get("step", ""), 0
    )
    return preview_of(form.chosen, place, form.texts) if form.chosen else None


def _started(request: ProjectRequest, form: PromptForm) -> HttpResponse:
    said = form.cleaned_data
    assert form.chosen is not None
    experiments = run_prompt(
        request.project,
        request.user,
        title=said["title"].strip(),
        recipes=form.recipes(),
        version=form.chosen,
        asked=form.asked(),
        judges=form.judging().judges(request.project),
    )
    if len(experiments) == 1:
        messages.success(request, f"{experiments[0]} is being asked.")
        return redirect(experiments[0])
    messages.success(request, f"{len(experiments)} systems are being asked, each in an experiment of its own.")
    return redirect("experiment-list", request.project.slug)


def _shown(form: PromptForm, preview: Preview | None) -> dict[str, Any]:
    """The preview with what starting would take, as far as the form can tell."""
    ctx: dict[str, Any] = {"preview": preview, "faults": form.faults}
    if not (form.is_bound and form.is_valid() and form.chosen):
        return ctx
    splits = facets_of(form.chosen).splits if form.cleaned_data["split"] else {}
    cases, systems = cases_asked(form.chosen, form.asked(), splits), form.recipes()
    calls = cases * form.asked().repeats * len(systems)
    cost = preview.score.cost_usd if preview and preview.score else None
    asked = Connection.objects.filter(pk=form.tried().model.connection_id).first()
    is_rehearsal = bool(asked and asked.is_rehearsal)
    return ctx | {
        "cases": cases,
        "systems": len(systems),
        "calls": calls,
        "attempts": form.asked().repeats,
        "cost_usd": cost * calls if cost is not None and len(systems) == 1 and not is_rehearsal else None,
        "is_rehearsal": is_rehearsal,
    }


def _page(
    request: ProjectRequest, form: PromptForm, preview: Preview | None = None, *, status: int = 200
) -> HttpResponse:
    preview = preview or (preview_of(form.chosen, 1, form.texts) if form.chosen else None)
    return render(request, "experiments/prompt_new.html", {"form": form, **_shown(form, preview)}, status=status)
