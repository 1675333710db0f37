"""The test bench: runs the unsaved edits on one sample, in the request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_POST

from evalstudio.calls import evidence
from evalstudio.calls.models import Connection
from evalstudio.calls.replies import NotNow, Reply
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.pages import wants_fragment
from evaluators.core import FieldError, Sample, Score, Status
from evaluators.editing import Place, faults_in
from evaluators.engine import evaluate_now
from evaluators.paths import existing_paths
from evaluators.samples import NotASample, read_sample
from evaluators.scoring import EnumScoring, Passing, Scoring
from evaluators.tools import Tools, javascript
from evaluators.views.editing import Faults, editor_page, posted_place, slots_of

LIMIT_S = 20


@dataclass(frozen=True, slots=True)
class ScoreMark:
    """One score on its scale, as positions on the track in per cent: "60.0%"."""

    at: str
    options: tuple[str, ...]
    threshold: str | None
    spoken: str

    @classmethod
    def of(cls, score: Score, scoring: Scoring, passing: Passing) -> ScoreMark | None:
        if score.status is not Status.SCORED or score.value is None:
            return None
        options = scoring.options if isinstance(scoring, EnumScoring) else ()
        steps = tuple(f"{value * 100:.1f}%" for value in sorted({option.value for option in options}))
        words = f"{score.value * 100:.0f} % on a scale of "
        words += ", ".join(f"{float(step[:-1]):g}" for step in steps) if steps else "0 to 100"
        if passing.threshold is not None:
            words += f"; passes at {passing.threshold * 100:g} or {passing.direction}"
        threshold = None if passing.threshold is None else f"{passing.threshold * 100:.1f}%"
        return cls(f"{score.value * 100:.1f}%", steps, threshold, words)


@dataclass(frozen=True, slots=True)
class Spent:
    """What the replies behind a score took; None where nothing is known."""

    calls: int
    cached: int
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    latency_ms: float | None

    @classmethod
    def on(cls, score: Score) -> Spent:
        replies = score.replies
        return cls(
            calls=sum(reply.attempts for reply in replies if not reply.from_cache),
            cached=sum(reply.from_cache for reply in replies),
            tokens_in=_total(reply.tokens_in for reply in replies),
            tokens_out=_total(reply.tokens_out for reply in replies),
            cost_usd=score.cost_usd,
            latency_ms=score.latency_ms,
        )


@dataclass(frozen=True, slots=True)
class Tested:
    """What the bench shows of one evaluation."""

    score: Score
    sample: Sample
    message: Any = None  # the rendered message of a judge, with its parts
    mark: ScoreMark | None = None
    spent: Spent | None = None
    passing: Passing = field(default_factory=Passing)
    is_rehearsal: bool = False

    @property
    def replies(self) -> tuple[Reply, ...]:
        return self.score.replies

    @property
    def parts(self) -> list[tuple[str, Any, str]]:
        """The pieces of the message: the name of where each comes from, the piece, and its text without blank edges."""
        pieces = [(part.title, part, part.text.strip("\r\n")) for part in self.message.parts]
        return [piece for piece in pieces if piece[2].strip() or piece[1].path]


@require_POST
@project_page(Role.EDITOR)
def evaluator_bench(request: ProjectRequest) -> HttpResponse:
    """Helps to decide whether the evaluator, as it is typed now, judges this sample rightly."""
    place = posted_place(request)
    _, form = place.forms(request.POST)
    faults = faults_in(None, form)
    sample = _posted_sample(request.POST, faults)
    if faults or sample is None:
        return _answer(request, place, faults, status=422)
    try:
        tested = _test(place, form.to_config(), sample)
    except NotNow as reason:
        return _answer(request, place, {}, not_now=str(reason), status=422)
    return _answer(request, place, {}, tested=tested)


@require_POST
@project_page(Role.VIEWER)
def evaluator_paths(request: ProjectRequest) -> HttpResponse:
    """The paths that really exist in a posted sample, each with a preview, for the completion in the editors."""
    sample = _posted_sample(request.POST, {})
    paths = existing_paths(sample.roots()) if sample else []
    return JsonResponse([{"path": path, "preview": preview} for path, preview in paths], safe=False)


def _posted_sample(posted: QueryDict, faults: Faults) -> Sample | None:
    """The chosen or pasted sample; what is wrong with it joins the faults."""
    chosen = posted.get("sample_from") == "case"
    try:
        if chosen:
            return read_sample(posted.get("sample", ""), posted.get("sample_outputs", ""))
        return read_sample(posted.get("pasted_sample", ""))
    except NotASample as error:
        faults["sample"] = [FieldError("pasted_sample", str(error), error.line)]
        return None


def _test(place: Place, stored: dict[str, Any], sample: Sample) -> Tested:
    kind = place.kind
    config = kind.load(stored, kind.schema)
    score = evaluate_now(kind, config, sample, _tools_for(kind, config), limit_s=LIMIT_S)
    # What could be read is kept: the same test again, or a run of this version over this case, is then free.
    evidence.store(reply for reply in score.replies if reply.reusable)
    connection_id = kind.needs(config).connection_id
    connection = Connection.objects.filter(pk=connection_id).first() if connection_id else None
    return Tested(
        score,
        sample,
        message=kind.message(config, sample),
        mark=ScoreMark.of(score, config.scoring, config.passing),
        spent=Spent.on(score),
        passing=config.passing,
        is_rehearsal=bool(connection and connection.is_rehearsal),
    )


def _tools_for(kind: Any, config: Any) -> Any:
    """What evaluate_now wants: the sandbox for kinds that compute, for kinds that call a way to open a chat client."""
    if kind.needs(config).lane == "cpu":
        return Tools(javascript=javascript())
    return _open_tools


@asynccontextmanager
async def _open_tools() -> AsyncIterator[Tools]:
    """A client that tries once: somebody is waiting, and wants to read what is wrong rather than wait for retries."""
    from evalstudio.calls.chat import ONCE, open_chat

    async with open_chat(patience=ONCE) as chat:
        yield Tools(chat=chat)


def _answer(request: ProjectRequest, place: Place, faults: Faults, *, status: int = 200, **more: Any) -> HttpResponse:
    if not wants_fragment(request):
        response = editor_page(request, place, request.POST, faults, **more)
        response.status_code = status
        return response
    context = {"place": place, "faults": faults, "slots": slots_of(place, request.POST, faults), **more}
    return render(request, "evaluators/_bench_result.html", context, status=status)


def _total(numbers: Any) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
