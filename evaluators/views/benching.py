"""The test bench: runs the unsaved edits on one sample, in the request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_POST

from evalstudio.calls import evidence
from evalstudio.calls.models import Connection
from evalstudio.calls.replies import NotNow
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import wants_fragment
from evaluators.core import FieldError, Sample, Score
from evaluators.editing import Place, faults_in
from evaluators.engine import Work, evaluate_now
from evaluators.paths import existing_paths
from evaluators.processing import processed, processor_of, reads_processed
from evaluators.samples import NotASample, read_sample
from evaluators.tools import Tools, javascript
from evaluators.views.editing import Faults, editor_page, posted_place, slots_of, template_of
from evaluators.views.tested import Tested

LIMIT_S = 20
ONE_OUTPUT = (
    "A comparison needs a second output. Choose a compared result, or paste one as "
    '"comparison": {"outputs": {"value": "…"}} beside the other parts.'
)


@require_POST
@project_page(Role.EDITOR)
def evaluator_bench(request: ProjectRequest) -> HttpResponse:
    """Helps to decide whether the evaluator, as it is typed now, judges this sample rightly."""
    place = posted_place(request)
    _, form = place.forms(request.POST)
    faults = faults_in(None, form)
    sample = posted_sample(request.POST, faults)
    if faults or sample is None:
        return _answer(request, place, faults, status=422)
    config = place.kind.load(form.to_config(), place.kind.schema)
    compares = place.kind.needs(config).compares
    if compares and sample.comparison is None:
        return _answer(request, place, {"sample": [FieldError("pasted_sample", ONE_OUTPUT)]}, status=422)
    try:
        tested = _test(place, config, sample if compares else replace(sample, comparison=None))
    except NotNow as reason:
        return _answer(request, place, {}, not_now=str(reason), status=422)
    return _answer(request, place, {}, tested=tested)


@require_POST
@project_page(Role.VIEWER)
def evaluator_paths(request: ProjectRequest) -> HttpResponse:
    """The paths that really exist in a posted sample, each with a preview, for the completion in the editors."""
    sample = posted_sample(request.POST, {})
    paths = existing_paths(processed(sample, request.project).roots()) if sample else []
    return JsonResponse([{"path": path, "preview": preview} for path, preview in paths], safe=False)


def posted_sample(posted: QueryDict, faults: Faults) -> Sample | None:
    """The chosen or pasted sample; what is wrong with it joins the faults."""
    chosen = posted.get("sample_from") == "case"
    try:
        if chosen:
            pasted = posted.get("sample_outputs", ""), posted.get("sample_comparison", "")
            return read_sample(posted.get("sample", ""), *pasted)
        return read_sample(posted.get("pasted_sample", ""))
    except NotASample as error:
        faults["sample"] = [FieldError("pasted_sample", str(error), error.line)]
        return None


def _test(place: Place, config: Any, sample: Sample) -> Tested:
    kind = place.kind
    seen = _seen(place, config, sample)
    if isinstance(seen, Score):
        return Tested(kind, config, seen, sample, slug=place.project.slug)
    sample = seen
    score = evaluate_now(kind, config, sample, _tools_for(kind, config), limit_s=LIMIT_S)
    # What could be read is kept: the same test again, or a run of this version over this case, is then free.
    evidence.store(reply for reply in score.replies if reply.reusable)
    connection_id = kind.needs(config).connection_id
    connection = Connection.objects.filter(pk=connection_id).first() if connection_id else None
    return Tested(
        kind,
        config,
        score,
        sample,
        slug=place.project.slug,
        message=kind.message(config, sample),
        is_rehearsal=bool(connection and connection.is_rehearsal),
    )


def _seen(place: Place, config: Any, sample: Sample) -> Sample | Score:
    """The sample as this configuration sees it: with what the processor makes, where it reads that."""
    work = Work(place.kind, config, place.kind.needs(config))
    processor = processor_of(place.project.pk) if reads_processed(work) else None
    return processor.applied([sample])[0] if processor else sample


def _tools_for(kind: Any, config: Any) -> Any:
    """What evaluate_now wants: a way to open a chat client for kinds that call, the sandbox for all others."""
    return _open_tools if kind.needs(config).lane == "net" else Tools(javascript=javascript())


@asynccontextmanager
async def _open_tools() -> AsyncIterator[Tools]:
    """A client that tries once: somebody is waiting, and wants to read what is wrong rather than wait for retries."""
    from evalstudio.calls.chat import ONCE, open_chat

    async with open_chat(patience=ONCE) as chat:
        yield Tools(chat=chat)


def _answer(request: ProjectRequest, place: Place, faults: Faults, *, status: int = 200, **more: Any) -> HttpResponse:
    more["preview_template"] = template_of(place.kind, "preview")
    if not wants_fragment(request):
        response = editor_page(request, place, request.POST, faults, **more)
        response.status_code = status
        return response
    context = {"place": place, "faults": faults, "slots": slots_of(place, request.POST, faults), **more}
    return render(request, "evaluators/_bench_result.html", context, status=status)
