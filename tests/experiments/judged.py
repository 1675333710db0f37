"""Judged experiments for the tests of pages: runs whose rows are written as a worker would have left them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from django.utils import timezone

from evalstudio.calls.models import REHEARSAL_URL, Connection
from evalstudio.projects.models import Project
from evaluators.core import Status
from evaluators.models import Evaluator, EvaluatorVersion
from experiments.models import (
    Case,
    CaseSpan,
    Dataset,
    DatasetVersion,
    Evaluation,
    Experiment,
    Output,
    OutputBody,
    Run,
    RunState,
    System,
)

Told = float | str | None  # a score, the name of a state, "state: why", or None for no row


def experiment_of(project: Project, n: int, system: str = "assistant 1", **more) -> Experiment:
    """An experiment with n outputs, for cases "case-000" and so on; all experiments share one data set of that size."""
    dataset, made = Dataset.objects.get_or_create(project=project, name=f"{n} questions", latest_version=1)
    version, _ = DatasetVersion.objects.get_or_create(dataset=dataset, number=1, defaults={"n_cases": n})
    if made:
        for number in range(n):
            add_case(dataset, f"case-{number:03}", number)
    experiment = Experiment.objects.create(
        project=project,
        system=System.objects.get_or_create(project=project, name=system)[0],
        dataset_version=version,
        source="file",
        **more,
    )
    for case in Case.objects.filter(dataset=dataset).order_by("pk"):
        add_output(experiment, case)
    return experiment


def add_case(dataset: Dataset, key: str, position: int, **content) -> Case:
    content = {"inputs": {"question": f"Question {key}?"}, "expected_outputs": {"value": f"Answer {key}"}} | content
    case = Case.objects.create(dataset=dataset, key=key, content_hash=key, **content)
    CaseSpan.objects.create(dataset=dataset, case=case, key=key, position=position, added_in=1)
    return case


def add_output(experiment: Experiment, case: Case, body: dict | None = None, **more) -> Output:
    output = Output.objects.create(experiment=experiment, case=case, content_hash=case.key, **more)
    OutputBody.objects.create(output=output, **(body or {"outputs": {"value": f"Answer {case.key}"}}))
    return output


def version_of(project: Project, name: str, *, threshold: float | None = 0.5, **more) -> EvaluatorVersion:
    """A heuristic that is never run: only its threshold and direction matter to a page."""
    config = {"code": name, "scoring": {"type": "percentage"}, "threshold": threshold, "direction": "higher", "seed": 0}
    evaluator = Evaluator.objects.get_or_create(project=project, name=name, kind="heuristic")[0]
    return evaluator.revise(config | more, schema=1, author=None)


def rehearsal_of(project: Project) -> Connection:
    return Connection.objects.get_or_create(
        project=project, name="Rehearsal", base_url=REHEARSAL_URL, model="rehearsal"
    )[0]


def judged(
    experiment: Experiment,
    version: EvaluatorVersion,
    told: Sequence[Told],
    *,
    state: RunState = RunState.FINISHED,
    connection: Connection | None = None,
) -> Run:
    """A run of the version with one row for each output in turn; its summary is not worked out yet."""
    config = version.config
    run = Run.objects.create(
        version=version, experiment=experiment, lane="cpu", state=state, connection=connection, revision=1
    )
    outputs = Output.objects.filter(experiment=experiment).order_by("pk")
    for output, one in zip(outputs, told, strict=False):
        if one is not None:
            _row(run, output, one, config)
    return run


def _row(run: Run, output: Output, one: float | str, config: dict) -> Evaluation:
    if isinstance(one, str):
        name, _, why = one.partition(": ")
        status = Status[name.upper()]
        settled = timezone.now() if status > Status.AWAITING else None
        return Evaluation.objects.create(run=run, output=output, state=status, why=why, settled_at=settled)
    limit, is_higher = config["threshold"], config["direction"] == "higher"
    passed = None if limit is None else one >= limit if is_higher else one <= limit
    return Evaluation.objects.create(
        run=run, output=output, state=Status.SCORED, score=one, passed=passed, settled_at=timezone.now(), latency_ms=12
    )


def shuffled(n: int, salt: str = "") -> list[float]:
    """n scores from 0 to 1 in a fixed order that looks mixed, some of them equal."""
    return [hashlib.sha256(f"{salt}{number}".encode()).digest()[0] // 16 / 15 for number in range(n)]
