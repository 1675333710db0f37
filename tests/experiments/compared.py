"""Compared experiments for the tests of pages: runs against a baseline, as a worker would have left them."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils import timezone

from evalstudio.projects.models import Project
from evaluators.core import COMPARISON, Status
from evaluators.models import Evaluator, EvaluatorVersion
from experiments.models import Evaluation, EvaluationBody, Experiment, Output, Purpose, Run, RunState
from tests.experiments.judged import Told

SHORTER = """function evaluate({ outputs, comparison }) {
  const [mine, theirs] = [outputs, comparison.outputs].map(({ value }) => value.length);
  return mine === theirs ? 0.5 : theirs < mine ? 1 : 0;
}"""
HEURISTIC = {"threshold": None, "direction": "higher", "seed": 0, "scale": None, "runs_on": COMPARISON}
BEST = {
    "type": "enum",
    "options": [
        {"label": "Baseline", "percentage": 0, "description": ""},
        {"label": "Compared", "percentage": 100, "description": ""},
    ],
}


def comparative(project: Project, name: str = "Shorter output", code: str = SHORTER) -> EvaluatorVersion:
    """A heuristic that compares two outputs."""
    evaluator = Evaluator.objects.get_or_create(project=project, name=name, kind="heuristic")[0]
    return evaluator.revise({"code": code, "scoring": {"type": "percentage"}, **HEURISTIC}, schema=2, author=None)


def preference(project: Project, connection, *, both_orders: bool = True) -> EvaluatorVersion:
    """A judge that says which of two outputs is better."""
    evaluator = Evaluator.objects.get_or_create(project=project, name="Preference", kind="judge")[0]
    config = {
        "prompt": "One: {{ outputs.value }} Other: {{ comparison.outputs.value }}",
        "guide": "",
        "connection_id": connection.pk,
        "model": connection.model,
        "temperature": 0.0,
        "max_tokens": 64,
        "seed": None,
        "both_orders": both_orders,
        "weighted": False,
        "variables": [],
        "images": [],
        "scoring": BEST,
        "scale": None,
        "threshold": None,
        "direction": "higher",
        "runs_on": COMPARISON,
    }
    return evaluator.revise(config, schema=2, author=None)


def compared(
    experiment: Experiment,
    baseline: Experiment,
    version: EvaluatorVersion,
    told: Sequence[Told],
    *,
    flipped: Sequence[int] = (),
    state: RunState = RunState.FINISHED,
    **more,
) -> Run:
    """A run with a row for each pair in turn; `flipped` are the places of those whose other order disagreed."""
    run = Run.objects.create(
        version=version, experiment=experiment, baseline=baseline, lane="cpu", state=state, revision=1, **more
    )
    theirs = {(one.case_id, one.attempt): one for one in Output.objects.filter(experiment=baseline)}
    mine = Output.objects.filter(experiment=experiment).order_by("pk")
    pairs = [(one, theirs[one.case_id, one.attempt]) for one in mine if (one.case_id, one.attempt) in theirs]
    for at, ((output, partner), one) in enumerate(zip(pairs, told, strict=False)):
        row = _row(run, output, partner, one)
        if version.config.get("both_orders") and row.state == Status.SCORED:
            measures = {"flipped": 1.0 if at in flipped else 0.0, "as_given": 1.0 if row.score > 0.5 else 0.0}
            EvaluationBody.objects.create(evaluation=row, reason=f"Because of {at}.", measures=measures)
    return run


def wavering(experiment: Experiment, version: EvaluatorVersion, *scores: float) -> Run:
    """A measurement of noise: each output of an experiment judged as often as there are scores."""
    run = Run.objects.create(
        version=version,
        experiment=experiment,
        purpose=Purpose.NOISE,
        is_current=False,
        first_repeat=1,
        repeats=len(scores),
        lane="cpu",
        state=RunState.FINISHED,
        revision=1,
    )
    Evaluation.objects.bulk_create(
        Evaluation(run=run, output=output, repeat=at, state=Status.SCORED, score=score, settled_at=timezone.now())
        for output in Output.objects.filter(experiment=experiment)
        for at, score in enumerate(scores, 1)
    )
    return run


def _row(run: Run, output: Output, partner: Output, one: float | str) -> Evaluation:
    fields = {"run": run, "output": output, "baseline_output": partner}
    if isinstance(one, str):
        name, _, why = one.partition(": ")
        status = Status[name.upper()]
        settled = timezone.now() if status > Status.AWAITING else None
        return Evaluation.objects.create(**fields, state=status, why=why, settled_at=settled)
    return Evaluation.objects.create(**fields, state=Status.SCORED, score=one, settled_at=timezone.now(), latency_ms=12)
