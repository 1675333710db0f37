"""Golden cases in the test bench: what the unsaved edits say about them, and keeping the sample at hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from evalstudio.calls.replies import NotNow
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evaluators.core import Score, Status
from evaluators.editing import faults_in
from evaluators.engine import Work
from evaluators.forms.golden import MustForm, fitting
from evaluators.golden import NotKept, agrees, demands, in_words, keep, sample_in, stored_sample
from evaluators.golden_judging import Judged, PeopleGrade, judge_with, keep_replies
from evaluators.models import GoldenCase
from evaluators.processing import behind, processor_of
from evaluators.publishing import figures
from evaluators.views.benching import posted_sample
from evaluators.views.editing import posted_place
from evaluators.views.golden import note_kept
from evaluators.views.standing import verdict_words


@dataclass(frozen=True, slots=True)
class Verdict:
    """A score as golden verdicts are stored."""

    state: Status
    label: str | None
    passed: bool | None
    value: float | None

    @classmethod
    def of(cls, score: Score) -> Verdict:
        return cls(score.status, score.label, score.passed, score.value)


@require_POST
@project_page(Role.EDITOR)
def golden_try(request: ProjectRequest) -> HttpResponse:
    """Decides whether the unsaved edits still say what they must, before they become a version."""
    place = posted_place(request)
    if place.evaluator is None:
        raise Http404
    _, form = place.forms(request.POST)
    if faults_in(None, form):
        said = {"refused": "Something in the form is wrong, so nothing was judged. Run a test to see what."}
        return render(request, "evaluators/_golden_tried.html", said, status=422)
    work = behind(_work(place.kind, form), processor_of(place.project.pk))
    cases = list(place.evaluator.golden_cases.order_by("pk"))
    context = {"evaluator": place.evaluator, "n": len(cases), **_tried(work, cases)}
    return render(request, "evaluators/_golden_tried.html", context)


@require_POST
@project_page(Role.EDITOR)
def golden_keep_sample(request: ProjectRequest) -> HttpResponse:
    """Keeps the sample of the bench, once it is said what must come of it."""
    place = posted_place(request)
    if place.evaluator is None:
        raise Http404
    _, form = place.forms(request.POST)
    faults = faults_in(None, form)
    if faults:
        refused = "Something in the form is wrong. Run a test to see what; then keep the sample."
        return render(request, "evaluators/_golden_keep.html", {"refused": refused}, status=422)
    work = _work(place.kind, form)
    said = next((one.must for one in demands(work) if one.key == request.POST.get("said")), None)
    must = MustForm(request.POST if "must" in request.POST else None, work=work, must=said)
    context: dict[str, Any] = {"form": must, "evaluator": place.evaluator}
    try:
        if not work.needs.is_judged_here:
            raise NotKept("Nothing here judges for this evaluator, so it has no golden cases.")
        sample = posted_sample(request.POST, faults)
        if sample is None:
            raise NotKept(faults["sample"][0].message)
        stored = stored_sample(fitting(sample, work))
        if must.is_bound and must.is_valid():
            case, made = keep(place.evaluator, stored, must.wanted(), title="", author=request.user)
            note_kept(request, case, made)
            return render(request, "evaluators/_golden_keep.html", {"kept": case, "evaluator": place.evaluator})
    except NotKept as error:
        context = {"refused": str(error)}
    is_wrong = must.is_bound or "refused" in context
    return render(request, "evaluators/_golden_keep.html", context, status=422 if is_wrong else 200)


def _work(kind: Any, form: Any) -> Work:
    config = kind.load(form.to_config(), kind.schema)
    return Work(kind, config, kind.needs(config))


def _tried(work: Work, cases: list[GoldenCase]) -> dict[str, Any]:
    """What a configuration that is not saved says about the cases, as far as the time allowed."""
    scores: list[Judged] = []
    stopped = ""
    try:
        for some in judge_with(work, [(case.pk, sample_in(case.sample)) for case in cases]):
            keep_replies(some)
            scores += some
    except (NotNow, PeopleGrade) as error:
        stopped = str(error)
    verdicts = {pk: Verdict.of(score) for pk, score in scores}
    reasons = {pk: score.reason for pk, score in scores}
    rows = [
        (
            case,
            in_words(case.must, compares=work.needs.compares),
            verdict_words(verdicts[case.pk], compares=work.needs.compares),
            agrees(case.must, verdicts[case.pk]),
            reasons[case.pk],
        )
        for case in cases
        if case.pk in verdicts
    ]
    told = {pk: (one.state, one.label, one.passed, one.value) for pk, one in verdicts.items()}
    found = figures(work, [(case.pk, case.must) for case in cases], told)
    return {
        "rows": sorted(rows, key=lambda row: row[3]),
        "figures": found,
        "left": len(cases) - len(rows),
        "stopped": stopped,
    }
