"""The case picker of the test bench: any case of any data set, with the outputs of an experiment or pasted ones.

For an evaluator that compares (`runs_on` of the editor) it picks two outputs, a baseline's and one compared with it.

The bench belongs to evaluators, which know no cases: this panel hands them the chosen sample as JSON in a form field.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evaluators.core import Comparand, Sample
from evaluators.paths import existing_paths, preview
from evaluators.processing import processed
from experiments.models import Case, CaseSpan, Dataset, Experiment, Output
from experiments.views.case_source import CaseSource

RUNS_ON = "#editor [name=runs_on]:checked, #editor [name=runs_on][type=hidden]"  # what the editor's choice is read by
BESIDE = 20  # cases listed before and after the chosen one


@dataclass(frozen=True, slots=True)
class Picked:
    """What is chosen in the picker; None where there is nothing to choose from."""

    dataset: Dataset | None
    experiment: Experiment | None = None
    span: CaseSpan | None = None
    listed: tuple[CaseSpan, ...] = ()  # the cases that the list offers, the chosen one among them
    has_previous: bool = False
    has_next: bool = False


@require_safe
@project_page(Role.VIEWER)
def bench_picker(request: ProjectRequest) -> HttpResponse:
    """Helps to decide on which case to try an evaluator."""
    source = CaseSource.chosen(request.project, request.GET)
    experiment, compared = source.experiment, source.compared
    picked = _pick(request, source.dataset, experiment) if source.dataset else Picked(None)
    sample, output = sample_of(picked.span.case, experiment) if picked.span else (None, None)
    other, other_output = sample_of(picked.span.case, compared) if picked.span and compared else (None, None)
    if sample and other:
        sample = replace(sample, comparison=Comparand(other.outputs, other.steps))
    context = {
        "compares": source.compares,
        "compared": compared,
        "runs_on": RUNS_ON,
        "sides": [("sample_outputs", experiment, output, sample), ("sample_comparison", compared, other_output, other)],
        "picked": picked,
        "datasets": source.datasets,
        "experiments": source.experiments,
        "words": request.GET.get("case_q", "").strip(),
        "cases": [(span.case_id, span.key, preview(_unwrapped(span.case.inputs))) for span in picked.listed],
        "output": output,
        "sample": as_json(sample) if sample else "",
        "paths": _paths(processed(sample, request.project)) if sample else [],
    }
    return render(request, "experiments/_bench_picker.html", context)


@require_safe
@project_page(Role.VIEWER)
def bench_sample(request: ProjectRequest) -> HttpResponse:
    """One case (`case`), with its output in an `experiment` where one is named, as a sample in JSON."""
    case = get_object_or_404(Case, pk=id_in(request.GET.get("case", "")), dataset__project=request.project)
    experiment = None
    if experiment_id := id_in(request.GET.get("experiment", "")):
        experiment = get_object_or_404(Experiment, pk=experiment_id, project=request.project)
    sample, _ = sample_of(case, experiment)
    return JsonResponse(_parts(sample))


def sample_of(case: Case, experiment: Experiment | None) -> tuple[Sample, Output | None]:
    """The case as an evaluator sees it, with its first output in the experiment if it has one there."""
    outputs = Output.objects.filter(experiment=experiment, case=case).select_related("body").order_by("attempt")
    output = outputs.first() if experiment else None
    body = getattr(output, "body", None)
    sample = Sample(
        inputs=case.inputs,
        expected_outputs=case.expected_outputs,
        outputs=body.outputs if body else None,
        steps=body.steps if body else None,
        metadata=case.metadata,
    )
    return sample, output


def as_json(sample: Sample) -> str:
    """The sample as the text of a form field: what it lacks is left out."""
    return json.dumps(_parts(sample), ensure_ascii=False, indent=2)


def _parts(sample: Sample) -> dict[str, Any]:
    return {name: value for name, value in sample.roots().items() if value is not None}


def _paths(sample: Sample) -> list[dict[str, str]]:
    return [{"path": path, "preview": shown} for path, shown in existing_paths(sample.roots())]


def _unwrapped(inputs: Any) -> Any:
    return next(iter(inputs.values())) if isinstance(inputs, dict) and inputs else inputs


def _pick(request: ProjectRequest, dataset: Dataset, experiment: Experiment | None) -> Picked:
    number = experiment.dataset_version.number if experiment else dataset.latest_version
    spans = CaseSpan.objects.filter(dataset=dataset).at(number)
    for word in request.GET.get("case_q", "").split():
        spans = spans.filter(key__icontains=word)
    wanted = id_in(request.GET.get("case", ""))
    chosen = spans.filter(case_id=wanted).first() if wanted is not None else None
    chosen = chosen or spans.order_by("position", "pk").first()
    if chosen is None:
        return Picked(dataset, experiment)
    step = request.GET.get("step", "")
    beside = _before(spans, chosen)[:1] if step == "previous" else _after(spans, chosen)[:1] if step == "next" else []
    chosen = next(iter(beside), chosen)
    before, after = list(_before(spans, chosen)[:BESIDE]), list(_after(spans, chosen)[:BESIDE])
    listed = CaseSpan.objects.select_related("case").in_bulk([span.pk for span in (*before[::-1], chosen, *after)])
    ordered = tuple(listed[span.pk] for span in (*before[::-1], chosen, *after))
    return Picked(dataset, experiment, listed[chosen.pk], ordered, bool(before), bool(after))


def _before(spans: QuerySet, span: CaseSpan) -> QuerySet:
    earlier = Q(position__lt=span.position) | Q(position=span.position, pk__lt=span.pk)
    return spans.filter(earlier).order_by("-position", "-pk")


def _after(spans: QuerySet, span: CaseSpan) -> QuerySet:
    later = Q(position__gt=span.position) | Q(position=span.position, pk__gt=span.pk)
    return spans.filter(later).order_by("position", "pk")
