"""Pages of datasets: which there are, and what is in one of their versions."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.numbers import clip
from evalstudio.web.pages import page_or_fragment
from evalstudio.web.pagination import Order, page_of
from experiments.analysis.reading import parts, pretty
from experiments.datasets.browsing import NO_SPLIT, Filter, facets_of
from experiments.datasets.contents import TAGS
from experiments.datasets.schemas import content_of
from experiments.models import (
    Case,
    CaseEdit,
    CaseSpan,
    Dataset,
    DatasetVersion,
    Experiment,
    Import,
    ImportState,
    Output,
)

UNFINISHED = (ImportState.MAPPING, ImportState.WAITING, ImportState.RUNNING)
SHOWN_UNFINISHED = 20
SHOWN_VERSIONS = 200
SHOWN_OUTPUTS = 20
BRIEF_NAMES = 4
BRIEF_CHARACTERS = 160


@require_safe
@project_page(Role.VIEWER)
def dataset_list(request: ProjectRequest) -> HttpResponse:
    """Decides which dataset to open, or that a first one has to be imported."""
    datasets = Dataset.objects.filter(project=request.project).with_figures().select_related("project")
    context = {
        "page": page_of(datasets, Order("name"), request.GET),
        "unfinished": _unfinished(request),
        "may_import": request.role >= Role.EDITOR,
    }
    return page_or_fragment(request, "experiments/dataset_list.html", context)


@require_safe
@project_page(Role.VIEWER)
def dataset_page(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides whether these are the cases to evaluate with, and which of them to look at."""
    context = version_context(request, pk)
    sought, spans = Filter.of(request.GET), context["spans"]
    found = sought.among(spans)
    page = page_of(found.select_related("case"), Order("position"), request.GET)
    may_edit = request.role >= Role.EDITOR and context["is_latest"]
    edits = _uncommitted(request, context["dataset"]) if may_edit else {}
    context |= {
        "page": page,
        "rows": [CaseRow.of(span, edits.get(span.key)) for span in page.rows],
        "facets": facets_of(context["version"]) if context["version"] else None,
        "sought": sought,
        "n_found": found.count() if sought else None,
        "no_split": NO_SPLIT,
        "all_url": _all_url(request, context),
        "n_experiments": Experiment.objects.filter(dataset_version__dataset=context["dataset"]).count(),
        "may_import": request.role >= Role.EDITOR,
        "may_edit": may_edit,
        "n_edits": len(edits),
        **_peeked(context, request.GET.get("peek", "")),
    }
    return page_or_fragment(request, "experiments/dataset_page.html", context)


@require_safe
@project_page(Role.VIEWER)
def dataset_case(request: ProjectRequest, pk: int, case: int) -> HttpResponse:
    """One case in full, with the experiments that have an output for it: the peek beside the list."""
    context = version_context(request, pk)
    peeked = _peeked(context, str(case))
    if not peeked:
        raise Http404
    may_edit = request.role >= Role.EDITOR and context["is_latest"]
    return render(request, "experiments/_dataset_case.html", context | peeked | {"may_edit": may_edit})


@dataclass(frozen=True, slots=True)
class CaseRow:
    """A case as one line of the list, its content clipped."""

    key: str
    case: Case
    inputs: str
    expected: str
    tags: list[str]
    metadata: str
    uncommitted: str  # what the reader's own uncommitted edit does to it

    @classmethod
    def of(cls, span: CaseSpan, uncommitted: str | None) -> CaseRow:
        case, content = span.case, content_of(span.case)
        metadata = _without_tags(case.metadata)
        inputs, expected = brief(case.inputs), brief(case.expected_outputs)
        return cls(span.key, case, inputs, expected, content.tags, brief(metadata), uncommitted or "")


def brief(content: dict[str, Any] | None) -> str:
    """The start of some content on one line: of a single name its value alone, of several each with its name."""
    if not content:
        return ""
    texts = {
        name: clip(value if isinstance(value, str) else pretty(value), BRIEF_CHARACTERS)
        for name, value in islice(content.items(), BRIEF_NAMES)
    }
    return (
        next(iter(texts.values())) if len(texts) == 1 else ", ".join(f"{name}: {text}" for name, text in texts.items())
    )


def _unfinished(request: ProjectRequest) -> list[Import]:
    """Imports that wait for a person or a worker, for those who may go on with them."""
    if request.role < Role.EDITOR:
        return []
    waiting = Import.objects.filter(project=request.project, state__in=UNFINISHED).select_related("project")
    return list(waiting.order_by("-pk")[:SHOWN_UNFINISHED])


def _without_tags(metadata: dict[str, Any] | None) -> dict[str, Any]:
    """The metadata that are not shown as tags already."""
    return {name: value for name, value in (metadata or {}).items() if name != TAGS or not isinstance(value, list)}


def _uncommitted(request: ProjectRequest, dataset: Dataset) -> dict[str, str]:
    """What the reader's own uncommitted edits do, by key."""
    edits = CaseEdit.objects.filter(dataset=dataset, author=request.user)
    return {key: "removed" if gone else "edited" for key, gone in edits.values_list("key", "is_removal")}


def _all_url(request: ProjectRequest, context: dict[str, Any]) -> str:
    return request.path if context["is_latest"] else f"{request.path}?version={context['version'].number}"


def version_context(request: ProjectRequest, pk: int) -> dict[str, Any]:
    """A dataset, its versions, the one that the address names or else the latest, and the cases of it."""
    dataset = get_object_or_404(Dataset.objects.select_related("project"), project=request.project, pk=pk)
    published = dataset.versions.filter(number__lte=dataset.latest_version).select_related("author").order_by("-number")
    versions = list(published[:SHOWN_VERSIONS])
    version = _chosen(published, request.GET["version"]) if "version" in request.GET else next(iter(versions), None)
    number = version.number if version else 0
    return {
        "dataset": dataset,
        "versions": versions,
        "version": version,
        "is_latest": number == dataset.latest_version,
        "spans": CaseSpan.objects.filter(dataset=dataset).at(number),
    }


def _chosen(versions: QuerySet[DatasetVersion], number: str) -> DatasetVersion:
    """The version that the address names."""
    if not number.isdecimal() or len(number) > 9:
        raise Http404
    return get_object_or_404(versions, number=int(number))


def _peeked(context: dict[str, Any], case_id: str) -> dict[str, Any]:
    """The case of the address as the peek shows it; nothing where this version does not have it."""
    if not case_id.isdecimal() or len(case_id) > 18:
        return {}
    spans = context["spans"]
    before = spans.filter(position__lt=OuterRef("position")).order_by("-position").values("case")
    after = spans.filter(position__gt=OuterRef("position")).order_by("position").values("case")
    found = spans.filter(case=int(case_id)).annotate(previous=Subquery(before[:1]), next=Subquery(after[:1]))
    span = found.select_related("case").first()
    if span is None:
        return {}
    return {
        "span": span,
        "case": span.case,
        "place": span,
        "inputs": parts(span.case.inputs),
        "expected": parts(span.case.expected_outputs),
        "metadata": parts(_without_tags(span.case.metadata)),
        "tags": content_of(span.case).tags,
        "outputs": _outputs(span.case),
    }


def _outputs(case: Case) -> list[tuple[Output, str]]:
    """The latest outputs for a case, each with the start of what it says."""
    arrived = Output.objects.filter(case=case, experiment__is_arriving=False).order_by("-experiment", "attempt")
    shown = arrived.select_related("experiment__system", "body")[:SHOWN_OUTPUTS]
    return [(output, brief(output.body.outputs)) for output in shown]
