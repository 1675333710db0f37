"""Grading without a queue: beside a result, by any human evaluator that fits it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods

from annotations.answers import BadAnswer, field_of, read, shown_answer
from annotations.forms import versions_for
from annotations.grading import Subject, submit
from annotations.models import Grade, GradeState, Item
from annotations.queueing import config_of, seen_of
from annotations.screen import Question
from evalstudio.projects.access import ProjectRequest, project_page
from evalstudio.projects.models import Role
from evalstudio.web.foreign import id_in
from evalstudio.web.pages import page_or_fragment, wants_fragment
from evaluators.models import EvaluatorVersion
from experiments.ledger.start import CannotStart
from experiments.models import Output


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.EDITOR)
def grade_here(request: ProjectRequest, pk: int) -> HttpResponse:
    """Decides what I say of the result that I am reading. `baseline` names the output it is compared with.

    Whoever reads results has seen what judges said, so such a grade has no item: it counts, but it was not blind.
    """
    said = request.POST if request.method == "POST" else request.GET
    output, other = _read(request, pk, said.get("baseline", ""))
    versions = list(versions_for(request.project, compares=other is not None))
    if not versions and wants_fragment(request):
        return HttpResponse()  # a panel that nobody could use
    typed, faults, trouble, kept = {}, {}, "", None
    if request.method == "POST":
        version = next((each for each in versions if str(each.pk) == said.get("version", "")), None)
        version = version or get_object_or_404(EvaluatorVersion.objects.none())
        try:
            answers = read(said.dict(), [version], is_flipped=False, cannot=said.get("do") == "cannot")
            submit(_subject(output, other, version), request.user, answers)
            kept = version
        except BadAnswer as error:
            typed, faults = said.dict(), error.faults
        except CannotStart as error:
            typed, trouble = said.dict(), str(error)
    ctx = {
        "output": output,
        "other": other,
        "experiment": output.experiment,
        "baseline": other.experiment if other else None,
        "questions": _questions(output, other, versions, request.user, typed, faults),
        "faults": faults,
        "trouble": trouble,
        "kept": kept,
        "is_beside": wants_fragment(request),
    }
    return page_or_fragment(request, "annotations/grade_here.html", ctx, status=422 if faults or trouble else 200)


def _read(request: ProjectRequest, pk: int, wanted: str) -> tuple[Output, Output | None]:
    """An output of the project, and the other system's for the same case that an address names."""
    outputs = Output.objects.filter(experiment__project=request.project, experiment__is_arriving=False)
    outputs = outputs.select_related("case", "body", "experiment__project", "experiment__system")
    output = get_object_or_404(outputs, pk=pk)
    if not wanted:
        return output, None
    others = outputs.filter(case=output.case_id, attempt=output.attempt).exclude(experiment=output.experiment_id)
    return output, get_object_or_404(others, pk=id_in(wanted) or 0)


def _subject(output: Output, other: Output | None, version: EvaluatorVersion) -> Subject:
    """What is graded; where a queue asks for the same, its rule and its number of people hold here, too."""
    queued = Item.objects.filter(output=output, baseline_output=other, queue__versions=version, repeats=None)
    item = queued.select_related("queue", "output__experiment", "baseline_output__experiment").order_by("-pk").first()
    if item:
        return replace(Subject.of(item), item=None, instructions_version=0, versions=[version])
    return Subject(output, other, seen_of(output, other), versions=[version])


def _questions(
    output: Output,
    other: Output | None,
    versions: list[EvaluatorVersion],
    person: Any,
    typed: dict[str, str],
    faults: dict[str, str],
) -> list[tuple[Question, str]]:
    """Each evaluator as a question with what was typed, else with this person's grade; and the comment on it."""
    mine = Grade.objects.filter(
        output=output,
        baseline_output=other,
        person=person,
        version__in=versions,
        is_current=True,
        is_repeat=False,
        is_decision=False,
    ).exclude(state=GradeState.SKIPPED)
    given = {grade.version_id: grade for grade in mine.select_related("item__queue")}
    shown = []
    for version in versions:
        grade, field = given.get(version.pk), field_of(version)
        before = shown_answer(version, grade.label, grade.value, is_flipped=False) if grade else ""
        is_this = typed.get("version") == str(version.pk)
        question = Question(
            version,
            config_of(version),
            field,
            typed.get(field, "") if is_this else before,
            faults.get(field, ""),
            is_stale=bool(grade and grade.is_stale),
        )
        comment = typed.get("comment", "") if is_this else grade.comment if grade else ""
        shown.append((question, comment))
    return shown
